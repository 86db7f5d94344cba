"""Robustness curves on one chart."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.report.robustness_chart import robustness_curve_chart
from marginflow.robustness import exact_radii
from marginflow.robustness.attacks import fgm
from marginflow.robustness.curves import curves_of, curves_of_radii, robustness_curve
from marginflow.robustness.lower_bounds import interval_bound


def drawn(chart: object) -> list[dict[str, object]]:
    (rows,) = chart.specification["datasets"].values()
    return list(rows)


def test_curve_is_drawn_as_stairs_to_the_end_of_the_axis():
    low = robustness_curve([1.0, 2.0], 4, name="exact", kind="exact")
    long = robustness_curve([4.0, np.inf], 4, name="fgm", kind="attack")
    rows = drawn(robustness_curve_chart([*low.rows(), *long.rows()]))
    exact = [(row["relative_size"], row["share"]) for row in rows if row["series"] == "exact"]
    assert exact == [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (1.0, 0.5), (1.0, 1.0), (2.0, 1.0)]
    attack = [(row["relative_size"], row["share"]) for row in rows if row["series"] == "fgm (attack, at least)"]
    assert attack == [(0.0, 0.0), (2.0, 0.0), (2.0, 0.5), (2.0, 0.5)]


def test_attack_exact_and_bound_stand_on_one_chart_in_this_order():
    network = TwoLayer.initialise(12, 5, scale=1.0, seed=0)
    X = np.random.default_rng(0).standard_normal((12, 5))
    y = np.where(network(X) > 0, 1, -1)
    curves = curves_of([fgm(network, X, y), interval_bound(network, X, y)], 5) + curves_of_radii(
        exact_radii(network, X, y=y)
    )
    chart = robustness_curve_chart([row for curve in curves for row in curve.rows()], title="Twelve points")
    assert chart.title == "Twelve points"
    names = {row["series"] for row in drawn(chart)}
    assert {name.split(" (")[-1] for name in names} == {"attack, at least)", "bound, at most)", "exact"}
    assert all(name in chart.description for name in names)
    attack, bound, exact = (curve.share_at(np.linspace(0.0, 3.0, 200)) for curve in curves)
    assert (attack <= exact).all()
    assert (exact <= bound).all()


def test_rows_of_something_else_are_bad_input():
    with pytest.raises(InputError, match="no rows"):
        robustness_curve_chart([])
    with pytest.raises(InputError, match="lacks"):
        robustness_curve_chart([{"curve": "a", "kind": "exact", "share": 0.1}])
    with pytest.raises(InputError, match="guess"):
        robustness_curve_chart([{"curve": "a", "kind": "guess", "share": 0.1, "relative_size": 1.0}])
