"""The pages that commands write, in a real browser."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from marginflow.cli import main
from marginflow.demo import digits

if TYPE_CHECKING:
    from .conftest import Browser

SIZES = [(390, True), (390, False), (1400, True), (1400, False)]
N_DIGITS = 40


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, small_demo: Any) -> dict[str, Path]:
    """A smaller demo than the real one, a report, and the page of verdicts."""
    folder, demo = tmp_path_factory.mktemp("pages"), small_demo.folder
    data, network = demo / "moons.npz", demo / "moons-kkt.safetensors"
    assert main(["report", str(network), str(data), "--out", str(folder / "report.html")]) == 0
    assert main(f"check --all --paper VYS22 --data {data} --network {network} --out {folder}/check.html".split()) == 0
    return {
        "demo": demo / "index.html",
        "report": folder / "report.html",
        "check": folder / "check.html",
    }


@pytest.mark.parametrize("name", ["demo", "report", "check"])
def test_page_is_drawn_without_complaint_or_request_at_every_size(
    browser: Browser, pages: dict[str, Path], artefact: Callable[[str], Path], name: str
) -> None:
    page = pages[name]
    wanted = page.read_text(encoding="utf-8").count('class="chart"')
    for width, dark in SIZES:
        browser.open(page, width=width, dark=dark)
        assert browser.value("document.querySelectorAll('.chart svg').length") == wanted
        assert browser.value("document.querySelectorAll('.verdict').length") == (0 if name == "demo" else 1)
        assert browser.complaints() == []
        assert browser.requests() == [page.resolve().as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width
        if os.environ.get("MARGINFLOW_SCREENSHOTS"):  # for people who want to look; they take as long as all the rest
            browser.screenshot(artefact(f"{name}-{width}-{'dark' if dark else 'light'}"))


def test_the_scrubber_moves_from_the_start_to_the_kkt_point(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["demo"], width=1400, dark=False)
    picture = "document.getElementById('plane').toDataURL()"
    residual = "document.getElementById('s-residual').textContent"
    end, at_the_end = browser.value(picture), browser.value(residual)
    move = (
        "(() => {{const s = document.getElementById('frame'); s.value = {}; s.dispatchEvent(new Event('input'));}})()"
    )
    browser.value(move.format(0))
    assert browser.value(residual) == "–"  # a random start separates nothing
    assert browser.value(picture) != end
    browser.value("document.querySelectorAll('#thumbs button')[3].click()")
    assert (browser.value(picture), browser.value(residual)) == (end, at_the_end)
    assert "10" in at_the_end
    assert browser.complaints() == []


def test_keys_move_the_scrubber_and_press_its_pictures(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["demo"], width=1400, dark=False)
    residual = "document.getElementById('s-residual').textContent"
    at_the_end = browser.value(residual)
    focus = "document.activeElement.id || document.activeElement.textContent"

    def after(key: str, code: int, text: str = "") -> tuple[str, str]:
        common: dict[str, object] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        spoken = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        browser.call("Input.dispatchKeyEvent", **spoken, **common)
        browser.call("Input.dispatchKeyEvent", type="keyUp", **common)
        return browser.value(focus), browser.value(residual)

    assert [after("Tab", 9)[0] for _ in range(3)] == ["theme", "play", "frame"]
    assert after("Home", 36) == ("frame", "–")
    assert after("End", 35) == ("frame", at_the_end)
    name, trained = after("ArrowLeft", 37)
    assert name == "frame"
    assert 0.001 < float(trained) < 1  # the last moment of training is no KKT point
    assert [after("Tab", 9)[0] for _ in range(4)][-1] == "the KKT point"
    assert after("Enter", 13, "\r") == ("the KKT point", at_the_end)
    assert browser.complaints() == []


def test_the_vector_of_length_zero_flips_nothing_and_the_whole_one_everything(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["demo"], width=390, dark=False)
    count = "document.getElementById('count-threes').textContent"
    threes = int((digits.handwritten().y[:N_DIGITS] == -1).sum())
    assert 0 < threes < N_DIGITS
    assert browser.value(count) == f"{threes} of {threes} threes read as 8"
    browser.value(
        "new Promise(done => {const s = document.getElementById('length'); s.value = 0;"
        "s.dispatchEvent(new Event('input')); requestAnimationFrame(() => requestAnimationFrame(done));})"
    )
    assert browser.value(count) == f"0 of {threes} threes read as 8"


def test_the_theme_can_be_switched_by_hand(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["demo"], width=1400, dark=False)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.value(ground)
    browser.value("document.getElementById('theme').click()")
    assert browser.value(ground) != light
    assert browser.complaints() == []


SAME = {
    "the length that flips all": (r"Its length is ([\d.]+)", r"length ([\d.]+) flips all", r"the largest ([\d.]+)\."),
    "the smallest distance": (r"the smallest is ([\d.]+)", r"all exactly ([\d.]+) away"),
    "the residual of training": (r"training ends at ([\d.]+)\n", r"instead of ([\d.]+)\."),
    "the residual with kinks forgiven": (r"near kinks forgiven: ([\d.]+)", r"training ends at ([\d.]+) instead"),
    "samples on the margin": (r"(\d+) of 60", r"neurons and (\d+) samples"),
    "what a random image flips": (
        r"A random image of this length flips (\d+)",
        r"a random direction of this length flips (\d+)",
    ),
}


def test_the_same_number_is_the_same_wherever_the_demo_says_it(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["demo"], width=1400, dark=False)
    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    words = browser.value(
        "document.body.innerText + '\\n' + "
        "[...document.querySelectorAll('svg text')].map(text => text.textContent).join('\\n') + '\\n'"
    )
    for quantity, patterns in SAME.items():
        found = [set(re.findall(pattern, words)) for pattern in patterns]
        assert all(found), (quantity, found)
        assert len(set.union(*found)) == 1, (quantity, found)
    assert re.findall(r"\d(?:\.\d+)?e[-+]?\d", words) == []  # no raw exponents
    assert "slack" not in words
