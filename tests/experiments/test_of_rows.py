"""A figure of rows that were computed elsewhere: the same outcome as its own run, and gaps where rows are missing."""

from __future__ import annotations

from marginflow import experiments


def test_rows_of_a_run_show_what_the_run_showed() -> None:
    figure = experiments.figure("KYS23/Fig3")
    run = figure.run("smoke")
    again = figure.of_rows(run.rows, "smoke")
    assert again.missing == 0
    assert str(again) == str(run)
    assert [panel.description for panel in again.panels] == [panel.description for panel in run.panels]


def test_what_rows_lack_of_the_grid_is_counted_and_leaves_the_claim_open() -> None:
    figure = experiments.figure("KYS23/Fig3")
    rows = figure.run("smoke").rows
    partial = figure.of_rows(rows[1:], "smoke")
    assert partial.missing == 1
    assert partial.outcome.gaps
    assert all(f"1 of {len(rows)} runs" in panel.description for panel in partial.panels)
