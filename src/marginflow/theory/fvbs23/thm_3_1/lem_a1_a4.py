r"""[FVBS23, Lemmas A.1 to A.4]: Gaussian tails behind the properties of a sample."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import optimize, special

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.theory.frame import Erratum, Findings, Instance, above, at_most, equal, stated, value
from marginflow.theory.probability import log_chi_square_tail, log_two_sided_gaussian_tail


def log_noise_norm_tail(d: int, stretch: float = 1.0) -> float:
    """ln P(||xi|| >= sigma sqrt(2d)) = ln P(chi^2_d >= 2d); `stretch` times as long, the noise has a thicker tail."""
    return log_chi_square_tail(2.0 * d / stretch**2, d)


def log_component_tail(d: int, stretch: float = 1.0) -> float:
    """ln P(|g| >= ln d) for a normal g of standard deviation `stretch`."""
    return log_two_sided_gaussian_tail(math.log(d) / stretch)


def log_inner_product_tail(d: int, stretch: float = 1.0) -> float:
    r"""ln P(|<xi, xi'>| >= sigma^2 sqrt(2d) ln d): the mean of erfc(sqrt(d) ln(d) / R) over R^2 ~ chi^2_d.

    In s = ln R^2 the integrand is smooth with one peak and falls off at least like a Gaussian near it, so that the
    trapezoidal rule over 40 widths of the peak is exact to rounding.
    """
    L = math.log(d) / stretch**2

    def log_integrand(s: FloatArray) -> FloatArray:
        t = np.exp(s)
        density = (d / 2) * s - t / 2 - (d / 2) * math.log(2) - special.gammaln(d / 2)
        tail: FloatArray = density + math.log(2) + special.log_ndtr(-math.sqrt(2 * d) * L / np.sqrt(t))
        return tail

    peak = float(
        optimize.minimize_scalar(
            lambda s: -float(log_integrand(np.array([s]))[0]),
            bounds=(math.log(d) - 1, math.log(d) + 6),
            method="bounded",
            options={"xatol": 1e-10},
        ).x
    )
    width = math.sqrt(2 / d)
    grid = peak + width * np.linspace(-20, 20, 4001)
    logs = log_integrand(grid)
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()) * float(grid[1] - grid[0]))


def _tail(
    instance: Instance, name: str, exact: Callable[[int, float], float], bound: Callable[[int], float]
) -> Findings:
    """exact(d) <= bound(d), both logarithms; a bound of at least 0 says nothing. Reached on a sweep of dimensions."""
    d = instance.whole("dimension")
    stretch = instance.number("stretch", 1.0)
    if d < 2 or not stretch > 0 or stretch**2 == 0:
        raise InputError(f"dimension is {d} and stretch {stretch:g}; at least 2 and a positive number are expected.")
    claimed, found = bound(d), exact(d, stretch)
    return Findings(
        value(f"{name}, exact", math.exp(found)),
        value("gap of the logarithms", claimed - found),
        hypotheses=(
            above("ln d", math.log(d), 0.0, tolerance=0.0),
            equal("standard deviation of the noise / sigma", stretch, 1.0),
        ),
        claims=(at_most(f"ln {name}", found, claimed, vacuous=claimed >= 0),),
    )


def _half_square(d: int) -> float:
    return math.log(2) - math.log(d) ** 2 / 2


def _at(dimension: int, **more: float) -> Callable[[], Instance]:
    return lambda: Instance(name=f"d = {dimension}", parameters={"dimension": dimension, **more})


_tail_bound = partial(
    stated,
    needs=("parameters",),
    parameters={"dimension": "d", "stretch": "standard deviation of the noise over sigma; 1 as in the paper"},
    example=_at(549),
    control=_at(549, stretch=2.0),
    control_shows="the noise is two times as long as sigma says",
)


@_tail_bound(
    id="FVBS23/LemA.1",
    meaning="Gaussian noise is rarely longer than sigma sqrt(2d).",
    formula=r"\Pr[\|\xi\| \ge \sigma \sqrt{2d}] \le e^{-d/16}",
    control=_at(549, stretch=1.5),
    control_shows="the noise is 1.5 times as long as sigma says",
    printed=r"e^{-d/16}",
    sharp=r"\Pr[\chi^2_d \ge 2d] = e^{-(1 - \ln 2) d/2 + o(d)}",
    remark="The constant 1/16 = 0.0625 could be (1 - ln 2)/2 = 0.153.",
)
def lemma_a1(instance: Instance) -> Findings:
    """The exact chi-square tail against the bound."""
    return _tail(instance, "P(||xi|| >= sigma sqrt(2d))", log_noise_norm_tail, lambda d: -d / 16)


@_tail_bound(
    id="FVBS23/LemA.2",
    meaning="Noise rarely has a component of more than sigma ln d along a fixed vector.",
    formula=r"\Pr[|\langle a, \xi' \rangle| \ge \|a\| \sigma \ln d] \le 2 d^{-\ln(d)/2}",
    printed=r"2 d^{-\ln(d)/2}",
    sharp=r"\mathrm{erfc}\left(\frac{\ln d}{\sqrt{2}}\right)",
    remark="The vector a must not be zero, or the event is certain.",
    errata=Erratum.slip("The vector a may not be zero, or the event is certain.", repair="a not zero"),
)
def lemma_a2(instance: Instance) -> Findings:
    """The exact Gaussian tail against the bound."""
    return _tail(instance, "P(|<a, xi>| >= ||a|| sigma ln d)", log_component_tail, _half_square)


@_tail_bound(
    id="FVBS23/LemA.3",
    meaning="Two independent noises are nearly orthogonal.",
    formula=r"\Pr[|\langle \xi, \xi' \rangle| \ge \sigma^2 \sqrt{2d} \ln d] \le e^{-d/16} + 2 d^{-\ln(d)/2}",
    printed=r"e^{-d/16} + 2 q_d",
    sharp=r"\mathbb{E}_{R^2 \sim \chi^2_d}\ \mathrm{erfc}\left(\frac{\sqrt{d} \ln d}{R}\right)",
    remark="The factor sqrt 2 in the threshold is not needed: ||xi|| is near sigma sqrt(d), so that the exact tail "
    "is about the square of the bound.",
)
def lemma_a3(instance: Instance) -> Findings:
    """The exact tail of the inner product against the bound."""
    return _tail(
        instance,
        "P(|<xi, xi'>| >= sigma^2 sqrt(2d) ln d)",
        log_inner_product_tail,
        lambda d: float(np.logaddexp(-d / 16, _half_square(d))),
    )


@_tail_bound(
    id="FVBS23/LemA.4",
    meaning="Noise is nearly orthogonal to a mean.",
    formula=r"\Pr[|\langle \mu^{(i)}, \xi \rangle| \ge \sigma \sqrt{d} \ln d] \le 2 d^{-\ln(d)/2}",
    example=_at(3382),
    control=_at(3382, stretch=2.0),
    printed=r"2 q_d",
    remark="Lemma A.2 with ||mu|| = sqrt(d). In dimension 3 the bound is 1.09 and says nothing.",
)
def lemma_a4(instance: Instance) -> Findings:
    """The exact Gaussian tail against the bound, for a mean."""
    return _tail(instance, "P(|<mu, xi>| >= sigma sqrt(d) ln d)", log_component_tail, _half_square)
