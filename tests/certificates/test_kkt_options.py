"""Certificates of candidates and soft margins, their plain values, and input that is refused."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from marginflow.certificates import certify, kkt, minimality
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.line import max_margin
from marginflow.networks import MLP, TwoLayer

EXACT = 1e-13


def test_true_candidate_is_accepted_and_a_false_one_is_never_trusted(known):
    case = known.orthogonal_pair(30, 5, 6)
    mu = case.lam[:, None] * case.clarke
    accepted = certify(case.network, case.data, multipliers=(case.lam, mu))
    assert accepted.status == "candidate accepted"
    assert accepted.holds(EXACT)
    wrong = case.lam.copy()
    wrong[3] *= 1 + 1e-5
    corrected = certify(case.network, case.data, multipliers=(wrong, mu))
    assert corrected.status == "solved"
    assert corrected.holds(EXACT)
    np.testing.assert_allclose(corrected.multipliers, case.lam, rtol=1e-10)
    far = known.robust_network(40, 12)
    boast = certify(far.network, far.data, multipliers=(np.full(12, 1e3), np.full((12, 12), 1e3)))
    assert boast.total == pytest.approx(certify(far.network, far.data).total, rel=1e-9)
    negative = certify(case.network, case.data, multipliers=(-case.lam, -mu))
    assert (negative.multipliers >= 0).all()
    assert negative.holds(1e-12)


@pytest.mark.parametrize("penalty", [None, 100.0])
def test_samples_without_a_multiplier_do_not_change_what_is_said_of_a_candidate(known, monkeypatch, penalty):
    case = known.orthogonal_pair(30, 5, 6)
    beyond = Dataset(X=np.vstack([case.data.X, 3.0 * case.data.X, 5.0 * case.data.X]), y=np.tile(case.data.y, 3))
    lam = np.append(case.lam, np.zeros(22))
    mu = np.vstack([case.lam[:, None] * case.clarke, np.zeros((22, case.network.width))])
    judge = partial(certify, case.network, beyond, penalty=penalty, hard_patterns=False)
    few = judge(multipliers=(lam, mu))
    with monkeypatch.context() as all_samples:
        all_samples.setattr(kkt, "_explained", lambda *_, **__: None)
        every = judge(multipliers=(lam, mu))
    with monkeypatch.context() as nothing_else:
        nothing_else.setattr(kkt, "best_multipliers", None)
        assert judge(multipliers=(lam, mu)).to_dict() == few.to_dict()
    assert few.status == "candidate accepted"
    assert few.holds(EXACT)
    assert few.to_dict() == every.to_dict()
    for spoilt in (lam * (1 + 1e-5 * (np.arange(33) == 3)), np.where(np.arange(33) == 20, 1e-5, lam)):
        corrected = judge(multipliers=(spoilt, mu))
        assert corrected.status == "solved"
        assert corrected.holds(EXACT)


def test_candidate_as_good_as_rounding_lets_any_be_is_accepted():
    # Opposite labels 1e-5 apart on the line: multipliers sum to 2e5, and the sums over them are rounded to 5e-11.
    data = Dataset(X=[[0.0], [1e-5], [1.0]], y=[-1.0, 1.0, -1.0])
    best = max_margin(data)
    exact = certify(best.network, data)
    assert exact.holds()
    lam = exact.multipliers
    assert lam.sum() > 1e5
    mu = lam[:, None] * exact.clarke
    for factor, status in ((1.0 + 1e-16 * lam.sum(), "candidate accepted"), (1.0 + 1e-8, "solved")):
        judged = certify(best.network, data, multipliers=(lam * factor, mu * factor))
        assert judged.status == status
        assert judged.holds()


def test_soft_margin_needs_the_cap_on_samples_inside_the_margin():
    # One sample, one neuron, no bias: min (w^2 + v^2)/2 + C (1 - v w)_+ has only the zero solution for C < 1.
    data = Dataset(X=[[1.0]], y=[1])
    network = TwoLayer(W=[[0.6]], v=[0.6])
    at_one = certify(network, data, penalty=1.0)  # C = 1: every balanced v w <= 1 is stationary with lambda = C
    assert at_one.holds(EXACT)
    assert at_one.multipliers[0] == pytest.approx(1.0)
    assert at_one.margins[0] == pytest.approx(0.36)
    refused = certify(network, data, penalty=2.0)
    assert not refused.holds(0.1)
    assert refused.total_lower_bound > 0.1
    on_margin = certify(TwoLayer(W=[[1.0]], v=[1.0]), data, penalty=2.0)
    assert on_margin.holds(EXACT)
    assert on_margin.multipliers[0] == pytest.approx(1.0)


def test_hard_margin_kkt_point_is_a_soft_one_when_the_penalty_exceeds_every_multiplier(known):
    case = known.five_points()
    assert certify(case.network, case.data, penalty=60.0).holds(1e-12)
    small = certify(case.network, case.data, penalty=50.0)
    assert not small.holds(1e-3)
    assert small.multipliers.max() <= 50.0
    assert small.total_lower_bound == pytest.approx(small.total, rel=1e-6)


def test_certificate_serialises_to_plain_values_and_prints(known):
    case = known.orthogonal_pair(12, 4, 5)
    certificate = certify(case.network, case.data)
    plain = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert plain["holds"] is True
    assert plain["on_margin"] == 9
    assert plain["kinks"]["count"] == 9
    assert len(plain["clarke_on_kinks"]) == 9
    assert "multipliers" not in certificate.to_dict(arrays=False)
    assert "holds at 1e-08" in str(certificate)
    assert "does not hold" in str(certify(known.robust_network(20, 5).network, known.robust_network(20, 5).data))


def test_bad_input_is_refused_in_one_sentence(known):
    case = known.orthogonal_pair(12, 4, 5)
    with pytest.raises(InputError, match="dimension 12"):
        certify(case.network, Dataset(X=np.eye(3), y=[1, -1, 1]))
    with pytest.raises(InputError, match="kink_tolerance"):
        certify(case.network, case.data, kink_tolerance=-1.0)
    with pytest.raises(InputError, match="penalty"):
        certify(case.network, case.data, penalty=0.0)
    with pytest.raises(InputError, match=r"multipliers\[1\]"):
        certify(case.network, case.data, multipliers=(case.lam, np.ones((9, 3))))
    with pytest.raises(InputError, match="a TwoLayer or a Classifier is expected"):
        certify(MLP.from_two_layer(case.network), case.data)
    with pytest.raises(InputError, match="zero"):
        certify(TwoLayer(W=np.zeros((2, 12)), v=np.zeros(2)), case.data)


def test_a_certificate_has_no_truth_value():
    certificate = certify(TwoLayer(W=np.eye(2), v=[1.0, -1.0]), Dataset(X=np.eye(2), y=[1, -1]))
    with pytest.raises(InputError, match=r"ask \.holds"):
        bool(certificate)
    with pytest.raises(InputError, match=r"ask \.verdict"):
        bool(minimality(certificate.network, Dataset(X=np.eye(2), y=[1, -1])))
