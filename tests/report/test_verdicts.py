"""The page of verdicts is one valid document without scripts: a row and a formula for every statement."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from marginflow import theory
from marginflow.report.verdicts import TONES, count_outcomes, mathml, render_verdicts
from marginflow.storage import write_text
from marginflow.theory.verdict import OUTCOMES

VOID = {"meta", "br", "hr", "img", "input", "link"}
SOME = ("VYS22/LemC.5", "VYS22/Lem3.1a", "VYS22/A.sphere", "VYS22/OQ9")


class Document(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)


@pytest.fixture(scope="module")
def rows() -> tuple[theory.Covered, ...]:
    return tuple(theory.covered(id) for id in SOME)


@pytest.fixture(scope="module")
def page(rows: tuple[theory.Covered, ...]) -> str:
    return render_verdicts(
        [row.record() for row in rows],
        verdict="All <b> hold.",
        holds=True,
        command="marginflow check --all",
        versions={"a": "1"},
    )


def test_document_is_well_formed_and_loads_nothing(page: str) -> None:
    document = Document(page)
    assert document.faults == []
    tags = [tag for tag, _ in document.elements]
    assert not {"script", "link", "img", "iframe", "object"} & set(tags)
    assert tags.count("h1") == 1
    ids = [attributes["id"] for _, attributes in document.elements if attributes.get("id")]
    assert ids == list(SOME)
    assert re.findall(r"url\((?!data:font/woff2;base64,)", page) == []


def test_every_statement_has_a_row_a_formula_and_its_outcome(page: str) -> None:
    document = Document(page)
    words = "".join(document.words)
    assert sum(tag == "math" for tag, _ in document.elements) >= len(SOME)
    for id in SOME:
        assert id in words
    assert "All <b> hold." in words, "text is escaped"
    for outcome in ("holds", "measured"):
        assert re.search(rf'class="outcome {TONES[outcome]}">{outcome}<', page)
    for outcome in ("not applicable", "violated"):  # on controls, which is what they announced
        assert f'class="outcome none">{outcome}<' in page


def test_a_control_that_misbehaves_is_marked(rows: tuple[theory.Covered, ...]) -> None:
    wrong = replace(rows[0], control=rows[0].example)
    page = render_verdicts([wrong.record()], verdict="Wrong.", holds=False, command="", versions={})
    assert 'class="outcome violated">holds<' in page
    assert 'class="verdict violated"' in page


def test_the_bar_ends_at_the_observed_number_on_the_scale_of_the_bound(page: str) -> None:
    widths = [float(width) for width in re.findall(r"width: ([\d.]+)%", page)]
    assert widths
    assert all(0 < width <= 100 for width in widths)
    tightest = theory.covered("VYS22/LemC.5").example.tightest
    assert tightest is not None
    assert tightest.used is not None
    least = 0.04  # a bar of nothing would not be seen
    assert any(width == pytest.approx(50 * max(least, tightest.used), abs=0.06) for width in widths)


def test_every_outcome_has_a_tone() -> None:
    assert set(TONES) == set(OUTCOMES)


def test_summary_counts_the_catalogue_honestly(rows: tuple[theory.Covered, ...]) -> None:
    counted = dict(count_outcomes([row.record() for row in rows]).rows)["VYS22"]
    columns = count_outcomes([row.record() for row in rows]).columns
    assert dict(zip(columns, counted, strict=True)) == {
        "in the catalogue": 4,
        "implemented": 4,
        "holds": 3,
        "violated": 0,
        "not applicable": 0,
        "vacuous": 0,
        "undecided": 0,
        "constants unspecified": 0,
        "proof step fails": 0,
        "refuted": 0,
        "measured": 1,
        "sound": 4,
    }


def test_what_the_catalogue_does_not_list_is_counted_as_added(rows: tuple[theory.Covered, ...]) -> None:
    records = [row.record() for row in rows]
    more = {**records[0], "id": "VYS22/LemC.4.again", "added": True}
    counts = count_outcomes([*records, more])
    assert counts.columns[:3] == ("in the catalogue", "added", "implemented")
    assert dict(counts.rows)["VYS22"][:3] == (4, 1, 5)


def test_formulas_with_comparisons_are_escaped() -> None:
    assert "&#x0003C;" in mathml("a < b")


def test_file_is_written_whole(page: str, tmp_path: Path) -> None:
    target = write_text(tmp_path / "page.html", page)
    assert target.read_text(encoding="utf-8").rstrip().endswith("</html>")
