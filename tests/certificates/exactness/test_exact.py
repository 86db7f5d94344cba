from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from marginflow.certificates import certify
from marginflow.certificates.exactness.exact import BallPoint, certify_balls, certify_exact
from marginflow.errors import InputError

EPS = float(np.finfo(np.float64).eps)

flint = pytest.importorskip("flint", reason="exact arithmetic needs the extra 'exact' (python-flint)")


def orthogonal_pair_in_balls(d: int, n_plus: int, n_minus: int, bits: int):
    """[VYS22, X.orthKKT] with every root as a ball; d is a perfect square times whatever: sqrt(d) is a ball too."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        q, m = flint.fmpq, n_plus + n_minus
        root = flint.arb(d).sqrt()
        lam_plus = flint.arb(q(n_minus + d, n_plus * d * (m + d))).sqrt()
        lam_minus = flint.arb(q(n_plus + d, n_minus * d * (m + d))).sqrt()
        s = flint.arb(q(n_plus * n_minus, (n_plus + d) * (n_minus + d))).sqrt()
        v_plus, v_minus = (lam_plus * n_plus).sqrt(), -(lam_minus * n_minus).sqrt()
        T = [[root if c == i else 0 for c in range(d)] + [1] for i in range(m)]
        plus = [root * v_plus * lam_plus] * n_plus + [-root * v_plus * lam_minus * s] * n_minus + [0] * (d - m)
        plus.append(v_plus * (lam_plus * n_plus - lam_minus * s * n_minus))
        minus = [root * v_minus * lam_plus * s] * n_plus + [-root * v_minus * lam_minus] * n_minus + [0] * (d - m)
        minus.append(v_minus * (lam_plus * s * n_plus - lam_minus * n_minus))
        point = BallPoint(A=[plus, minus], v=[v_plus, v_minus], T=T, y=[1] * n_plus + [-1] * n_minus)
        return point, [lam_plus] * n_plus + [lam_minus] * n_minus, [[1, s]] * n_plus + [[s, 1]] * n_minus
    finally:
        flint.ctx.prec = before


@pytest.mark.parametrize(("d", "n_plus", "n_minus"), [(4, 1, 1), (10, 3, 4), (50, 20, 13)])
def test_orthogonal_pair_is_stationary_to_fifty_digits(d, n_plus, n_minus):
    exact = certify_balls(*orthogonal_pair_in_balls(d, n_plus, n_minus, 256), bits=256)
    assert exact.outcome(1e-50) == "proved"
    assert exact.norm_identity < 1e-50
    assert exact.least_margin == pytest.approx(1.0, abs=50 * EPS)


def test_residual_of_a_closed_form_shrinks_with_the_precision():
    reached = [
        certify_balls(*orthogonal_pair_in_balls(10, 3, 4, bits), bits=bits).stationarity[1] for bits in (64, 128, 512)
    ]
    assert reached[0] > reached[1] > reached[2]
    assert reached[2] < 1e-140


@pytest.mark.parametrize("which", ["multiplier", "clarke", "weight"])
def test_change_in_the_sixth_digit_is_refuted(which):
    point, lam, clarke = orthogonal_pair_in_balls(10, 3, 4, 256)
    factor = flint.fmpq(1000001, 1000000)
    if which == "multiplier":
        lam = [lam[0] * factor, *lam[1:]]
    elif which == "clarke":
        clarke = [[1, clarke[0][1] * factor], *clarke[1:]]
    else:
        point = replace(point, v=[point.v[0] * factor, point.v[1]])
    exact = certify_balls(point, lam, clarke)
    assert exact.outcome(1e-8) == "refuted"
    assert not exact.holds(1e-8)
    assert exact.holds(1e-4)


def test_float_certificates_become_proofs_and_agree_with_them(known):
    for case in (
        known.orthogonal_pair(30, 5, 6),
        known.five_points(),
        known.specialists(50, 4, 2.0),
        known.one_against_many(6, 2, balanced=True, outputs="trained", zero_neurons=1),
        known.one_against_many(6, 2, balanced=False, outputs="frozen"),
    ):
        certificate = certify(case.network, case.data)
        exact = certify_exact(certificate, case.data)
        assert exact.holds(1e-12)
        low, high = exact.stationarity
        assert high - low <= 1e-15 * high
        assert certificate.stationarity == pytest.approx(high, rel=0.3, abs=50 * EPS)


def test_exact_numbers_of_a_network_far_from_kkt_are_those_of_the_float_certificate(known):
    for seed, bias, outputs in [(0, True, "trained"), (1, False, "trained"), (2, True, "frozen")]:
        case = known.separating(9, 4, 5, seed, bias=bias, outputs=outputs)
        certificate = certify(case.network, case.data)
        exact = certify_exact(certificate, case.data)
        assert exact.outcome(1e-8) == "refuted"
        assert exact.stationarity[0] <= certificate.stationarity * (1 + 1e-13)
        assert exact.stationarity[1] >= certificate.stationarity * (1 - 1e-13)
        assert exact.complementarity[1] == pytest.approx(certificate.complementarity, rel=1e-9, abs=1e-14)


def test_broken_float_multiplier_is_refuted(known):
    case = known.orthogonal_pair(30, 5, 6)
    certificate = certify(case.network, case.data)
    lam = certificate.multipliers.copy()
    lam[2] *= 1 + 1e-6
    assert certify_exact(replace(certificate, multipliers=lam), case.data).outcome(1e-8) == "refuted"
    negative = certificate.multipliers.copy()
    negative[2] *= -1
    assert certify_exact(replace(certificate, multipliers=negative), case.data).dual_feasibility[0] > 0.1


def test_weight_off_the_kink_costs_its_distance(known):
    case = known.specialists(50, 4, 2.0)
    certificate = certify(case.network, case.data)
    clarke = certificate.clarke.copy()
    clarke[0, 1] = 0.5
    assert certify_exact(replace(certificate, clarke=clarke), case.data).kink_distance[0] > 1e-3


def test_fractions_are_exact():
    # One sample, one neuron: w = v = 1 with lambda = 1 is a KKT point in rational numbers, without any error.
    exact = certify_balls(BallPoint(A=[[1]], v=[1], T=[[1]], y=[1]), [flint.fmpq(1)], [[1]])
    assert exact.stationarity == (0.0, 0.0)
    assert exact.holds(0.0)


def test_precision_is_given_back_and_values_are_plain(known):
    before = flint.ctx.prec
    case = known.five_points()
    exact = certify_exact(certify(case.network, case.data), case.data, bits=100)
    assert flint.ctx.prec == before
    assert json.loads(json.dumps(exact.to_dict(), allow_nan=False))["outcome"] == "proved"
    assert "proved at 1e-08" in str(exact)


def test_bad_input_is_refused(known):
    case = known.five_points()
    with pytest.raises(InputError, match="penalty"):
        certify_exact(certify(case.network, case.data, penalty=60.0), case.data)
    with pytest.raises(InputError, match="samples"):
        certify_exact(certify(case.network, case.data), case.data.subset(np.arange(3)))
    with pytest.raises(InputError, match="multipliers"):
        certify_balls(BallPoint(A=[[1]], v=[1], T=[[1]], y=[1]), [1, 1], [[1]])
