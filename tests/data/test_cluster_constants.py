from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

from marginflow.data import ClusterConstants, Clusters, GramReduction, most_clusters, smallest_dimension
from marginflow.errors import InputError

EPS = float(np.finfo(np.float64).eps)

NOISE = ["1/sqrt(d)", 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3, 1]

# Smallest dimensions computed independently of this code, for the noise levels above.
ORTHOGONAL = {
    2: [549, 20, 21, 38, 837, 5_205, 81_192, 1_415_388],
    3: [869, 30, 32, 76, 2_382, 14_091, 207_476, 3_489_882],
    4: [1_203, 40, 44, 131, 4_943, 28_349, 403_373, 6_636_514],
    6: [1_902, 60, 68, 301, 13_602, 75_167, 1_026_749, 16_435_421],
    10: [3_382, 101, 121, 957, 47_518, 252_795, 3_310_940, 51_460_043],
    20: [7_358, 206, 274, 5_102, 250_063, 1_278_470, 16_010_002, 240_767_482],
    50: [20_384, 528, 912, 47_577, 2_133_274, 10_497_246],
    100: [43_791, 1_092, 2_608, 249_602, 10_474_495, 50_434_251],
}
TYPICAL = {
    2: [1_571, 595, 618, 894, 3_362, 10_267, 98_132, 1_481_259],
    4: [10_853, 8_056, 8_296, 10_984, 30_278, 74_719, 546_439, 7_171_890],
    10: [99_264, 90_471, 92_989, 120_794, 308_574, 713_370, 4_671_215, 56_410_054],
    20: [496_469, 477_063, 490_247, 635_267, 1_596_980, 3_624_290, 22_809_991],
}
GUARANTEED = {
    2: [48_374, 51_083, 108_459, 2_324_214],
    4: [251_565, 271_508, 556_856, 10_931_428],
    10: [2_136_119, 2_326_470, 4_645_707, 84_639_695],
}


@pytest.mark.parametrize("k", ORTHOGONAL)
def test_smallest_dimensions_for_orthogonal_means(k: int) -> None:
    assert [smallest_dimension(k, s) for s in NOISE[: len(ORTHOGONAL[k])]] == ORTHOGONAL[k]


@pytest.mark.parametrize("k", TYPICAL)
def test_smallest_dimensions_for_typical_random_means(k: int) -> None:
    found = [smallest_dimension(k, s, "sphere typical") for s in NOISE[: len(TYPICAL[k])]]
    assert found == TYPICAL[k]


@pytest.mark.parametrize("k", GUARANTEED)
def test_smallest_dimensions_for_random_means_with_a_guarantee(k: int) -> None:
    levels = ("1/sqrt(d)", 0.01, 0.1, 1)
    assert [smallest_dimension(k, s, "sphere guaranteed") for s in levels] == GUARANTEED[k]


def test_the_threshold_is_sharp_and_final() -> None:
    d = smallest_dimension(3, 0.05)
    slacks = [Clusters(dimension=size, n_clusters=3, sigma=0.05).constants.slack for size in (d - 1, d, d + 1, 2 * d)]
    assert slacks[0] < 0 <= slacks[1] < slacks[2] < slacks[3]


def test_most_clusters_inverts_the_assumption() -> None:
    # Random means with p = sqrt(d) ln d and sigma = 1: none below d = 10^6.
    sizes = [10**power for power in range(3, 9)]
    assert [most_clusters(d, 1, p=sqrt(d) * log(d)) for d in sizes] == [0, 0, 0, 1, 3, 10]
    assert [most_clusters(10**power) for power in (3, 4, 5, 6)] == [3, 26, 212, 1777]
    assert most_clusters(548) == 1
    assert most_clusters(549) == 2


def test_without_noise_the_assumption_is_a_fraction() -> None:
    # sigma = 0, p = 0: k (0 + 0 + 1) <= (d + 1) / 10 exactly.
    constants = Clusters(dimension=199, n_clusters=20, sigma=0.0).constants
    assert constants.Delta == 0.0
    assert Fraction(constants.slack) == 0
    assert constants.c_prime == pytest.approx(0.1, rel=50 * EPS)
    assert not constants.holds()  # sigma = 0 is outside the assumption


def test_the_numbers_of_a_hand_computed_case() -> None:
    # d = e^2 is not whole, so take d = 100: Delta = 4 * 0.01 * 10 * ln 100.
    constants = ClusterConstants.from_gram([[100.0, -3.0], [-3.0, 100.0]], [1, -1], sigma=0.01, dimension=100)
    Delta = 0.4 * log(100)
    assert constants.p == 3.0
    assert constants.balance == 0.5
    assert constants.Delta == pytest.approx(Delta, rel=50 * EPS)
    assert constants.c_prime == pytest.approx(2 * (4 + Delta) / (101 - Delta), rel=50 * EPS)
    assert constants.slack == pytest.approx((101 - Delta) / 10 - 2 * (4 + Delta), rel=50 * EPS)
    assert constants.log_q == pytest.approx(-(log(100) ** 2) / 2, rel=50 * EPS)
    assert not constants.holds()


def test_the_limit_of_equicorrelated_means() -> None:
    # p_max / d for k = 2 and sigma = 0.01, from p_max = (d - Delta + 1)/(10 k) - Delta - 1.
    for d, share in ((10**3, 0.040), (10**4, 0.046), (10**5, 0.0485), (10**6, 0.0494)):
        allowed = [
            r
            for r in np.arange(0, 0.06, 0.0001)
            if Clusters(
                dimension=d, n_clusters=2, sigma=0.01, means="equicorrelated", correlation=float(r)
            ).constants.slack
            >= 0
        ]
        assert max(allowed) == pytest.approx(share, abs=6e-4)
    assert smallest_dimension(3, "1/sqrt(d)", "equicorrelated", correlation=0.02) < 10**4


def test_sphere_means_in_a_trillion_dimensions() -> None:
    # d = 1e12, k = 800, sigma = 1: slack 7.8e9 and c' = 0.092 were found in an independent draw.
    law = Clusters(dimension=10**12, n_clusters=800, sigma=1.0, means="sphere")
    assert law.constants.c_prime == pytest.approx(0.092, abs=5e-4)
    assert law.constants.slack == pytest.approx(7.8e9, rel=0.06)
    assert law.constants.holds()
    assert GramReduction(law).sample(800, seed=0).X.shape == (800, 1600)


def test_given_means_of_other_norms_are_reported() -> None:
    constants = Clusters(dimension=2, means=[[sqrt(2), 0.0], [0.0, 1.1 * sqrt(2)]], sigma=0.1).constants
    assert constants.norm_defect == pytest.approx(0.1)
    assert not constants.holds()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: smallest_dimension(1), "n_clusters is 1"),
        (lambda: smallest_dimension(2, -1.0), "sigma is -1"),
        (lambda: smallest_dimension(2, "d"), "sigma is 'd'"),
        (lambda: smallest_dimension(2, 0.1, "grid"), "layout is 'grid'"),
        (lambda: smallest_dimension(2, 0.1, "orthogonal", correlation=0.1), "has none"),
        (lambda: smallest_dimension(2, 0.1, "equicorrelated", correlation=0.05), "below 1/"),
        (lambda: smallest_dimension(2, 1e40), "no dimension that float64 resolves"),
        (lambda: most_clusters(0), "dimension is 0"),
        (lambda: most_clusters(10, p=-1.0), "p is -1"),
        (lambda: ClusterConstants.from_gram(np.eye(2), [1, 0], sigma=1.0, dimension=2), "labels must be"),
    ],
)
def test_bad_questions_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
