"""The pages that commands write, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from marginflow.cli import demo as demo_command
from marginflow.cli import demo_edge, main

if TYPE_CHECKING:
    from .conftest import Browser

SIZES = [(390, True), (390, False), (1400, True), (1400, False)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A smaller demo than the real one, a report, and the page of verdicts."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_command, "N_CLUSTERS", 2)
        patch.setattr(demo_command, "N_SAMPLES", 20)
        patch.setattr(demo_command, "WIDTH", 30)
        patch.setattr(demo_command, "STOP_LOSS", 1e-6)
        patch.setattr(demo_command, "N_FRESH", 200)
        patch.setattr(demo_edge, "CLUSTERS", (4, 9))
        assert main(["demo", "--out", str(folder / "demo")]) == 0
    data, network = folder / "demo" / "data.npz", folder / "demo" / "KKT-point.safetensors"
    assert main(["report", str(network), str(data), "--out", str(folder / "report.html")]) == 0
    assert main(f"check --all --paper VYS22 --data {data} --network {network} --out {folder}/check.html".split()) == 0
    return {
        "demo": folder / "demo" / "index.html",
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
        assert browser.value("document.querySelectorAll('.verdict').length") == 1
        assert browser.complaints() == []
        assert browser.requests() == [page.resolve().as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width
        browser.screenshot(artefact(f"{name}-{width}-{'dark' if dark else 'light'}"))
