"""[KYS23, Proposition 4.6] The catastrophic point in ball arithmetic: proved with frozen outputs, refuted otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("flint", reason="the exact certificate needs python-flint (extra 'exact')")

from marginflow.certificates import certify, certify_balls, certify_exact
from marginflow.certificates.exactness.exact import BallPoint
from marginflow.limit import ClosedForm, catastrophic
from marginflow.theory.kys23.sphere_points import frozen_point, pair_point
from marginflow.theory.kys23.thm_4_1.lem_b3 import orthonormal


def proved(point: ClosedForm, tolerance: float) -> str:
    balls = BallPoint.from_floats(point.network, point.data)
    return certify_balls(balls, point.multipliers.tolist(), point.clarke.tolist()).outcome(tolerance)


def test_printed_point_is_exact_with_frozen_outputs_and_refuted_with_trained_ones() -> None:
    printed = catastrophic(orthonormal(10, 2), outputs="frozen")
    assert proved(printed, 0.0) == "proved"
    trained = replace(printed, network=replace(printed.network, outputs="trained"))
    assert proved(trained, 0.1) == "refuted"


def test_balanced_point_is_exact_where_its_roots_are_fractions() -> None:
    assert proved(catastrophic(orthonormal(18, 2)), 0.0) == "proved"
    assert proved(catastrophic(orthonormal(10, 2)), 1e-14) == "proved"


def test_points_that_the_theorems_are_shown_on_are_certified_in_balls() -> None:
    for instance in (pair_point(20, 2, 10**12), frozen_point(20, 2, 2, 10**12)):
        exact = certify_exact(instance.certificate, instance.the_data())
        assert exact.outcome(1e-12) == "proved"
        assert exact.least_margin > 1 - 1e-12


def test_unbalanced_neurons_have_no_multipliers_at_all() -> None:
    """Not only those of the paper: the best multipliers leave a residual, because |v| differs from ||w||."""
    printed = catastrophic(orthonormal(10, 2), outputs="frozen")
    trained = replace(printed.network, outputs="trained")
    certificate = certify(trained, printed.data)
    assert certificate.stationarity > 0.1
    assert certificate.balance is not None
    assert np.isclose(certificate.balance, (np.sqrt(8) - 1) / np.sqrt(8))
