import numpy as np
import pytest
from scipy import linalg, stats

from marginflow.data import isotropic
from marginflow.data.isotropic import AbstractIsotropicLaw, isotropic_law
from marginflow.errors import InputError

LAWS = {
    **isotropic.LAWS,
    "l1.5 ball": isotropic.LpBall(p=1.5),
    "l7 ball": isotropic.LpBall(p=7.0),
    "l20 ball": isotropic.LpBall(p=20.0),
    "weibull 1e4": isotropic.Weibull(shape=1e4),
    "gamma 1": isotropic.Gamma(shape=1.0),
    "weibull 1": isotropic.Weibull(shape=1.0),
    "weibull 5": isotropic.Weibull(shape=5.0),
    "beta 1 1": isotropic.Beta(a=1.0, b=1.0),
    "beta 4 2": isotropic.Beta(a=4.0, b=2.0),
}

# Coordinate laws in scipy's words, before centring and scaling.
COORDINATES = {
    "gaussian": stats.norm(),
    "laplace": stats.laplace(),
    "logistic": stats.logistic(),
    "cube": stats.uniform(),
    "exponential": stats.expon(),
    "gumbel": stats.gumbel_r(),
    "gamma": stats.gamma(2.0),
    "gamma 1": stats.expon(),
    "weibull": stats.weibull_min(2.0),
    "weibull 5": stats.weibull_min(5.0),
    "beta": stats.beta(1.0, 2.0),
    "beta 4 2": stats.beta(4.0, 2.0),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("dimension", [1, 4])
def test_mean_zero_and_covariance_identity(name: str, dimension: int) -> None:
    n = 20_000
    Z = LAWS[name].draw(n, dimension, np.random.default_rng(11))
    assert Z.shape == (n, dimension)
    products = Z[:, :, None] * Z[:, None, :]
    for moment, wanted in ((Z, np.zeros(dimension)), (products, np.eye(dimension))):
        deviation = moment.std(axis=0) / np.sqrt(n)
        assert (np.abs(moment.mean(axis=0) - wanted) < 4.5 * deviation + 1e-12).all()


@pytest.mark.parametrize("name", COORDINATES)
def test_coordinates_follow_the_standardised_law(name: str) -> None:
    reference = COORDINATES[name]
    z = LAWS[name].draw(4000, 1, np.random.default_rng(12))[:, 0]
    standard = stats.kstest(z * reference.std() + reference.mean(), reference.cdf)
    assert standard.pvalue > 1e-3


def test_negative_exponential_is_the_mirror_image() -> None:
    first = LAWS["exponential"].draw(5, 3, np.random.default_rng(0))
    second = LAWS["negative-exponential"].draw(5, 3, np.random.default_rng(0))
    assert np.array_equal(first, -second)


@pytest.mark.parametrize("name", LAWS)
def test_symmetry_is_as_declared(name: str) -> None:
    if name == "beta 1 1":
        return  # symmetric by chance of its parameters; the class as a whole is not
    z = LAWS[name].draw(20_000, 2, np.random.default_rng(13))
    skewness = (z**3).mean(axis=0)
    deviation = (z**3).std(axis=0) / np.sqrt(20_000)
    seen = bool((np.abs(skewness) > 4.5 * deviation).any())
    assert seen == (not LAWS[name].symmetric)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 7.0])
@pytest.mark.parametrize("dimension", [1, 3, 20])
def test_the_p_norm_of_a_uniform_point_in_the_ball(p: float, dimension: int) -> None:
    # (||z||_p / r)^d is uniform on [0, 1]; r follows from the largest possible norm.
    z = isotropic.LpBall(p=p).draw(3000, dimension, np.random.default_rng(14))
    norms = (np.abs(z) ** p).sum(axis=1) ** (1 / p)
    radius = norms.max()
    if p == 2.0:
        assert radius < np.sqrt(dimension + 2)
        radius = np.sqrt(dimension + 2)
    assert stats.kstest((norms / radius) ** dimension, stats.uniform().cdf).pvalue > 1e-3


def test_the_radius_of_the_radial_exponential_is_gamma() -> None:
    d = 6
    z = LAWS["radial-exponential"].draw(3000, d, np.random.default_rng(15))
    radius = np.linalg.norm(z, axis=1)
    assert stats.kstest(radius * np.sqrt(d + 1), stats.gamma(d).cdf).pvalue > 1e-3
    assert stats.kstest((z[:, 0] / radius) ** 2, stats.beta(0.5, (d - 1) / 2).cdf).pvalue > 1e-3


def test_the_simplex_has_barycentric_coordinates_with_the_dirichlet_law() -> None:
    d = 4
    z = LAWS["simplex"].draw(3000, d, np.random.default_rng(16))
    basis = linalg.helmert(d + 1)  # scipy's orthonormal basis of the plane sum t = 0
    parts = z @ basis / np.sqrt((d + 1) * (d + 2)) + 1 / (d + 1)
    assert parts.min() > 0
    np.testing.assert_allclose(parts.sum(axis=1), 1.0, rtol=1e-13)
    for part in range(d + 1):
        assert stats.kstest(parts[:, part], stats.beta(1, d).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: isotropic_law("student-t"), "tails are polynomial"),
        (lambda: isotropic_law("hypercube"), "no density"),
        (lambda: isotropic_law("separated-mixture"), "several modes"),
        (lambda: isotropic_law("anisotropic"), "covariance is not a multiple"),
        (lambda: isotropic.Gamma(shape=0.5), "log-concave only for shape >= 1"),
        (lambda: isotropic.Weibull(shape=0.9), "log-concave only for shape >= 1"),
        (lambda: isotropic.Beta(a=0.5, b=2.0), "log-concave only for a >= 1"),
        (lambda: isotropic.Beta(a=2.0, b=0.5), "log-concave only for b >= 1"),
        (lambda: isotropic.LpBall(p=0.5), "not convex"),
        (lambda: isotropic.LpBall(p=float("inf")), "p is inf"),
        (lambda: isotropic.LpBall(p=21.0), "limit of large p is 'cube'"),
        (lambda: isotropic.Weibull(shape=1e9), "at most 10000"),
        (lambda: isotropic.Gamma(shape=float("nan")), "shape is nan"),
        (lambda: isotropic.Gamma(shape=-1.0), "shape is -1"),
        (lambda: isotropic.ExponentialCoordinates(sign=2), "sign is 2"),
        (lambda: isotropic_law("cauchy"), "is expected"),
        (lambda: isotropic_law(3), "is expected"),
    ],
)
def test_laws_outside_the_theory_are_refused_with_the_reason(make: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        make()


def test_every_law_is_reachable_by_a_word_or_as_itself() -> None:
    for word, law in isotropic.LAWS.items():
        assert isotropic_law(word) is law
        assert isotropic_law(law) is law
        assert isinstance(law, AbstractIsotropicLaw)
