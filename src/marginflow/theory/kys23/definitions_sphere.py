r"""[KYS23, Section 2] Uniform points on the unit sphere with noisy labels."""

import math
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
from scipy import special

from marginflow.data import GramReduction, NoisySphere
from marginflow.data.noisy_sphere import NoiseCount
from marginflow.theory.frame import Findings, Instance, at_least, at_most, below, equal, require, stated, value
from marginflow.theory.kys23.definitions_line import distance_to_law
from marginflow.theory.kys23.unit_sphere import SphereSample, log_binomial_tail, noisy_sphere

# The chance with which each of the three tests may reject a sample that is as it should be.
_REJECTION: Final = 1e-6


@cache
def noisy_sample(m: int, p: float, d: int, *, count: NoiseCount = "bernoulli") -> Instance:
    """m samples of the noisy sphere in reduced coordinates, with their law."""
    law = GramReduction(NoisySphere(dimension=d, p=p, count=count))
    return Instance(name=f"{m} samples in dimension {d}, p = {p:g}", law=law, data=law.sample(m))


def _one_orthant() -> Instance:
    law = NoisySphere(dimension=50, p=0.1)
    data = law.sample(200)
    return Instance(name="200 points of the positive orthant", law=law, data=replace(data, X=np.abs(data.X)))


@stated(
    id="KYS23/Set.Sphere",
    number="Section 2, the data",
    meaning="Inputs are uniform on the unit sphere; labels are -1 with probability p < 1/2, independently of them.",
    formula=r"x_i \sim \mathrm{Unif}(S^{d-1}), \quad (x_i^\top x_l)^2 \sim "
    r"\mathrm{Beta}\left(\tfrac12, \tfrac{d-1}{2}\right), \quad |I_-| \sim \mathrm{Bin}(m, p)",
    needs=("law", "data"),
    example=lambda: noisy_sample(200, 0.1, 10**12),
    control=_one_orthant,
    control_shows="points of one orthant have positive inner products",
    remark="The proof of Theorem 4.1 switches the test law to N(0, I/d) without saying so. At m = 100 the realised "
    "noise rate fluctuates by 0.05: curves over p need count='exact', or the realised rate beside p.",
)
def sphere(instance: Instance) -> Findings:
    """Norms, the exact law of the inner products along the chain x_1, x_2, ..., and the number of negative labels.

    x_i . x_{i+1} are independent of each other, for each is given x_i uniform whatever x_i is; so the deviation of
    their empirical distribution function obeys the bound of Dvoretzky, Kiefer, Wolfowitz and Massart.
    """
    law = noisy_sphere(instance.the_law())
    sample = SphereSample(instance.the_data())
    d, m, k = sample.d, sample.m, sample.k
    hypotheses = (
        below("p", law.p, 0.5),
        equal("dimension of the data", d, law.dimension),
        at_least("samples", m, 2),
        at_least("d", d, 2),
    )
    require(hypotheses, "no law to compare with")
    signed = np.clip(np.diagonal(sample.gram, offset=1), -1.0, 1.0)
    squares = np.sort(special.betainc(0.5, (d - 1) / 2, np.minimum(signed**2, 1.0)) * np.sign(signed))
    deviation = distance_to_law((1 + squares) / 2)  # the distribution function of x_i . x_{i+1} at its own values
    allowed = math.sqrt(math.log(2 / _REJECTION) / (2 * (m - 1)))
    many, few = log_binomial_tail(k - 1, m, law.p), math.log(max(-math.expm1(log_binomial_tail(k, m, law.p)), 1e-300))
    level = math.log(_REJECTION / 2)
    return Findings(
        value("|I_-| / m", k / m),
        value("standard deviation of |I_-| / m", math.sqrt(law.p * (1 - law.p) / m)),
        value("rho", sample.rho),
        hypotheses=hypotheses,
        claims=(
            sample.unit_norms(),
            at_most("deviation of x_i . x_{i+1} from their law", deviation, allowed, vacuous=allowed >= 1),
            at_least("ln P(Bin(m, p) >= |I_-|)", many, level),
            at_least("ln P(Bin(m, p) <= |I_-|)", few, level),
        ),
    )
