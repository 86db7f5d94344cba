from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from marginflow.certificates import KINK_TOLERANCE, certify
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)

EXACT = 1e-13


# Closed forms -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "n_plus", "n_minus"), [(4, 1, 1), (9, 2, 5), (100, 16, 17), (100, 1, 99), (64, 64 - 7, 7)]
)
def test_orthogonal_pair_is_certified_with_its_own_multipliers_and_kink_weights(known, d, n_plus, n_minus):
    case = known.orthogonal_pair(d, n_plus, n_minus)
    certificate = certify(case.network, case.data)
    assert certificate.holds(EXACT)
    np.testing.assert_allclose(certificate.multipliers, case.lam, rtol=1e-12)
    np.testing.assert_allclose(certificate.clarke, case.clarke, atol=1e-11)
    assert certificate.kink_report.count == n_plus + n_minus
    assert certificate.kink_report.hard_residual > 0.1


@pytest.mark.parametrize("x5", [0.7, 0.9, 7.0])
def test_five_points_on_the_line_have_the_printed_multipliers(known, x5):
    case = known.five_points(x5)
    certificate = certify(case.network, case.data)
    assert certificate.holds(1e-12)
    np.testing.assert_allclose(certificate.multipliers, case.lam, rtol=1e-10, atol=1e-10)
    if x5 == 0.9:
        assert certificate.norm_squared == pytest.approx(290.028, abs=5e-4)
        np.testing.assert_allclose(certificate.multipliers, [20.488, 51.416, 52.139, 20.970, 0.0], atol=6e-4)


def test_multipliers_that_are_not_unique_are_found_all_the_same(known, evaluator):
    # At x5 = x4 + 2h the fifth sample touches the margin and may share the multipliers of the others.
    case = known.five_points(0.6)
    certificate = certify(case.network, case.data)
    assert certificate.holds(1e-12)
    assert certificate.margin_set.all()
    assert evaluator(certificate, case.data)["stationarity"] < 1e-12


@pytest.mark.parametrize(("m", "k"), [(3, 1), (10, 2), (20, 5)])
def test_one_against_many_needs_balance_exactly_when_outputs_are_trained(known, m, k):
    for balanced, outputs in [(True, "trained"), (False, "frozen")]:
        case = known.one_against_many(m, k, balanced=balanced, outputs=outputs, zero_neurons=2)
        certificate = certify(case.network, case.data)
        assert certificate.holds(EXACT)
        np.testing.assert_allclose(certificate.multipliers, case.lam, rtol=1e-12)
    unbalanced = known.one_against_many(m, k, balanced=False, outputs="trained")
    certificate = certify(unbalanced.network, unbalanced.data)
    assert not certificate.holds(1e-2)
    assert certificate.total_lower_bound == pytest.approx(certificate.total, rel=1e-9)
    assert certificate.balance > 0.1


@pytest.mark.parametrize(("d", "k", "rho"), [(50, 4, 2.0), (2000, 10, 2.0), (30, 6, 1.5)])
def test_specialists_are_certified_without_any_kink(known, d, k, rho):
    case = known.specialists(d, k, rho)
    certificate = certify(case.network, case.data)
    assert certificate.holds(EXACT)
    assert certificate.kink_report.count == 0
    np.testing.assert_allclose(certificate.multipliers, case.lam, rtol=1e-12)


def test_identities_hold_at_closed_forms(known):
    for case in (known.orthogonal_pair(30, 7, 9), known.five_points(), known.specialists(50, 4, 2.0)):
        certificate = certify(case.network, case.data)
        assert 2 * certificate.multipliers.sum() == pytest.approx(certificate.norm_squared, rel=1e-12)
        assert certificate.norm_identity < 1e-13
        assert certificate.balance < 50 * EPS
    frozen = known.one_against_many(10, 3, balanced=False, outputs="frozen")
    certificate = certify(frozen.network, frozen.data)
    assert certificate.multipliers.sum() == pytest.approx(certificate.norm_squared, rel=1e-13)


def test_samples_beyond_the_margin_get_no_multiplier(known):
    # [VYS22, Cor 4.1]: longer copies of the samples lie beyond the margin and change nothing.
    case = known.orthogonal_pair(30, 5, 6)
    data = Dataset(X=np.vstack([case.data.X, 1.5 * case.data.X]), y=np.r_[case.data.y, case.data.y])
    certificate = certify(case.network, data)
    assert certificate.holds(EXACT)
    np.testing.assert_allclose(certificate.multipliers, np.r_[case.lam, np.zeros(11)], atol=1e-13)
    assert certificate.margin_set.sum() == 11
    assert certificate.support.sum() == 11


# Networks that are not KKT points -----------------------------------------------------------------


def test_robust_network_is_refused(known):
    case = known.robust_network(40, 12)
    certificate = certify(case.network, case.data)
    assert not certificate.holds(0.1)
    assert certificate.total_lower_bound > 0.1
    assert certificate.feasibility < 1e-12
    assert certificate.margin_set.all()


def test_network_of_section_5_1_is_refused_even_rebalanced(known):
    case = known.section_5_1(8)
    assert certify(case.network, case.data).total_lower_bound > 0.1
    balanced = TwoLayer.from_directions(case.network.directions, case.network.signs, bias=True)
    assert certify(balanced, case.data).total_lower_bound > 0.1


def test_briefly_trained_network_is_refused_with_a_lower_bound_and_its_floor():
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.normal(size=(8, 30)), y=np.where(np.arange(8) % 2, 1.0, -1.0))
    start = network = TwoLayer.initialise(20, 30, seed=1)
    for _ in range(400):
        gradient = network.gradient(data.X, data.y * np.exp(-network.margins(data.X, data.y)))
        network = TwoLayer(
            W=network.W + 0.05 * gradient.W, b=network.b + 0.05 * gradient.b, v=network.v + 0.05 * gradient.v
        )
    certificate = certify(network, data, start=start)
    assert certificate.margins.min() == pytest.approx(1.0)
    assert not certificate.holds(0.01)
    assert 0.05 < certificate.floor <= certificate.total_lower_bound <= certificate.total
    assert "never get below" in str(certificate)


def test_network_that_does_not_separate_says_so():
    data = Dataset(X=np.eye(2), y=[1, -1])
    certificate = certify(TwoLayer(W=np.eye(2), v=[1.0, 1.0]), data)
    assert certificate.status == "does not separate"
    assert not certificate.holds(np.inf)
    assert "does not separate" in str(certificate)
    assert certificate.feasibility >= 1.0
    json.dumps(certificate.to_dict(), allow_nan=False)


def test_hard_patterns_would_refuse_a_true_kkt_point(known):
    case = known.orthogonal_pair(100, 16, 16)
    hard = certify(case.network, case.data, kink_tolerance=0.0)
    certificate = certify(case.network, case.data)
    assert hard.stationarity > 0.2 or hard.kink_report.count > 0
    assert certificate.kink_report.hard_residual > 0.2


@pytest.mark.parametrize("condition", ["stationarity", "feasibility", "dual_feasibility", "complementarity"])
def test_every_condition_alone_can_break_a_certificate(known, condition):
    case = known.orthogonal_pair(12, 4, 5)
    certificate = certify(case.network, case.data)
    assert certificate.holds()
    broken = replace(certificate, residuals=replace(certificate.residuals, **{condition: 1e-3}))
    assert not broken.holds()
    assert broken.holds(1e-2)


def test_multiplier_off_the_margin_breaks_complementarity_and_nothing_else():
    # One neuron, samples 1 and 2 on the line: lambda_1 + 2 lambda_2 = 1 is all that stationarity asks for.
    data = Dataset(X=[[1.0], [2.0]], y=[1, 1])
    network = TwoLayer(W=[[1.0]], v=[1.0])
    boast = certify(network, data, multipliers=([0.0, 0.5], [[0.0], [0.5]]), complementarity_weight=0.0)
    assert boast.status == "candidate accepted"
    assert boast.stationarity < 50 * EPS
    assert boast.complementarity == pytest.approx(0.5)
    assert boast.residuals.delta == pytest.approx(0.5)
    assert not boast.holds(0.1)
    # With complementarity in the objective the same candidate is not accepted, and the true multiplier is found.
    honest = certify(network, data, multipliers=([0.0, 0.5], [[0.0], [0.5]]))
    assert honest.status == "solved"
    assert honest.holds(50 * EPS)
    np.testing.assert_allclose(honest.multipliers, [1.0, 0.0], atol=50 * EPS)


@pytest.mark.parametrize("change", [1e-3, 1e-5, 1e-7])
def test_residual_follows_the_size_of_a_change_of_the_network(known, change):
    case = known.specialists(50, 4, 2.0)
    W = case.network.W.copy()
    W[0] *= 1 + change
    certificate = certify(replace(case.network, W=W), case.data)
    assert 0.01 * change < certificate.total < 10 * change
    assert not certificate.holds(0.01 * change)
    assert certificate.holds(10 * change)


def test_kink_that_is_slightly_off_is_relied_on_openly(known):
    case = known.orthogonal_pair(30, 5, 6)
    b = case.network.b + np.array([1e-5, 0.0])
    network = replace(case.network, b=b)
    narrow = certify(network, case.data)
    wide = certify(network, case.data, kink_tolerance=1e-4)
    assert narrow.stationarity > 0.1
    assert wide.total < 1e-3
    assert 1e-7 < wide.kink_report.relied_on < 1e-4
    assert not wide.holds(0.5 * wide.kink_report.relied_on)
    assert wide.kink_report.tolerance == 1e-4
    assert narrow.kink_report.tolerance == KINK_TOLERANCE


# Every number again, in plain loops ---------------------------------------------------------------


def _cases(known):
    yield known.orthogonal_pair(12, 4, 5), {}
    yield known.five_points(), {}
    yield known.one_against_many(6, 2, balanced=True, outputs="trained", zero_neurons=1), {}
    yield known.one_against_many(6, 2, balanced=False, outputs="frozen"), {}
    yield known.robust_network(10, 5), {}
    yield known.section_5_1(6), {}
    for seed, bias, outputs, penalty, tolerance in [
        (0, True, "trained", None, 1e-8),
        (1, False, "trained", None, 0.1),
        (2, True, "frozen", None, 0.1),
        (3, False, "frozen", None, 1e-8),
        (4, True, "trained", 0.3, 0.1),
        (5, False, "frozen", 2.0, 0.05),
    ]:
        case = known.separating(9, 4, 5, seed, bias=bias, outputs=outputs)
        yield case, {"penalty": penalty, "kink_tolerance": tolerance}
        yield case, {"penalty": penalty, "kink_tolerance": tolerance, "complementarity_weight": 0.0}


def test_independent_evaluator_finds_every_number_again(known, evaluator):
    for case, options in _cases(known):
        certificate = certify(case.network, case.data, **options)
        again = evaluator(certificate, case.data)
        for name in (
            "stationarity",
            "hidden_stationarity",
            "output_stationarity",
            "neuron_stationarity",
            "feasibility",
            "complementarity",
            "total",
            "epsilon",
            "delta",
            "norm_identity",
            "balance",
            "margins",
        ):
            found = getattr(certificate if hasattr(certificate, name) else certificate.residuals, name)
            if again[name] is None:
                assert found is None
            else:
                np.testing.assert_allclose(found, again[name], rtol=1e-9, atol=1e-12, err_msg=name)
        pre, scale = np.array(again["pre"]), np.array(again["scale_of_pair"])
        tolerance = certificate.kink_report.tolerance
        kinks = np.abs(pre) <= tolerance * scale + 1e-15
        np.testing.assert_array_equal(certificate.kinks, kinks)
        np.testing.assert_array_equal(certificate.clarke[~kinks], (pre[~kinks] > 0).astype(float))
        assert (certificate.clarke >= 0).all()
        assert (certificate.clarke <= 1).all()
        assert (certificate.multipliers >= 0).all()
        if certificate.penalty is None:
            assert min(again["margins"]) == pytest.approx(1.0, abs=1e-13)
        else:
            assert (certificate.multipliers <= certificate.penalty).all()
        assert certificate.total_lower_bound <= certificate.total * (1 + 1e-9)
