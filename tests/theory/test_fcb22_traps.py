"""[FCB22] What is wrong, loose or vacuous in print, each as a number; and the numbers of the assumptions."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import special, stats

from marginflow import InputError, theory
from marginflow.data import ClusterNoise, GivenNoise, UniformNoise, XorClusters
from marginflow.theory import Instance, Verdict
from marginflow.theory.fcb22 import recorded
from marginflow.theory.fcb22.a_ledger import ledger, needed_constant
from marginflow.theory.fcb22.assumptions import C16, C64, FIGURE, with_numbers
from marginflow.theory.fcb22.constants import C0_PAPER, E2, GAMMA, GROWTH, C2_proved, C3_proved
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.numbers import Numbers
from marginflow.theory.fcb22.path import path_of
from marginflow.theory.fcb22.rem_linear import axis_accuracy
from marginflow.theory.fcb22.thm_3_1.lem_4_1 import count_failure, norm_failure
from marginflow.theory.fcb22.thm_3_1.lem_4_2 import set_failure, set_probability
from marginflow.theory.fcb22.thm_3_1.lem_4_6 import lemma_4_6
from marginflow.theory.fcb22.thm_3_1.lem_4_10 import FirstStep
from marginflow.theory.fcb22.thm_3_1.prop_b1 import plane_instance


def judged(name: str, instance: Instance) -> Verdict:
    return theory.statement(f"FCB22/{name}").judge_instance(instance)


def check_named(verdict: Verdict, beginning: str) -> theory.Check:
    checks = (*verdict.hypotheses, *verdict.constants, *verdict.conclusions)
    return next(check for check in checks if check.name.startswith(beginning))


# Assumptions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "caps", "interval"),
    [
        (C16, (17.4, 43.4, 16, 57.9, 16, 16), (4, 16)),
        (C64, (64.8, 86.9, 64, 65.8, 64, 64), (64, 64)),
        (FIGURE, (0.0171, 217, 5, 587, 6.67, 2), (100, 0.0171)),
    ],
)
def test_caps_on_one_constant(numbers: Numbers, caps: tuple[float, ...], interval: tuple[float, float]) -> None:
    assert list(numbers.caps.values()) == pytest.approx(caps, rel=5e-3)
    assert numbers.interval == pytest.approx(interval, rel=5e-3)
    assert judged("A.joint", with_numbers("", numbers)).outcome == (
        "holds" if interval[0] <= interval[1] else "violated"
    )


def test_figure_at_the_delta_of_the_catalogue() -> None:
    assert replace(FIGURE, delta=0.05).caps["A1"] == pytest.approx(0.015, abs=5e-4)


@pytest.mark.parametrize(("k", "low", "high"), [(1, 4, 16), (2, 16, 64), (4, 64, 256), (5, 100, 400)])
def test_step_sizes_and_their_constants(k: int, low: float, high: float) -> None:
    assert replace(C16, alpha=1 / (4 * k)).step_size_interval == pytest.approx((low, high))


@pytest.mark.parametrize("C", [16.0, 100.0, 1e4])
def test_smallest_numbers_meet_all_assumptions_and_nothing_less_does(C: float) -> None:
    numbers = Numbers.smallest(C)
    for name in ("A1", "A2", "A3", "A4", "A5", "A6", "A7"):
        assert judged(name, with_numbers("", numbers, C)).holds
    for field, factor in (("n", 0.9), ("m", 0.9), ("d", 0.9), ("sigma", 1.1), ("eta", 1.1), ("omega", 1.1)):
        worse = replace(numbers, **{field: factor * getattr(numbers, field)})
        assert worse.interval[1] < C


def test_a_step_size_that_gives_no_whole_number_of_steps_is_refused() -> None:
    """Trap 1: alpha = 1/2 gives T = 1.5, and 2 alpha T = 1.5 > 1."""
    verdict = judged("A.joint", with_numbers("", replace(C16, alpha=0.5)))
    assert check_named(verdict, "distance of 1/(4 alpha)").state == "failed"
    with pytest.raises(InputError, match="alpha"):
        replace(C16, alpha=0.0)


def test_a_noise_without_a_rate_takes_the_one_that_is_given() -> None:
    law = XorClusters(dimension=4, sigma=0.1, noise=GivenNoise([0]))
    parameters = {"n": 10, "m": 4, "omega": 0.1, "alpha": 0.25}
    with pytest.raises(InputError, match="give the parameter eta"):
        Numbers.of(Instance(law=law, parameters=parameters))
    assert Numbers.of(Instance(law=law, parameters={**parameters, "eta": 0.1})).eta == 0.1


# The ledger -------------------------------------------------------------------------------------------


def test_literal_constants_are_astronomic() -> None:
    assert pytest.approx(5.86e10, rel=1e-3) == C0_PAPER
    assert C2_proved(1.0) == pytest.approx(49.6, abs=0.05)
    assert C3_proved(1e9) == pytest.approx(30266, abs=1)
    assert C3_proved(10.0) == pytest.approx(37365, abs=1)
    assert pytest.approx(1 / 121062, rel=1e-5) == GAMMA
    lines = {line.check.name: line for line in ledger(C16, 0.07, C0_PAPER, 2.0, C2_proved(C0_PAPER))}
    bounds = {name: line.check.bound for name, line in lines.items()}
    assert bounds["m, Lemma 4.2"] == pytest.approx(3.2e23, rel=0.02)
    assert bounds["|N|/n, Eq. (12)"] == pytest.approx(8.9e-13, rel=0.01)
    assert bounds["|N|/n, Eq. (31)"] / 2 == pytest.approx(8.6e-14, rel=0.01)
    assert bounds["C1 sd, Eq. (34)"] == pytest.approx(5.4e-15, rel=0.01)
    assert bounds["alpha, Eq. (20)"] == pytest.approx(2.2e-5, rel=0.01)
    assert 1 + 1 / (4 * 2.2027e-5) == pytest.approx(11351, rel=1e-3)
    C, binding = needed_constant(tuple(lines.values()))
    assert binding == "n, Eq. (12)"
    assert C > 2e26


@pytest.mark.parametrize("C0", [2.0, 10.0, C0_PAPER])
def test_the_needed_constant_is_enough_and_not_much_too_much(C0: float) -> None:
    """At (A1)-(A7) with the C that a line needs it holds; a third of that C leaves some line open."""
    C = 1.0
    for _ in range(6):
        s = Numbers.smallest(C)
        C = 1.01 * needed_constant(ledger(s, s.noisy_share_bound, C0, 2.0, C2_proved(C0)))[0]
    enough, less = Numbers.smallest(C), Numbers.smallest(C / 3)
    assert all(line.check.state == "met" for line in ledger(enough, enough.noisy_share_bound, C0, 2.0, C2_proved(C0)))
    assert any(line.check.state != "met" for line in ledger(less, less.noisy_share_bound, C0, 2.0, C2_proved(C0)))


def test_right_side_of_equation_20_is_negative_for_every_feasible_step() -> None:
    limit = E2 / 1024 / 3
    assert limit == pytest.approx(4.4e-5, rel=0.01)
    assert check_named(judged("Lem4.9", recorded.c16()), "right side of Eq. (20)").state == "failed"
    assert check_named(judged("Lem4.9", recorded.planted()), "right side of Eq. (20)").state == "met"


def test_literal_generalisation_bound_is_vacuous() -> None:
    verdict = judged("Thm3.1.2", recorded.c16())
    assert check_named(verdict, "test error, bound of the proof").vacuous
    assert check_named(verdict, "bound of the proof").observed > 1e4
    assert not check_named(verdict, "test error, printed").vacuous
    assert (4 / GAMMA / 0.1) ** 2 == pytest.approx(2.3e13, rel=0.03)  # from here on the proof's bound is below 0.1
    assert 2 * 2 * math.sqrt(2) > 4  # trap 10: the factor 2 of the cited theorem gives 5.66/gamma instead of 4/gamma


# The start --------------------------------------------------------------------------------------------


def test_exact_failure_probabilities_agree_with_scipy() -> None:
    d, m, C0, delta = 320, 400, 2.0, 0.1
    single = stats.chi2.cdf(d / 4, d) + stats.chi2.sf(9 * d / 4, d)
    assert norm_failure(m, d) == pytest.approx(1 - (1 - single) ** m, abs=1e-15)
    assert norm_failure(100, 2) == pytest.approx(1.0)
    least = m * (1 - 1 / (2 * C0) - math.sqrt(2 * math.log(4 / delta) / m))
    p = 2 * stats.norm.sf(1 / (2 * C0))
    assert count_failure(m, C0, delta) == pytest.approx(stats.binom.cdf(math.ceil(least) - 1, m, p), rel=1e-6)
    draws = np.random.default_rng(0).standard_normal((40_000, 10))
    corr = draws[:, 0] / np.linalg.norm(draws, axis=1)
    assert (corr >= 1 / (6 * math.sqrt(10))).mean() == pytest.approx(set_probability(10, 2.0), abs=0.01)
    assert set_failure(m, d, C0_PAPER) == 1.0  # equal quarters of 400 neurons do not happen


@pytest.mark.parametrize(("C0", "m"), [(2.0, 370), (4.0, 1480), (10.0, 9230)])
def test_width_that_lemma_4_2_asks_for(C0: float, m: int) -> None:
    assert 16 * C0**2 * math.log(32 / 0.1) == pytest.approx(m, rel=5e-3)


def test_sign_and_modulus_of_a_start_are_independent_although_both_depend_on_the_angle() -> None:
    """Trap 8: the printed reason is wrong, the claim stands."""
    g = np.random.default_rng(1).standard_normal((100_000, 3))
    large = np.abs(g[:, 0]) >= 0.25
    assert (g[large, 0] > 0).mean() == pytest.approx(0.5, abs=0.01)
    angle = np.abs(g[:, 0]) / np.linalg.norm(g, axis=1)
    assert np.corrcoef(np.abs(g[:, 0]), angle)[0, 1] > 0.5  # the modulus does depend on the angle


def test_with_the_literal_threshold_every_neuron_is_in_J_and_some_have_no_edge() -> None:
    path = path_of(recorded.with_parameters(recorded.c16(), C0=C0_PAPER))
    assert path.neurons.J.all()
    assert not GoodRun(path).least_edge > 0
    assert 2 * (special.ndtr(1 / (3 * C0_PAPER)) - 0.5) == pytest.approx(4.5e-12, rel=0.02)


# Samples ----------------------------------------------------------------------------------------------


def test_norm_bound_of_lemma_a1_is_false_as_printed() -> None:
    """Trap 3."""
    assert 1 + 1 / math.sqrt(3) > math.sqrt(2)
    assert (math.sqrt(2) - 1) ** 2 == pytest.approx(0.1716, abs=1e-4)


def test_squared_and_plain_distance_need_different_constants() -> None:
    """Trap 4: with c = |x - mu| / sd below 1 the square needs c^2 < c, above 1 the other way round."""
    path = path_of(recorded.c16())
    run = GoodRun(path)
    assert run.C1_parts["b"] == pytest.approx(run.reach**2)
    wide = GoodRun(replace(path, numbers=replace(path.numbers, sigma=path.numbers.sigma / 10)))
    assert wide.C1 == pytest.approx(wide.reach**2)
    assert wide.C1 > wide.reach > 2


def test_equation_6_as_printed_is_false_for_noise_on_one_cluster_and_repaired_by_a_factor_4() -> None:
    """Trap 6."""
    verdict = theory.statement("FCB22/Eq6").judge_instance(theory.statement("FCB22/Eq6").control())
    assert verdict.outcome == "refuted"
    assert check_named(verdict, "repaired: |I_mu^C|").state == "met"
    assert check_named(verdict, "what it is used for").state == "met"


def test_edge_of_skewed_clusters_is_the_probability_of_an_interval() -> None:
    """Trap 5: p - q = P(|Z| < s), but q is not 1 - p for exponential clusters."""
    s = 0.7
    p, q = math.exp(-(1 - s)), math.exp(-(1 + s))  # Z = E - 1: P(Z > -s) and P(Z > s)
    assert p - q == pytest.approx(stats.expon(loc=-1).cdf(s) - stats.expon(loc=-1).cdf(-s))
    assert abs(q - (1 - p)) > 0.05


def test_equation_12_needs_a_quarter_of_the_noise_where_it_is_all_on_one_cluster() -> None:
    """Expected edges at the noise that the proof allows, C0 = 2: spread evenly they suffice, on one cluster not."""
    C0 = 2.0
    p = 0.5 + 1 / (3 * C0 * math.sqrt(2 * math.pi * math.e))  # Eq. (11)
    allowed = 0.2155 / (C0 * math.sqrt(2 * math.pi * math.e))

    def edge(share: float, *, one_cluster: bool) -> float:
        """(N_mu - N_-mu) / n when the noise takes its share from I_mu, or from all clusters alike."""
        own, opposite = (1 - 4 * share, 1.0) if one_cluster else (1 - share, 1 - share)
        return 0.25 * (own * p - opposite * (1 - p))

    assert edge(allowed, one_cluster=False) > 1 / C2_proved(C0)
    assert edge(allowed, one_cluster=True) < 1 / C2_proved(C0)
    assert edge(allowed / 4, one_cluster=True) > 1 / C2_proved(C0)


def test_edge_of_the_start_at_the_literal_sample_size() -> None:
    """n = 2.7e6 for C0 = 2 and m = 100: no data matrix is needed, the counts are binomial; exact tails, all neurons."""
    C0, m, delta = 2.0, 100, 0.1
    n = math.ceil(14400 * math.pi * math.e * 0.5 * C0**2 * math.log(64 * m / delta))
    assert n == pytest.approx(2.72e6, rel=0.01)
    p = 0.5 + 1 / (3 * C0 * math.sqrt(2 * math.pi * math.e))
    size = n // 4
    cut = n / C2_proved(C0)
    # N_mu - N_-mu < cut needs N_mu below, or N_-mu above, a line half-way between their means.
    low, high = size * p - (size * (2 * p - 1) - cut) / 2, size * (1 - p) + (size * (2 * p - 1) - cut) / 2
    failure = 4 * m * (stats.binom.cdf(math.floor(low), size, p) + stats.binom.sf(math.ceil(high) - 1, size, 1 - p))
    assert failure < 1e-100
    small = 400 // 4
    low = small * p - (small * (2 * p - 1) - 400 / C2_proved(C0)) / 2
    assert 4 * m * stats.binom.cdf(math.floor(low), small, p) > 1  # at n = 400 the union bound says nothing


def test_observed_noise_can_exceed_twice_a_tiny_rate() -> None:
    """Trap 7: at eta = 1/2000 and n = 400 two flips are four times the rate, with probability 0.02."""
    assert stats.binom.sf(0, 400, 1 / 2000) > 0.1  # a single flip: |N|/n = 0.0025 = 5 eta
    assert (1 / 400) / (1 / 2000) > 2


def test_noise_on_one_cluster_above_an_eighth_cannot_be_told_from_a_change_of_label() -> None:
    """(A1)-(A7) hold with C = 5, and the conclusion fails: C must exceed 8."""
    verdict = judged("Thm3.1.1", recorded.lost_cluster())
    assert verdict.outcome == "constants unspecified"
    assert all(check.state == "met" for check in verdict.hypotheses)
    with pytest.raises(InputError, match="at most"):
        XorClusters(dimension=2, noise=ClusterNoise(rate=0.3)).sample(10)


# Descent ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [recorded.c16, recorded.tight, recorded.wide_clusters, recorded.lost_cluster])
def test_identity_28_is_exact_on_every_run(build: object) -> None:
    """With the signs of zeta_2 on mu2 repaired; as printed the identity fails (trap 6)."""
    path = path_of(build())
    first = FirstStep.of(path)
    step = path.networks[1].W - path.networks[0].W
    scale = np.abs(step).max()
    assert np.abs(step - first.along - first.spread - first.drift).max() <= 1e-13 * max(scale, np.abs(path.end.W).max())
    mu2 = path.sample.mu[1]
    printed = first.drift - 2 * (first.drift @ mu2)[:, None] * mu2
    missed = (step - first.along - first.spread - printed) @ mu2
    assert np.abs(missed).max() == pytest.approx(2 * np.abs(first.drift @ mu2).max(), rel=1e-3)


def test_correlation_after_one_step_tends_to_the_diagonal() -> None:
    """Not to 1: the first step moves neurons equally along both means."""
    path = path_of(recorded.gd_run(4000, 50, 40, sd=1e-6, eta=0.0, omd=1e-9))
    assert path.correlations[1] == pytest.approx([math.sqrt(0.5)] * path.correlations.shape[1], abs=0.03)
    norms = path.norms[1] / (path.alpha * path.a)
    assert norms == pytest.approx([math.sqrt(2) / 8] * norms.size, rel=0.05)


def test_without_a_large_step_there_is_no_amplification() -> None:
    """alpha as small as the start: the lower bound on the step-size is needed."""
    path = path_of(recorded.gd_run(400, 1200, 100, sd=1 / 16, eta=1 / 16, omd=1 / 256, rate=1 / 256, steps=1))
    assert np.median(path.correlations[1]) < 0.2


def test_planted_run_reproduces_the_literal_chain() -> None:
    path = path_of(recorded.planted())
    assert path.times[-1] == 11401
    assert path.orthogonality.max() == pytest.approx(0.15, abs=0.05)
    assert path.growth[1:].min() == pytest.approx(0.1235, abs=0.002)
    assert path.growth[1:].min() > 50 * GROWTH
    assert path.clean_margins[-1].min() == pytest.approx(7.7e-3, rel=0.02)
    assert float(np.linalg.norm(path.end.W)) == pytest.approx(0.031, abs=0.001)
    verdict = judged("Thm3.1.det", recorded.planted())
    assert verdict.holds
    assert sum("Eq." in check.name or "Lemma" in check.name for check in verdict.hypotheses) >= 12


def test_one_alpha_larger_breaks_a_literal_line() -> None:
    verdict = judged("Thm3.1.det", recorded.planted(k=11_000, copies=240))
    assert verdict.outcome == "not applicable"
    assert not verdict.failed_claims


def test_lemma_4_6_on_random_networks() -> None:
    """Whenever its hypotheses are met the conclusion holds; the sharper bound holds always."""
    rng = np.random.default_rng(0)
    applied = 0
    for _ in range(200):
        m, outside = 512, int(rng.integers(1, 12))
        W = rng.standard_normal((m, 3)) * 0.2
        W[:, 0] += 1.0
        signs = np.where(rng.random(m) < 0.02, -1.0, 1.0)
        signs[m - outside :] = -1.0
        W[m - outside :] *= rng.uniform(1.0, 4.0)
        W /= np.linalg.norm(W) * 1.0001
        network = theory.statement("FCB22/Lem4.6").example().the_network()
        network = replace(network, W=W, v=signs / math.sqrt(m))
        data = theory.statement("FCB22/Lem4.6").example().the_data()
        verdict = lemma_4_6.judge_instance(Instance(network=network, data=data, parameters={"inside": m - outside}))
        assert verdict.outcome in ("holds", "not applicable")
        assert check_named(verdict, "y f(x) against the sharper bound").state == "met"
        applied += verdict.holds
    assert applied > 50


def test_early_slopes_are_those_of_the_prototype() -> None:
    verdict = judged("Rem.EarlyStop", recorded.c16())
    assert check_named(verdict, "smallest -l'").observed == pytest.approx(0.4956, abs=0.002)
    assert check_named(verdict, "largest |f(x_i)| up to the end").observed == pytest.approx(0.018, abs=0.004)


# Linear classifiers and the rest --------------------------------------------------------------------------


def test_linear_classifiers_beat_chance_with_a_bias_or_on_skewed_clusters() -> None:
    assert axis_accuracy("gaussian", 0.2) == pytest.approx(0.5, abs=1e-15)
    assert axis_accuracy("gaussian", 0.2, bias=-0.5) == pytest.approx(0.745, abs=5e-4)
    assert axis_accuracy("exponential", 0.2) == pytest.approx(0.566, abs=1e-3)
    assert axis_accuracy("exponential", 1.0) == pytest.approx(0.600, abs=1e-3)
    law = XorClusters(dimension=2, sigma=0.2, noise=UniformNoise(rate=0.1))
    biased = Instance(law=law, parameters={"bias": -0.5})
    verdict = judged("Rem.Linear-repaired", biased)
    assert verdict.outcome == "not applicable"
    assert verdict.failed_claims
    narrow = XorClusters(dimension=2, sigma=0.05, noise=UniformNoise(rate=0.1))
    assert judged("Rem.Linear", Instance(law=narrow, parameters={"bias": -0.5})).outcome == "violated"
    assert judged("Rem.Linear", theory.statement("FCB22/Rem.Linear").control()).outcome == "refuted"
    for word in ("laplace", "logistic", "cube", "ball", "radial-exponential"):
        assert judged("Rem.Linear-repaired", Instance(law=XorClusters(dimension=5, sigma=0.4, cluster_law=word))).holds


def test_test_labels_that_are_not_those_of_the_law_are_noticed() -> None:
    good = recorded.c16()
    test = good.the_test()
    flipped = replace(good, test=replace(test, y=-test.y))
    assert judged("Thm3.1.2", good).outcome == "holds"
    verdict = judged("Thm3.1.2", flipped)
    assert verdict.outcome == "not applicable"
    assert verdict.deciding is not None
    assert "test labels" in verdict.deciding.name


def test_rademacher_bound_beyond_the_plane_is_left_undecided() -> None:
    verdict = judged("PropB.1", plane_instance(30, dimension=5))
    assert verdict.outcome == "undecided"
    assert 0.1 < check_named(verdict, "value / bound").observed < 1


def test_prop_3_2_prints_4_for_a_quarter() -> None:
    """Trap 11: T alpha = alpha + 1/4, and the printed second bound 1/C is weaker than C under (A6)."""
    s = C64
    assert s.steps * s.alpha == pytest.approx(s.alpha + 0.25)
    assert 1 / (64 * s.omd) == pytest.approx(64.0)


@pytest.mark.parametrize("word", ["A1", "A.ledger", "A.joint"])
def test_numbers_that_are_missing_are_named(word: str) -> None:
    numbers = dict(asdict(C16))
    del numbers["alpha"]
    with pytest.raises(InputError, match="The parameter alpha is needed"):
        judged(word, Instance(parameters=numbers))


def test_every_id_of_the_paper_is_implemented_and_sound() -> None:
    rows = theory.coverage("FCB22", run=False)
    assert sum(not row.added for row in rows) == 46
    assert all(row.implemented for row in rows)
