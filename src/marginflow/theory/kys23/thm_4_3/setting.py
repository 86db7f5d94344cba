r"""The letters of [KYS23, Appendix B.2]: KKT points with n outputs frozen at +1 and -1, half of each.

w_j = v_j sum_i lambda_i sigma'_ij y_i x_i and b_j = v_j sum_i lambda_i sigma'_ij y_i with Clarke weights sigma'_ij; the
proofs use sigma' = 1 only where a neuron is strictly active, so they hold with Clarke weights as they stand. What they
ask of d enters only through rho = max |x_i . x_l| <= sqrt(2 ln(2m^2/delta)/d), which is measured here.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Check, Instance, at_least, at_most, is_kkt_point, require, true
from marginflow.theory.kys23.unit_sphere import SphereSample

NOISE: Final = 1 / 22
"""c_1: |I_-| <= m / (22 n^2)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Frozen:
    """A network with frozen outputs at margin 1, its multipliers, and its sample."""

    sample: SphereSample
    network: TwoLayer
    lam: FloatArray
    b: FloatArray

    @property
    def n(self) -> int:
        """Width."""
        return self.network.width

    @property
    def B(self) -> float:
        """sum of b_j over v_j = 1 minus the sum over v_j = -1."""
        return math.fsum(self.network.v * self.b)

    @property
    def mn(self) -> int:
        """m n."""
        return self.sample.m * self.n

    @property
    def scale(self) -> float:
        """Size of the numbers that are compared: the largest bias or multiplier."""
        return float(max(np.abs(self.b).max(), self.lam.max(initial=0.0), 1.0))

    def nearly_orthogonal(self, factor: float, bound: float, name: str) -> Check:
        """factor * rho <= bound."""
        return at_most(name, factor * self.sample.rho, bound)

    def regime(self) -> tuple[Check, Check, Check]:
        """What Theorem 4.3 asks of the sample: few negative ones, enough in all, and nearly orthogonal."""
        return (
            at_most("|I_-|", self.sample.k, NOISE * self.sample.m / self.n**2, note="m / (22 n^2)"),
            at_least("m", self.sample.m, 2 * self.n),
            self.nearly_orthogonal(2 * self.mn**2, 0.5, "2 m^2 n^2 rho"),
        )

    def log_least_dimension(self, coefficient: float, power: int, delta: float) -> float:
        """ln of coefficient m^4 n^power ln(2m^2/delta), what a lemma asks of d."""
        m = self.sample.m
        return math.log(coefficient * m**4 * self.n**power * math.log(2 * m**2 / delta))


def frozen_setting(instance: Instance) -> tuple[Frozen, tuple[Check, ...]]:
    """The letters, and the hypotheses that all lemmas share; a judge ends here where margin 1 cannot be reached."""
    network, data = instance.the_network(), instance.the_data()
    sample = SphereSample(data)
    v = network.v
    halves = int((v == 1).sum()) == int((v == -1).sum()) and bool((np.abs(v) == 1).all())
    shared = (
        true("outputs frozen, half +1 and half -1", network.outputs == "frozen" and halves),
        true("hidden biases", network.b is not None),
        sample.unit_norms(),
        is_kkt_point(instance),
    )
    certificate = instance.certificate
    fitted = certificate.status != "does not separate" and network.b is not None
    require(shared, "a network with biases that separates the samples is needed", given=fitted)
    at_one = certificate.network
    assert at_one.b is not None
    return Frozen(sample=sample, network=at_one, lam=certificate.multipliers, b=at_one.b), shared
