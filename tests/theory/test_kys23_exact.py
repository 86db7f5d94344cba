"""The counterexamples to [KYS23, Prop. A.4] in ball arithmetic: KKT points to 70 digits, strictly violating."""

from __future__ import annotations

import pytest

pytest.importorskip("flint", reason="ball arithmetic needs python-flint")

from marginflow.certificates import certify, certify_exact
from marginflow.theory.instance import Instance
from marginflow.theory.kys23.line_points import five_point_minimum, linearity_counterexample


def assert_proved(instance: Instance) -> None:
    data = instance.the_data()
    certificate = certify(instance.the_network(), data, multipliers=instance.multipliers)
    exact = certify_exact(certificate, data)
    assert exact.holds(1e-9), str(exact)
    assert exact.least_margin > 0


@pytest.mark.parametrize("instance", [five_point_minimum(), five_point_minimum(7), linearity_counterexample()], ids=str)
def test_kept_counterexamples_are_kkt_points_at_exactly_their_floats(instance: Instance) -> None:
    assert_proved(instance)
