"""The page of a sweep that runs."""

from __future__ import annotations

from pathlib import Path

from marginflow.report.live import live_text, sight_page
from marginflow.report.results.plain import natural_axes
from marginflow.sweeps import Store, Sweep, look, run


def test_cells_are_told_by_what_varies_and_the_picture_shows_a_measurement(tmp_path: Path) -> None:
    sweep = Sweep(task="flip", grid={"n_samples": [4, 6]}, fixed={"dimension": 8, "width": 6}, seeds=2, name="flips")
    store = Store(tmp_path / "flips.sqlite")
    run(sweep, store=store)
    text = live_text(sight_page(look([store], sweep), command="c"), finished=True)
    assert "n_samples 4, seed 0" in text
    assert "n_clusters" not in text  # it has one value
    assert "norm against n_samples" in text  # and not the residual of an exact point
    assert text.count('<div class="narrow"><svg') == text.count('<div class="wide"><svg') == 1
    assert "<script" not in text


def test_residuals_that_are_rounding_are_drawn_only_where_there_is_nothing_else() -> None:
    rows = [{"n": n, "seed": 0, "residual": 1e-15, "norm": float(n)} for n in (1, 2)]
    assert natural_axes(rows) == ("n", "norm", None)
    assert natural_axes([{key: row[key] for key in ("n", "seed", "residual")} for row in rows])[1] == "residual"
