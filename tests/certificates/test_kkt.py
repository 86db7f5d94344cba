from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from marginflow.certificates import KINK_TOLERANCE, certify, minimality
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer

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


# Invariances --------------------------------------------------------------------------------------

shapes = st.tuples(
    st.integers(2, 12), st.integers(1, 5), st.integers(1, 7), st.integers(0, 10**6), st.booleans(), st.booleans()
)


def _draw(known, shape):
    n, d, k, seed, bias, frozen = shape
    case = known.separating(n, d, k, seed, bias=bias, outputs="frozen" if frozen else "trained")
    assume(np.abs(case.network(case.data.X)).min() > 1e-3)
    return case, np.random.default_rng(seed + 1)


@settings(max_examples=30, deadline=None)
@given(shape=shapes)
def test_certificate_is_invariant_under_rotations(known, shape):
    case, rng = _draw(known, shape)
    Q, _ = np.linalg.qr(rng.normal(size=(case.data.dimension,) * 2))
    rotated = certify(replace(case.network, W=case.network.W @ Q), Dataset(X=case.data.X @ Q, y=case.data.y))
    plain = certify(case.network, case.data)
    assert rotated.total == pytest.approx(plain.total, rel=1e-9)
    assert rotated.total_lower_bound == pytest.approx(plain.total_lower_bound, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(shape=shapes)
def test_certificate_is_invariant_under_permutations_and_label_flip(known, shape):
    case, rng = _draw(known, shape)
    rows, neurons = rng.permutation(case.data.n_samples), rng.permutation(case.network.width)
    network = replace(case.network.neurons(neurons), v=-case.network.v[neurons])
    permuted = certify(network, Dataset(X=case.data.X[rows], y=-case.data.y[rows]))
    plain = certify(case.network, case.data)
    assert permuted.total == pytest.approx(plain.total, rel=1e-9)
    np.testing.assert_allclose(permuted.margins, plain.margins[rows], rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(shape=shapes, factor=st.floats(1e-3, 1e3))
def test_certificate_does_not_depend_on_the_scale_of_the_parameters(known, shape, factor):
    case, _ = _draw(known, shape)
    scaled = certify(case.network.scaled(factor), case.data)
    plain = certify(case.network, case.data)
    assert scaled.total == pytest.approx(plain.total, rel=1e-8)
    assert scaled.scale * factor == pytest.approx(plain.scale, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    n_plus=st.integers(1, 6),
    n_minus=st.integers(1, 6),
    shares=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5),
    neuron=st.integers(0, 1),
)
def test_splitting_a_neuron_leaves_the_certificate_alone(known, n_plus, n_minus, shares, neuron):
    case = known.orthogonal_pair(13, n_plus, n_minus)
    parts = np.array(shares) / sum(shares)
    parts[-1] += 1.0 - parts.sum()
    certificate = certify(case.network.split(neuron, parts), case.data)
    assert certificate.holds(1e-12)
    np.testing.assert_allclose(certificate.multipliers, case.lam, rtol=1e-10)
    assert certificate.norm_squared == pytest.approx(case.network.norm_squared(), rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(shape=shapes, share=st.floats(0.01, 0.99))
def test_splitting_a_neuron_of_any_network_leaves_the_numbers_alone(known, shape, share):
    case, rng = _draw(known, shape)
    neuron = int(rng.integers(case.network.width))
    split = certify(case.network.split(neuron, [share, 1 - share]), case.data)
    plain = certify(case.network, case.data)
    assert split.total == pytest.approx(plain.total, rel=1e-9)
    assert split.norm_squared == pytest.approx(plain.norm_squared, rel=1e-9)


def test_samples_in_high_dimension_and_in_their_span_agree(known):
    case = known.separating(6, 3, 4, 0)
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(40, 3)))
    W = case.network.W @ Q.T
    high = certify(replace(case.network, W=W), Dataset(X=case.data.X @ Q.T, y=case.data.y))
    assert high.total == pytest.approx(certify(case.network, case.data).total, rel=1e-10)
    outside = rng.normal(size=(4, 40))
    outside -= (outside @ Q) @ Q.T
    certificate = certify(replace(case.network, W=W + outside), Dataset(X=case.data.X @ Q.T, y=case.data.y))
    # What lies outside the span of the samples is explained by nothing.
    share = np.linalg.norm(outside) * certificate.scale / np.sqrt(certificate.norm_squared)
    assert certificate.total_lower_bound >= share * (1 - 1e-9)


# Candidates, soft margins, values, errors ---------------------------------------------------------


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


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-50, 3e40, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_the_size_of_a_network_does_not_matter(factor, outputs):
    data = Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    network = TwoLayer(W=np.eye(2), v=[1.0, -1.0], outputs=outputs)
    certificate = certify(network.scaled(factor), data, start=network)
    assert certificate.holds(50 * EPS)
    assert certificate.scale == pytest.approx(1.0 / factor)
    np.testing.assert_allclose(certificate.network.W, np.eye(2), atol=50 * EPS)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_a_rescaled_network_that_is_not_a_kkt_point_has_the_same_residual(factor):
    data = Dataset(X=np.random.default_rng(0).normal(size=(4, 9)), y=[1, -1, 1, -1])
    network = TwoLayer(W=5.0 * data.X, v=data.y)
    first, second = certify(network, data), certify(network.scaled(factor), data)
    assert second.stationarity == pytest.approx(first.stationarity, rel=1e-10)
    assert second.total_lower_bound == pytest.approx(first.total_lower_bound, rel=1e-10)


def test_a_certificate_has_no_truth_value():
    certificate = certify(TwoLayer(W=np.eye(2), v=[1.0, -1.0]), Dataset(X=np.eye(2), y=[1, -1]))
    with pytest.raises(InputError, match=r"ask \.holds"):
        bool(certificate)
    with pytest.raises(InputError, match=r"ask \.verdict"):
        bool(minimality(certificate.network, Dataset(X=np.eye(2), y=[1, -1])))
