"""The page is one valid document that asks nothing of any other machine."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from marginflow import InputError
from marginflow.report import Page, Section, Table, dots, histogram, lines, render, write
from marginflow.report.content import Verbatim

VOID = {"meta", "br", "hr", "img", "input", "link"}
LOADING_ATTRIBUTES = {"src", "href", "srcset", "data", "action", "poster", "background", "formaction"}


class Document(HTMLParser):
    """Every element closed in order, every id once, every attribute that could load something, scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        if tag == "script":
            self.scripts.append((attributes, ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif self.open and self.open[-1] != "style":
            self.words.append(data)


TITLES = {"step": "Step", "loss": "Loss", "network": "Network"}


def curves(rows: list[dict[str, object]]) -> object:
    return lines(rows, x="step", y="loss", series="network", titles=TITLES, title="Loss", description="It falls.")


def full_page() -> Page:
    rows: list[dict[str, object]] = [{"step": i, "loss": 2.0**-i, "network": "</script><b>"} for i in range(5)]
    rows.append({"step": 5, "loss": float("nan"), "network": "other"})
    spread = histogram(
        rows, value="loss", series="network", titles=TITLES, title="Spread", description="How the losses lie."
    )
    points = dots(
        [{"residual": r, "condition": c, "network": "a"} for r, c in ((0.0, "one"), (1e-9, "two"))],
        value="residual",
        category="condition",
        series="network",
        titles={"residual": "Residual", "condition": "Condition", "network": "Network"},
        title="Residuals",
        description="Two conditions.",
        scale="log",
    )
    table = Table(columns=("What", "Value"), rows=(("a <b> & c", 0.5), ("d", None)), caption="A table")
    return Page(
        title="A page & its <title>",
        verdict="It holds.",
        tone="holds",
        sections=(
            Section(heading="First", paragraphs=("x < y",), content=(table, curves(rows))),
            Section(heading="Second", content=(spread, points)),
        ),
        parameters={"seed": 0, "scale": 0.01},
        versions={"numpy": "2"},
        command="marginflow demo --seed 0",
    )


@pytest.fixture(scope="module")
def document() -> Document:
    return Document(render(full_page()))


def test_every_element_is_closed_in_order_and_ids_are_unique(document: Document) -> None:
    assert document.faults == []
    assert len(document.ids) == len(set(document.ids))
    tags = [tag for tag, _ in document.elements]
    assert tags[:2] == ["html", "head"]
    assert tags.count("title") == tags.count("main") == tags.count("h1") == 1


def test_no_element_loads_anything(document: Document) -> None:
    loading = [
        (tag, name, value)
        for tag, attributes in document.elements
        for name, value in attributes.items()
        if name in LOADING_ATTRIBUTES and not str(value).startswith("#")  # a place on the same page
    ]
    assert loading == []
    assert not {"link", "iframe", "object", "embed", "img", "base"} & {tag for tag, _ in document.elements}


def test_style_sheet_and_charts_refer_to_no_address() -> None:
    text = render(full_page())
    style = text[text.index("<style>") : text.index("</style>")]
    assert re.findall(r"url\((?!data:font/woff2;base64,)", style) == []
    assert "@import" not in style
    for attributes, content in Document(text).scripts:
        if attributes.get("type") == "application/json":
            specification = json.loads(content)
            schema = specification.pop("$schema")
            assert schema.startswith("https://vega.github.io/schema/")  # a name, which nobody fetches
            assert not re.search(r"https?://", json.dumps(specification))
            assert "url" not in specification["data"]


def test_content_security_policy_forbids_every_connection(document: Document) -> None:
    policies = [a["content"] for tag, a in document.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert str(policies[0]).startswith("default-src 'none';")
    assert not re.search(r"connect-src|https?:|\*", str(policies[0]))


def test_verdict_stands_before_every_section() -> None:
    text = render(full_page())
    assert text.index("It holds.") < text.index("<h2>")


def test_user_text_is_escaped(document: Document) -> None:
    words = "".join(document.words)
    assert "a <b> & c" in words
    assert "x < y" in words
    assert "b" not in [tag for tag, _ in document.elements]


def test_every_chart_has_a_text_alternative_and_its_numbers(document: Document) -> None:
    charts = [attributes for tag, attributes in document.elements if attributes.get("class") == "chart"]
    assert len(charts) == 3
    assert all(chart["role"] == "group" and len(str(chart["aria-label"])) > 10 for chart in charts)
    assert [tag for tag, _ in document.elements].count("details") == 3
    named = {attributes.get("id") for attributes, _ in document.scripts}
    assert {f"{chart['id']}-specification" for chart in charts} <= named


def test_page_without_records_says_so_and_carries_no_script() -> None:
    page = Page(
        title="Empty",
        verdict="Nothing ran.",
        tone="open",
        sections=(Section(heading="Loss", content=(curves([]),)),),
    )
    document = Document(render(page))
    assert document.faults == []
    assert document.scripts == []
    assert "nothing to draw" in "".join(document.words)


def test_file_is_written_whole(tmp_path) -> None:
    target = write(full_page(), tmp_path / "page.html")
    assert target.read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_missing_folder_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        write(full_page(), tmp_path / "nowhere" / "page.html")


def test_pictures_take_the_place_of_scripts_where_nothing_need_answer() -> None:
    page = full_page()
    still, moving = render(page, interactive=False), render(page)
    assert "<script" not in still
    assert still.count('<div class="wide"><svg') == len(page.charts) > 0
    assert len(still) < len(moving) / 3


def test_the_text_of_a_program_is_shown_letter_by_letter() -> None:
    table = Table(
        columns=("Traceback", "Note"),
        rows=((Verbatim("if a_1 == 3 and b <= 2:\n    raise"), "a_1 <= 2 here"),),
        caption="What failed",
    )
    page = Page(title="t", verdict="v", tone="open", sections=(Section(heading="h", content=(table,)),))
    text = render(page, interactive=False)
    assert "<pre>if a_1 == 3 and b &lt;= 2:\n    raise</pre>" in text
    assert "a₁ ≤ 2 here" in text
