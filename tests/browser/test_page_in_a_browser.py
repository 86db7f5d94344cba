"""Pages in a real browser: drawn, silent, alone, and readable in light and dark on a telephone and on a desk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from marginflow.report import Chart, Formula, Page, Section, Table, dots, histogram, lines, points, write

if TYPE_CHECKING:
    from .conftest import Browser

TITLES = {"t": "Step", "value": "Value", "name": "Network"}
SIZES = [(390, False), (390, True), (1400, False), (1400, True)]


def charts() -> tuple[Chart, ...]:
    rows: list[dict[str, object]] = [
        {"t": t, "value": 2.0 ** -(t + k), "name": f"a network called {k}"} for k in range(3) for t in range(30)
    ]
    words = {"titles": TITLES, "description": "A description that says what there is to see."}
    return (
        lines(rows, x="t", y="value", series="name", title="Curves", y_scale="log", **words),
        points(rows, x="t", y="value", series="name", title="Points", **words),
        histogram(rows, value="value", series="name", title="Bars", **words),
        dots(rows[::10], value="value", category="t", series="name", title="Dots", scale="log", **words),
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wide = Table(
        columns=tuple(f"A long heading {i}" for i in range(12)),
        rows=(tuple(i / 7 for i in range(12)),),
        caption="A table that is wider than a telephone",
    )
    formula = Formula(latex=r"\min \tfrac12 \|\theta\|^2 \quad y_i N(x_i; \theta) \ge 1", meaning="max margin")
    made = Page(
        title="A page of everything",
        verdict="It holds.",
        tone="holds",
        sections=(
            Section(heading="Charts", paragraphs=("Four of them.",), content=charts()),
            Section(heading="A wide table", content=(wide, formula)),
            Section(heading="More", paragraphs=("Text.",)),
            Section(heading="The end", paragraphs=("Text.",)),
        ),
        parameters={"seed": 0, "a/very/long/file/name/that/does/not/end/soon/and/has/no/place/to/break": 1},
        versions={"numpy": "2"},
        command="marginflow demo --a-long-option " + "x" * 200,
        references=("A. Author. A title. 2022.",),
    )
    return write(made, tmp_path_factory.mktemp("page") / "page.html")


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_page_is_drawn_without_complaint_or_request(
    browser: Browser, page: Path, artefact: Callable[[str], Path], width: int, dark: bool
) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.value("document.querySelectorAll('.chart svg').length") == 4
    for mark in ("mark-line", "mark-symbol", "mark-rect", "mark-text"):
        assert browser.value(f"document.querySelectorAll('.chart .{mark} path, .chart .{mark} text').length") > 0, mark
    assert browser.value("document.querySelectorAll('math').length") == 1
    assert browser.complaints() == []
    assert browser.requests() == [page.resolve().as_uri()]
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.screenshot(artefact(f"page-{width}-{'dark' if dark else 'light'}")).stat().st_size > 10_000


def test_dark_mode_darkens_the_page_and_lightens_the_curves(browser: Browser, page: Path) -> None:
    seen = {}
    for dark in (False, True):
        browser.open(page, width=1400, dark=dark)
        ground = browser.value("getComputedStyle(document.body).backgroundColor")
        ink = browser.value("getComputedStyle(document.querySelector('.chart .mark-line path')).stroke")
        seen[dark] = (_lightness(ground), _lightness(ink))
    assert seen[False][0] > 200 > seen[False][1]
    assert seen[True][0] < 60 < seen[True][1]


def _lightness(colour: str) -> float:
    return sum(float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) / 3


def test_pointer_brings_a_hint_and_the_legend_filters(browser: Browser, page: Path) -> None:
    browser.open(page, width=1400, dark=False)
    corner = browser.value(
        "(() => { const svg = document.querySelector('#chart-1 svg'); svg.scrollIntoView();"
        "const box = svg.querySelector('.mark-line path').getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    for step in (0, 3):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=corner[0] + step, y=corner[1])
    browser.value("new Promise(done => setTimeout(done, 150))")
    hint = browser.value("document.querySelector('#vg-tooltip-element').innerText")
    assert "Step" in hint
    assert "Network" in hint
    faint = (
        "[...document.querySelectorAll('#chart-1 .mark-line path')].filter(p => p.getAttribute('opacity') < 0.5).length"
    )
    assert browser.value(faint) == 0
    name = browser.value(
        "(() => { const box = [...document.querySelectorAll('#chart-1 .role-legend-label text')][0]"
        ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=name[0], y=name[1], button="left", clickCount=1)
    browser.value("new Promise(done => setTimeout(done, 150))")
    assert browser.value(faint) == 2
    assert browser.complaints() == []


def test_keyboard_reaches_the_content_the_tables_and_the_numbers(browser: Browser, page: Path) -> None:
    browser.open(page, width=390, dark=False)
    reached = []
    for _ in range(40):
        press(browser, "Tab")
        reached.append(
            browser.value("document.activeElement.tagName + '.' + (document.activeElement.getAttribute('class') ?? '')")
        )
    assert reached[0] == "A.skip"
    assert "SUMMARY." in reached
    assert "DIV.scroll" in reached


def press(browser: Browser, key: str, modifiers: int = 0) -> None:
    code, text = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, "")}.get(key, (0, ""))
    code = code or {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
    name = "Space" if key == " " else key
    pressed = {"key": key, "code": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
    browser.call("Input.dispatchKeyEvent", type="keyDown", **pressed, **({"text": text} if text else {}))
    browser.call("Input.dispatchKeyEvent", type="keyUp", **pressed)
    browser.value(f"new Promise(done => setTimeout(done, {0 if key == 'Tab' else 120}))")


def test_keyboard_filters_by_the_legend_and_brings_all_back(browser: Browser, page: Path) -> None:
    browser.open(page, width=1400, dark=False)
    curves = "[...document.querySelectorAll('#chart-1 .mark-line path')]"
    strong = f"{curves}.filter(p => !(p.getAttribute('opacity') < 0.5)).length"
    reached = []
    while "a network called 1: leave only this series" not in reached:
        press(browser, "Tab")
        reached.append(browser.value("document.activeElement.getAttribute('aria-label')"))
        assert len(reached) < 20, reached
    assert browser.value(strong) == 3
    press(browser, "Enter")
    assert browser.value(strong) == 1
    press(browser, "Tab")
    press(browser, " ", modifiers=8)  # with Shift: this one too
    assert browser.value(strong) == 2
    press(browser, "Escape")
    assert browser.value(strong) == 3
    assert browser.complaints() == []


@pytest.mark.parametrize("chart", ["chart-2", "chart-3"])
def test_keyboard_moves_the_brush(browser: Browser, page: Path, chart: str) -> None:
    browser.open(page, width=1400, dark=False)
    words = f"[...document.querySelectorAll('#{chart} .mark-text.role-mark text')].map(t => t.textContent).join(' ')"
    brush = (
        f"(() => {{ const box = document.querySelector('#{chart} .brush_brush path').getBoundingClientRect();"
        "return [box.left, box.width]; })()"
    )
    browser.value(f"document.getElementById('{chart}').focus()")
    press(browser, "ArrowRight")
    left, width = browser.value(brush)
    assert width > 50
    press(browser, "ArrowRight")
    assert browser.value(brush)[0] > left + 10
    press(browser, "ArrowUp")
    assert browser.value(brush)[1] > width + 10
    for _ in range(12):
        press(browser, "ArrowLeft")
    assert 0 < int(browser.value(words).split()[0]) < 90
    press(browser, "Escape")
    assert browser.value(words).startswith("90 values")
    assert browser.complaints() == []


def test_keyboard_moves_and_zooms_the_axis_of_curves(browser: Browser, page: Path) -> None:
    browser.open(page, width=1400, dark=False)
    labels = "[...document.querySelectorAll('#chart-1 .role-axis-label')[0].children]"
    ticks = f"{labels}.map(t => t.textContent).sort().join(' ')"
    before = browser.value(ticks)
    browser.value("document.getElementById('chart-1').focus()")
    for _ in range(3):
        press(browser, "ArrowUp")
    assert browser.value(ticks) != before
    press(browser, "Escape")
    assert browser.value(ticks) == before
    assert browser.complaints() == []


@pytest.mark.parametrize("chart", ["chart-2", "chart-3"])
def test_brush_counts_what_is_under_it(browser: Browser, page: Path, chart: str) -> None:
    browser.open(page, width=1400, dark=False)
    words = f"[...document.querySelectorAll('#{chart} .mark-text.role-mark text')].map(t => t.textContent).join(' ')"
    assert browser.value(words).startswith("90 values")
    box = browser.value(
        f"(() => {{ const frame = document.querySelector('#{chart} .background'); frame.scrollIntoView();"
        "const box = frame.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
    )
    start, end, y = box[0] + 0.5 * box[2], box[0] + 0.98 * box[2], box[1] + 0.1 * box[3]
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=start, y=y)
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=start, y=y, **mouse)
    for step in range(1, 11):
        x = start + step / 10 * (end - start)
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y + 0.08 * step * box[3], **mouse)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=end, y=y + 0.8 * box[3], **mouse)
    browser.value("new Promise(done => setTimeout(done, 200))")
    assert 0 <= int((browser.value(words) or "0").split()[0]) < 90
    assert browser.complaints() == []
