"""[VYS22] Numbers that are known from elsewhere: by hand, by the formulas of the paper, by independent prototypes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import marginflow as mf
from marginflow import theory
from marginflow.data import Dataset, GramReduction, Orthogonal, Sphere
from marginflow.flow import recipes
from marginflow.networks import TwoLayer, initialisation
from marginflow.robustness.explicit_vectors import vys22_steps
from marginflow.theory.instances import orthogonal_point
from marginflow.theory.recorded import recipe_run
from marginflow.theory.vys22.lem_3_1 import log_bound_a, log_bound_b
from marginflow.theory.vys22.presets import orthogonal_preset, with_longer_samples
from marginflow.theory.vys22.setting import Setting


def judge(id: str, *args: object, **named: object) -> theory.Verdict:
    return theory.statement(id).check(*args, **named)


# Which sample sizes are allowed -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "sizes"),
    [
        (100, (33, 16, 5)),
        (200, (67, 33, 11)),
        (500, (167, 83, 27)),
        (1000, (333, 166, 55)),
        (100_000, (33333, 16666, 5555)),
    ],
)
def test_largest_allowed_sample_size(d: int, sizes: tuple[int, ...]) -> None:
    found = tuple(int(Setting(X=_pair(d, p), y=np.array([1.0, -1.0]), d=d).allowed) for p in (0.0, 1.0, 5.0))
    assert found == sizes


def _pair(d: int, p: float) -> np.ndarray:
    """Two vectors of squared norm d with inner product p."""
    return np.array([[math.sqrt(d), 0.0], [p / math.sqrt(d), math.sqrt(d - p**2 / d)]])


@pytest.mark.parametrize(("d", "median"), [(100, 2), (1000, 5), (10_000, 12), (100_000, 31)])
def test_largest_allowed_random_sample(d: int, median: int) -> None:
    """The longest prefix of random samples that satisfies A.msize; medians of another simulation, to 15 %."""
    found = []
    for seed in range(25):
        X = GramReduction(Sphere(dimension=d)).sample(60, seed=seed).X
        gram = np.abs(X @ X.T) - d * np.eye(60)
        sizes = [m for m in range(1, 61) if m <= (d + 1) / (3 * (gram[:m, :m].max(initial=0.0) + 1))]
        found.append(next((m for m in range(1, 61) if m + 1 not in sizes), 60))
    assert np.median(found) == pytest.approx(median, rel=0.15, abs=0.5)


def test_formula_of_example_1_needs_dimension_2123() -> None:
    def size(d: int) -> int:
        return int((d + 1) / (3 * (math.sqrt(d) * math.log(d) + 1)))

    assert size(2122) == 1
    assert size(2123) == 2
    assert (size(10_000), size(100_000)) == (3, 9)


# Lemma 3.1 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "below_one", "below_percent"), [(0.5, 60, 99), (1, 99, 138), (1.5, 141, 180), (2, 185, 223)]
)
def test_first_bound_of_lemma_3_1_says_something_from(k: float, below_one: int, below_percent: int) -> None:
    for limit, expected in ((1.0, below_one), (0.01, below_percent)):
        useful = [log_bound_a(d, d**k) < math.log(limit) for d in range(expected - 1, 1000)]
        assert useful == [False] + [True] * (len(useful) - 1)


@pytest.mark.parametrize(("k", "dimension"), [(0.5, 2981), (1.0, 162_755), (1.5, 8_886_111)])
def test_second_bound_of_lemma_3_1_says_something_from(k: float, dimension: int) -> None:
    assert log_bound_b(dimension, dimension**k) < 0 <= log_bound_b(dimension - 1, (dimension - 1) ** k)


def test_exact_tails_beside_the_printed_bounds() -> None:
    pair = judge("VYS22/Lem3.1a", dimension=100, n_samples=2)["ln P(one pair)"]
    assert math.exp(pair.observed) == pytest.approx(1.0e-7, rel=0.02)
    assert pair.bound is not None
    assert math.exp(pair.bound) == pytest.approx(8.7e-5, rel=0.01)
    for d, m, bound in ((1000, 2, 0.026), (1000, 10, 0.66), (10_000, 100, 0.062)):
        check = judge("VYS22/Lem3.1b", dimension=d, n_samples=m)["ln P(some pair)"]
        assert check.bound is not None
        assert math.exp(check.bound) == pytest.approx(bound, rel=0.02)
    for d, union in ((100, 6e-3), (1000, 1.4e-6)):
        verdict = judge("VYS22/Lem3.1b", dimension=d, n_samples=d)
        assert verdict.outcome == "vacuous"
        assert math.exp(verdict["ln P(some pair)"].observed) == pytest.approx(union, rel=0.05)


@pytest.mark.parametrize("d", [3, 4])
def test_a_step_of_the_printed_proof_is_false_but_its_end_holds(d: int) -> None:
    """Gamma((d-1)/2) >= Gamma(d/2 - 1) fails for d = 3, 4; 2/B(1/2, (d-1)/2) <= d holds."""
    assert math.gamma((d - 1) / 2) < math.gamma(d / 2 - 1)
    assert judge("VYS22/Lem3.1a", dimension=d, n_samples=2)["density factor 2/B(1/2, (d-1)/2)"].state == "met"


# Theorem 3.1 and Section 5.1 ---------------------------------------------------------------------


def test_robust_network_by_hand_and_its_radius_is_attained() -> None:
    X = 4.0 * np.eye(16)[:3]
    verdict = judge("VYS22/Thm3.1", data=Dataset(X=X, y=[1, -1, 1]))
    assert verdict["stated radius"].observed == 1.0
    sharp = judge("VYS22/Thm3.1-sharp", data=Dataset(X=X, y=[1, -1, 1]))
    assert sharp["(1 - c)/2 sqrt(d)"].observed == 2.0
    made = mf.robustness.one_neuron_per_sample(X, [1, -1, 1]).network
    assert made(X[:1] * (1 - 2.0 / 4.0))[0] == pytest.approx(0.0, abs=1e-12)


def test_one_sided_correlation_is_all_that_theorem_3_1_uses() -> None:
    """Opposite samples have correlation -1: excluded by the printed hypothesis, harmless in the proof."""
    X = np.array([[2.0, 0, 0, 0], [-2.0, 0, 0, 0]])
    data = Dataset(X=X, y=[1, -1])
    assert judge("VYS22/Thm3.1", data=data).outcome == "not applicable"
    assert judge("VYS22/Thm3.1", data=data, c_corr=0.0).outcome == "holds"


def test_worked_example_of_section_5_1() -> None:
    verdict = judge("VYS22/Sec5.1", dimension=100)
    assert verdict["||z||"].observed == pytest.approx(2 * math.sqrt(2), rel=1e-12)
    assert verdict["KKT stationarity of N'"].observed > 0.1, "N' is not a KKT point"
    assert verdict["allowed m of Theorem 4.1"].observed < 100


# Theorem 4.1 -------------------------------------------------------------------------------------


def literal_size(d: int, m: int) -> float:
    """||z|| on m orthogonal samples, the smaller class rounded down."""
    return sum(vys22_steps(float(d), float(m), 0.0, float(m // 2), "literal")) * math.sqrt(m * d)


@pytest.mark.parametrize(("d", "size"), [(50, 9.18), (100, 8.98), (1000, 8.69)])
def test_size_of_z_on_orthogonal_samples(d: int, size: float) -> None:
    m = (d + 1) // 3
    assert literal_size(d, m) == pytest.approx(size, abs=0.005)
    if d < 1000:
        assert judge("VYS22/LemC.9", data=orthogonal_point(d, m).data)["||z|| / sqrt(d)"].observed == pytest.approx(
            size / math.sqrt(d), abs=1e-3
        )


def test_where_z_becomes_shorter_than_the_data_and_than_the_robust_radius() -> None:
    first = next(d for d in range(5, 500) if literal_size(d, (d + 1) // 3) < math.sqrt(d))
    assert (first, (first + 1) // 3) == (77, 26)
    for share, start in ((2, 305), (4, 1205)):
        short = [literal_size(d, (d + 1) // 3) < math.sqrt(d) / share for d in range(start - 1, 4000)]
        assert all(short[1:])
        assert not short[0]


def test_big_o_constant_needs_thousands_of_samples() -> None:
    """18 sqrt(2) sqrt(d/m) / c < sqrt(d) exactly for m > 2592 at c = 1/2."""
    assert (18 * math.sqrt(2) / 0.5) ** 2 == pytest.approx(2592)
    assert 18 * math.sqrt(2) / 0.5 * math.sqrt(3) == pytest.approx(88, abs=0.5)


@pytest.mark.parametrize(("d", "literal", "sharp"), [(1000, 3.4, 1.53), (10_000, 2.1, 1.08), (100_000, 1.3, 0.69)])
def test_size_of_z_on_random_samples_at_the_largest_allowed_size(d: int, literal: float, sharp: float) -> None:
    """||z|| / sqrt(d), medians over draws of an independent simulation, to 10 %."""
    found: dict[str, list[float]] = {"literal": [], "sharp": []}
    for seed in range(25):
        X = GramReduction(Sphere(dimension=d)).sample(60, seed=seed).X
        gram = np.abs(X @ X.T) - d * np.eye(60)
        m = next(m for m in range(1, 60) if m + 1 > (d + 1) / (3 * (gram[: m + 1, : m + 1].max() + 1)))
        if m < 2:
            continue
        y = np.where(np.arange(m) < m // 2, 1.0, -1.0)
        setting = Setting(X=X[:m], y=y, d=d)
        for form, sizes in found.items():
            steps = vys22_steps(float(d), float(m), setting.p, float(setting.n_least), form)
            sizes.append(sum(steps) * setting.u_norm / math.sqrt(d))
    assert np.median(found["literal"]) == pytest.approx(literal, rel=0.1)
    assert np.median(found["sharp"]) == pytest.approx(sharp, rel=0.1)


def test_orthogonal_preset_at_dimension_1000() -> None:
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(orthogonal_point(1000, 332))
    assert verdict["||z||, literal"].observed == pytest.approx(8.66, abs=0.03)
    assert verdict["||z||, sharp"].observed == pytest.approx(4.6, abs=0.03)
    assert verdict["||z||, exact"].observed == pytest.approx(math.sqrt(1000 / 332), rel=1e-9)


def test_lemma_c2_and_c6_on_sixteen_samples_of_each_class() -> None:
    verdict = theory.statement("VYS22/LemC.2").judge_instance(orthogonal_preset())
    assert verdict["S+"].observed == pytest.approx(0.1600, abs=5e-5)
    assert verdict["S+"].bound == pytest.approx(0.1368, abs=5e-5)
    assert verdict["S+, sharp"].bound == pytest.approx(0.1379, abs=5e-5)
    opened = theory.statement("VYS22/LemC.6").judge_instance(orthogonal_preset())
    assert opened["J-: pre-activation at x_i - eta_1 u"].observed == pytest.approx(0.26, abs=0.005)


def test_lemma_c4_is_an_equality_on_orthogonal_samples() -> None:
    verdict = theory.statement("VYS22/LemC.4").judge_instance(orthogonal_preset())
    for check in verdict.conclusions:
        assert check.slack == pytest.approx(0.0, abs=1e-13)


def test_margins_of_longer_samples() -> None:
    margins = with_longer_samples(1.5, 3.0).certificate.margins
    assert margins[-2:] == pytest.approx([1.44, 2.76], abs=0.005)
    assert margins[-2:] == pytest.approx([a - (a - 1) * 16 / 132 for a in (1.5, 3.0)], rel=1e-12)


# Derived tools ------------------------------------------------------------------------------------


def test_closed_form_on_33_samples() -> None:
    verdict = judge("VYS22/X.orthKKT", data=orthogonal_point(100, 33).data)
    assert verdict.outcome == "holds"
    assert verdict["||theta||^2"].observed == pytest.approx(1.5205, abs=5e-5)
    assert verdict["flip size"].observed == pytest.approx(1.741, abs=5e-4)


def test_closed_form_reaches_beyond_the_theorem() -> None:
    """m = d is outside A.msize; the flip size is then exactly 1."""
    verdict = judge("VYS22/X.orthKKT", data=orthogonal_point(20, 20).data)
    assert verdict.outcome == "holds"
    assert verdict["flip size"].observed == pytest.approx(1.0, rel=1e-9)


def trained(data: Dataset, *, scale: float, every: int = 5) -> TwoLayer:
    start = TwoLayer.initialise(20, data.dimension, law=initialisation.VYS22Start(), scale=scale, seed=0)
    network = mf.train(start, data, recipes.VYS22(every=every)).network
    assert isinstance(network, TwoLayer)
    return network


def test_a_trained_network_is_certified_to_be_flipped() -> None:
    """Small initialisation, width 20, 32 orthogonal samples: a prototype found -0.154 and -1.32, with E = 0.008."""
    data = Orthogonal(dimension=100).sample(32)
    verdict = judge("VYS22/X.cert", trained(data, scale=0.01), data)
    assert verdict.outcome == "holds"
    assert verdict["E+"].observed == pytest.approx(0.008, abs=0.004)
    assert verdict["certified bound, flip z"].observed == pytest.approx(-0.154, abs=0.02)
    assert verdict["certified bound, literal z"].observed == pytest.approx(-1.32, abs=0.03)
    assert verdict["y_i N(x_i - y_i z), flip z"].observed == pytest.approx(-1.33, abs=0.02)
    assert verdict["y_i N(x_i - y_i z), literal z"].observed == pytest.approx(-2.50, abs=0.02)


def test_with_default_initialisation_the_certificate_says_nothing() -> None:
    data = Orthogonal(dimension=100).sample(32)
    verdict = judge("VYS22/X.cert", trained(data, scale=1.0), data)
    assert verdict.outcome == "vacuous"
    assert verdict["E+"].observed > 0.5


def test_certificate_on_random_samples() -> None:
    """Four random samples in dimension 1000; a prototype with p = 59 found -0.059 and -1.13."""
    data = GramReduction(Sphere(dimension=1000, labels="balanced")).sample(4, seed=1)
    verdict = judge("VYS22/X.cert", trained(data, scale=0.01), data)
    assert verdict.outcome == "holds"
    assert verdict["certified bound, literal z"].observed < -1.0


def test_steps_of_the_recipe_are_predicted() -> None:
    """d = m = width = 50, a rate that grows every fifth step: 3795 steps, here as in a prototype."""
    instance = recipe_run(50, 50, 50, every=5)
    assert instance.run is not None
    assert instance.run.steps == pytest.approx(3795, abs=10)
    verdict = theory.statement("VYS22/X.iters").judge_instance(instance)
    assert abs(verdict["relative difference"].observed) < 3e-3


def test_floor_of_default_initialisation() -> None:
    """10 samples in dimension 100, width 50: no multipliers below 0.4; a prototype (another draw) found 0.405."""
    verdict = theory.statement("VYS22/X.floor").judge_instance(recipe_run(100, 10, 50, every=2))
    assert verdict["floor"].observed == pytest.approx(0.405, rel=0.1)
    assert verdict["sqrt((k/3)(1 - m/d)) / ||theta_T||"].observed == pytest.approx(verdict["floor"].observed, rel=0.03)
    assert verdict["mean of v_j^2 - ||(w_j, b_j)||^2 at the start"].observed == pytest.approx(-1 / 3, abs=0.02)


def test_tight_constant_and_uniqueness_on_orthogonal_samples() -> None:
    tight = theory.statement("VYS22/OQ7")
    verdict = tight.judge_instance(tight.example())
    assert verdict["largest exact flip / printed ||z||"].observed == pytest.approx(1.73 / 8.66, abs=0.002)
    unique = theory.statement("VYS22/OQ9")
    assert unique.judge_instance(unique.example())["largest difference from the closed form"].observed < 1e-9


def test_a_kkt_point_need_not_be_a_local_minimum() -> None:
    """Quoted after Theorem 2.1: one neuron per sample is a KKT point, and a cheaper network lies beside it."""
    X = np.array([[2.0, 0.0], [-0.5, 3.0]])  # <x_1, x_2> = -1: each sample is on the kink of the other neuron
    data = Dataset(X=X, y=[1, 1])
    point = mf.limit.specialist(data)
    instance = theory.Instance(network=point.network, data=data)
    assert theory.statement("VYS22/A.KKT").judge_instance(instance).outcome == "holds"
    assert mf.certificates.minimality(point.network, data).verdict == "not a local minimum"
