from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from marginflow.certificates import certify
from marginflow.certificates.exactness import existence
from marginflow.certificates.exactness.balls import precision
from marginflow.certificates.exactness.existence import prove_kkt_point
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)

pytest.importorskip("flint", reason="exact arithmetic needs the extra 'exact' (python-flint)")


def test_closed_forms_lie_within_rounding_of_a_proved_kkt_point(known):
    for case in (known.orthogonal_pair(16, 3, 4), known.five_points(), known.specialists(50, 4, 2.0)):
        proof = prove_kkt_point(case.network, case.data)
        assert proof.proved
        assert proof.distance < 1e-13
        assert proof.contraction < 1
        assert proof.smallest_slack > 1e-4


def test_frozen_outputs_are_covered():
    # d = 1 without bias: v fixed to 2, w = 1/2 is the only KKT point of y = (+1), and 3 samples beyond the margin.
    data = Dataset(X=[[1.0], [2.0], [3.0]], y=[1, 1, 1])
    proof = prove_kkt_point(TwoLayer(W=[[0.5]], v=[2.0], outputs="frozen"), data)
    assert proof.proved
    assert proof.distance < 50 * EPS
    assert proof.unknowns == 1


def test_distance_is_that_of_a_known_perturbation(known):
    case = known.specialists(50, 4, 2.0)
    change = 1e-10
    W = case.network.W.copy()
    W[1] *= 1 + change
    proof = prove_kkt_point(replace(case.network, W=W), case.data)
    expected = change * np.linalg.norm(case.network.W[1]) / np.sqrt(case.network.norm_squared())
    assert proof.proved
    # Rescaling to margin 1 changes nothing here, because another sample has the smallest margin.
    assert proof.distance == pytest.approx(expected, rel=1e-3)


def test_split_neurons_are_merged_first(known):
    case = known.orthogonal_pair(16, 3, 4)
    assert prove_kkt_point(case.network.widened(7), case.data).proved


def test_nothing_is_proved_where_the_kkt_point_is_not_strict_or_not_isolated(known):
    on_the_bound = known.one_against_many(6, 2, balanced=True, outputs="trained")
    proof = prove_kkt_point(on_the_bound.network, on_the_bound.data)
    assert not proof.proved
    assert "Clarke weight" in proof.reason
    not_unique = known.five_points(0.6)
    proof = prove_kkt_point(not_unique.network, not_unique.data)
    assert not proof.proved
    assert "isolated" in proof.reason


def test_wrong_side_of_a_pre_activation_is_noticed(known):
    case = known.specialists(50, 4, 2.0)
    system = existence._System(certify(case.network, case.data), case.data)
    with precision(128) as flint:
        box = [flint.arb(value, 1e-20) for value in system.start.tolist()]
        slack, reason = existence._inequalities(flint, system, box)
        assert slack > 0
        assert reason == ""
        system.signs = [
            -sign for sign in system.signs
        ]  # every direction turns round, every pre-activation changes its sign
        slack, reason = existence._inequalities(flint, system, box)
        assert slack < 0
        assert "pre-activation" in reason


def test_nothing_is_proved_about_a_network_that_is_no_kkt_point(known):
    case = known.robust_network(10, 4)
    proof = prove_kkt_point(case.network, case.data)
    assert not proof.proved
    assert "does not hold" in str(proof)
    assert json.loads(json.dumps(proof.to_dict(), allow_nan=False))["proved"] is False
