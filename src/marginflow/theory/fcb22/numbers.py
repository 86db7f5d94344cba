"""The numbers n, d, m, sigma, eta, omega, alpha, delta of [FCB22, sec. 2.1], and the caps that (A1)-(A7) put on one C.

Every assumption but the last is an upper bound on C, and the step-size bounds C from both sides; where no C is left,
the numbers are outside the hypotheses of the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from marginflow.arrays import real_number
from marginflow.data import AbstractDistribution, XorClusters
from marginflow.data.isotropic import Normal, isotropic_law
from marginflow.errors import InputError
from marginflow.flow import Constant
from marginflow.theory.fcb22.constants import HOEFFDING
from marginflow.theory.frame import Check, Instance, above, below

DELTA: Final = 0.1
"""Failure probability where none is given."""

NUMBERS: Final = {
    "n": "number of samples, where no data are given",
    "d": "dimension, where neither data nor law are given",
    "m": "width, where no network is given",
    "sigma": "in-cluster standard deviation per coordinate, where no law is given",
    "eta": "noise rate, where neither law nor data are given",
    "omega": "standard deviation of the initial weights, where it is not to be estimated from them",
    "alpha": "step-size, where no run is given",
    "delta": "failure probability, 0.1 by default",
    "C": "the constant of (A1)-(A7); the smallest that the step-size allows by default",
}


@dataclass(frozen=True, kw_only=True)
class Numbers:
    r"""What (A1)-(A7) speak of. Sizes are floats: the literal constants ask for n beyond 10^26.

    Parameters
    ----------
    n, d, m : float
        Samples, dimension, width.
    sigma, eta, omega, alpha, delta : float
        In-cluster deviation per coordinate, noise rate, initial deviation per weight, step-size, failure probability.

    Examples
    --------
    >>> from marginflow.theory.fcb22.numbers import Numbers
    >>> numbers = Numbers.smallest(16.0, delta=0.1)
    >>> numbers.interval[0] <= 16.0 <= numbers.interval[1]
    True
    """

    n: float
    d: float
    m: float
    sigma: float
    eta: float
    omega: float
    alpha: float
    delta: float = DELTA

    def __post_init__(self) -> None:
        for name in ("n", "d", "m"):
            real_number(name, getattr(self, name), at_least=1.0)
        for name in ("sigma", "eta", "omega"):
            real_number(name, getattr(self, name), at_least=0.0)
        real_number("alpha", self.alpha, above=0.0)
        real_number("delta", self.delta, above=0.0, below=1.0)

    @classmethod
    def smallest(cls, C: float, *, delta: float = DELTA) -> Numbers:
        """The smallest sizes and the largest noise, spread and start that (A1)-(A7) allow with the constant C."""
        m = 2.0 * math.ceil(C * math.log(1 / delta) / 2)
        n = float(math.ceil(C * math.log(m / delta)))
        d = float(math.ceil(C * max(math.log(n / delta) ** 2, math.log(m / delta))))
        k = math.ceil(math.sqrt(C) / 4)
        return cls(
            n=n,
            d=d,
            m=m,
            sigma=1 / (C * math.sqrt(d)),
            eta=1 / C,
            omega=1 / (C**2 * math.sqrt(m * d)),
            alpha=1 / (4 * k),
            delta=delta,
        )

    @classmethod
    def of(cls, instance: Instance) -> Numbers:
        """From the parameters of an instance, and what they leave out from its law, data, start and run."""
        data, start = instance.data, instance.start if instance.start is not None else instance.network
        known: dict[str, float] = {"delta": DELTA}
        if data is not None:
            eta = 0.0 if data.noisy is None else float(data.noisy.mean())
            known |= {"n": data.n_samples, "d": data.full_dimension, "eta": eta}
        if instance.law is not None:
            law = clusters_of(instance.law)
            known |= {"d": law.dimension, "sigma": law.sigma_value}
            if "eta" not in instance.parameters:
                known["eta"] = noise_rate(law)
        if start is not None:
            known |= {"m": start.width, "omega": float(np.sqrt((start.W**2).mean()))}
        if instance.run is not None and isinstance(instance.run.plan.schedule, Constant):
            known["alpha"] = instance.run.plan.schedule.rate
        return cls(**{field.name: instance.number(field.name, known.get(field.name)) for field in fields(cls)})

    @property
    def sd(self) -> float:
        """Sigma sqrt(d): how far samples are from their mean."""
        return self.sigma * math.sqrt(self.d)

    @property
    def omd(self) -> float:
        """Omega sqrt(m d): the Frobenius norm of the start."""
        return self.omega * math.sqrt(self.m * self.d)

    @property
    def steps(self) -> float:
        """T = 1 + 1/(4 alpha), an integer only for alpha = 1/(4 k)."""
        return 1.0 + 1.0 / (4.0 * self.alpha)

    @property
    def noisy_share_bound(self) -> float:
        """What |N|/n is at most with probability 1 - delta: eta + sqrt(log(1/delta) / (2 n)), Lemma 4.3(c)."""
        return self.eta + HOEFFDING * math.sqrt(math.log(1 / self.delta) / self.n)

    @property
    def caps(self) -> dict[str, float]:
        """The largest C that each of (A1)-(A6) allows."""
        log_m = math.log(self.m / self.delta)
        return {
            "A1": self.d / max(math.log(self.n / self.delta) ** 2, log_m),
            "A2": self.m / math.log(1 / self.delta),
            "A3": math.inf if self.sigma == 0 else 1 / self.sd,
            "A4": self.n / log_m,
            "A5": math.inf if self.eta == 0 else 1 / self.eta,
            "A6": math.inf if self.omega == 0 else self.omd**-0.5,
        }

    @property
    def step_size_interval(self) -> tuple[float, float]:
        """(A7): [1/(4 alpha^2), 1/alpha^2]."""
        return 1 / (4 * self.alpha**2), 1 / self.alpha**2

    @property
    def interval(self) -> tuple[float, float]:
        """The C that serve all seven assumptions; empty where the first is larger than the second."""
        low, high = self.step_size_interval
        return max(1.0, low), min(high, *self.caps.values())

    @property
    def binding(self) -> str:
        """The assumption whose cap is smallest."""
        caps = {**self.caps, "A7": self.step_size_interval[1]}
        return min(caps, key=lambda name: caps[name])

    def feasible(self) -> Check:
        """Whether one C serves (A1)-(A7)."""
        low, high = self.interval
        return below(
            "smallest C against the largest, (A1)-(A7)",
            low,
            high * (1 + 1e-9),
            tolerance=0.0,
            note=f"C in [{low:.4g}, {high:.4g}], {self.binding} binds" if low <= high else f"{self.binding} binds",
        )

    def confidence(self) -> tuple[Check, Check]:
        """Delta in (0, 1/2)."""
        return above("delta", self.delta, 0.0), below("delta against 1/2", self.delta, 0.5)

    def constant(self, instance: Instance) -> float:
        """The C of the instance, or the smallest that (A7) allows."""
        return instance.number("C", self.interval[0])


def clusters_of(law: AbstractDistribution) -> XorClusters:
    """The law itself; an `InputError` where it is of another kind."""
    if not isinstance(law, XorClusters):
        raise InputError(f"The law is {type(law).__name__}; clusters of the kind XorClusters are expected.")
    return law


def has_gaussian_clusters(law: AbstractDistribution | None) -> bool:
    """Whether the clusters of a law are Gaussian; a law that is not known, or of another kind, is not asked."""
    return not isinstance(law, XorClusters) or isotropic_law(law.cluster_law) == Normal()


def noise_rate(law: XorClusters) -> float:
    """Eta = E eta(x) of the law: the rate of its noise."""
    if law.noise is None:
        return 0.0
    rate = getattr(law.noise, "rate", None)
    if rate is None:
        raise InputError(f"The noise {law.noise!r} has no rate; give the parameter eta.")
    return float(rate)
