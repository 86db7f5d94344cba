r"""The setting of [VYS22, Thm 4.1]: the numbers d, m, p, c, c', u of the samples in I, and the sums over neurons.

`Setting` knows the data only; `MarginNeurons` adds a KKT point at margin 1 with its mu_ij = lambda_i sigma'_ij. The
letters are the paper's; c is always the class balance here (the correlation bound of Thm 3.1 is c_corr).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step
from marginflow.robustness.explicit_vectors import Form, vys22_steps
from marginflow.theory.frame import Check, Instance, above, at_most, equal

P_NOISE: Final = 1e-12
"""Inner products below this times d are rounding: p = 0."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """The data side of Theorem 4.1: the samples of I, shape (m, d'), where d' < d in reduced coordinates."""

    X: FloatArray
    y: FloatArray
    d: int

    @classmethod
    def of(cls, data: Dataset, samples: BoolArray | None = None) -> Setting:
        """All samples, or those of a mask."""
        chosen = slice(None) if samples is None else samples
        return cls(X=data.X[chosen], y=data.y[chosen], d=data.full_dimension)

    @property
    def m(self) -> int:
        """|I|."""
        return int(self.y.size)

    @cached_property
    def gram(self) -> FloatArray:
        """<x_i, x_j>, shape (m, m)."""
        return self.X @ self.X.T

    @property
    def _off_diagonal(self) -> FloatArray:
        """<x_i, x_j>, i != j, shape (m (m - 1),)."""
        return self.gram[~np.eye(self.m, dtype=np.bool_)]

    @cached_property
    def p(self) -> float:
        """max_{i != j} |<x_i, x_j>|; rounding counts as zero, and so does a single sample."""
        largest = float(np.abs(self._off_diagonal).max(initial=0.0))
        return largest if largest > P_NOISE * self.d else 0.0

    @property
    def largest_cosine(self) -> float:
        """max_{i != j} <x_i, x_j> / d, which may be negative; -1 for a single sample."""
        return float((self._off_diagonal / self.d).max(initial=-1.0))

    @property
    def n_plus(self) -> int:
        """|I+|."""
        return int((self.y > 0).sum())

    @property
    def n_minus(self) -> int:
        """|I-|."""
        return self.m - self.n_plus

    @property
    def n_least(self) -> int:
        """The size of the smaller class, c m."""
        return min(self.n_plus, self.n_minus)

    @property
    def c(self) -> float:
        """The balance min(|I+|, |I-|) / m, the largest that the theorem allows."""
        return self.n_least / self.m

    @property
    def c_prime(self) -> float:
        """c' = m (p + 1) / (d + 1)."""
        return self.m * (self.p + 1) / (self.d + 1)

    @property
    def allowed(self) -> float:
        """(d + 1) / (3 (p + 1)), the largest m that the theorem allows."""
        return (self.d + 1) / (3 * (self.p + 1))

    @property
    def D(self) -> float:
        """d - m p; exactly d where p = 0 (Lemma C.5 divides p by p there)."""
        return self.d - self.m * self.p

    @property
    def D_sharp(self) -> float:
        """d - (m - 1) p: the sum of Lemma C.4 skips the sample itself."""
        return self.d - (self.m - 1) * self.p

    @cached_property
    def u(self) -> FloatArray:
        """u = sum_i y_i x_i."""
        return self.y @ self.X

    @property
    def u_norm(self) -> float:
        """||u||."""
        return float(np.linalg.norm(self.u))

    @property
    def defines_z(self) -> bool:
        """Whether z = (eta_1 + eta_2) u is a vector: both classes occur, d - m p > 0 and u is not zero."""
        return self.n_least > 0 and self.D > 0 and self.u_norm > 0

    @property
    def eta_1(self) -> float:
        """(p + 1) / (d - m p)."""
        return self.steps("literal")[0]

    @property
    def eta_2(self) -> float:
        """2 (c c' + 1) (d + 1) / (m c (d - m p)); infinite where a class is empty."""
        return self.steps("literal")[1] if self.n_least else np.inf

    @property
    def eta(self) -> float:
        """eta_1 + eta_2, so that z = eta u."""
        return self.eta_1 + self.eta_2

    @property
    def z_norm(self) -> float:
        """||z||, of the vector that is printed."""
        return self.eta * self.u_norm

    def steps(self, form: Form) -> tuple[float, float]:
        """eta_1 and eta_2 of a form of z; an empty class counts as one sample."""
        return vys22_steps(float(self.d), float(self.m), self.p, float(max(self.n_least, 1)), form)

    def moved(self, network: TwoLayer, eta: float) -> FloatArray:
        """y_i N(x_i - y_i eta u), shape (m,)."""
        return self.y * network(self.X - eta * self.y[:, None] * self.u)

    def shortest_flip(self, network: TwoLayer) -> float:
        """The length of the smallest multiple of u that flips all samples at once."""
        return minimal_step(network, self.X, self.y, self.u).all_at_once * self.u_norm

    # The hypotheses, each written once -------------------------------------------------------------

    def equal_norms(self) -> Check:
        """||x_i||^2 = d for all i in I [VYS22, A.sphere]."""
        return equal("squared norms equal d", np.diag(self.gram), float(self.d))

    def balanced(self) -> Check:
        """min(|I+|, |I-|) / m = c > 0 [VYS22, A.balance]."""
        return above("class balance c", self.c, 0.0, note=f"{self.n_plus} positive, {self.n_minus} negative")

    def few_samples(self) -> Check:
        """m <= (d + 1) / (3 (p + 1)) [VYS22, A.msize]."""
        return at_most("sample size m", self.m, self.allowed, note=f"p = {self.p:.6g}, c' = {self.c_prime:.6g}")

    def hypotheses(self) -> tuple[Check, ...]:
        """Everything that Theorem 4.1 asks of the data."""
        return (self.equal_norms(), self.balanced(), self.few_samples())


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginNeurons:
    """A network at margin 1 on the samples of I: w_j . x_i + b_j and mu, shapes (m, k), v and w_j . u, shapes (k,)."""

    pre: FloatArray
    mu: FloatArray
    v: FloatArray
    w_u: FloatArray

    @classmethod
    def of(cls, instance: Instance, setting: Setting, samples: BoolArray | None = None) -> MarginNeurons:
        """From the certificate of an instance; `samples` selects the same I as in the setting."""
        certificate = instance.certificate
        chosen = slice(None) if samples is None else samples
        network = certificate.network
        return cls(
            pre=network.preactivations(setting.X), mu=certificate.mu[chosen], v=network.v, w_u=network.W @ setting.u
        )

    @property
    def positive(self) -> BoolArray:
        """J+: v_j >= 0, zero included."""
        return self.v >= 0

    @property
    def negative(self) -> BoolArray:
        """J-: v_j < 0."""
        return ~self.positive

    @property
    def Lam(self) -> FloatArray:
        """Lambda_j = sum_i lambda_i sigma'_ij, shape (k,)."""
        total: FloatArray = self.mu.sum(axis=0)
        return total

    def S(self, neurons: BoolArray) -> float:
        """sum_i sum_{j in neurons} v_j^2 lambda_i sigma'_ij."""
        return float((self.mu[:, neurons] @ self.v[neurons] ** 2).sum())

    @property
    def per_sample(self) -> tuple[FloatArray, FloatArray]:
        """sum_{j in J+} v_j^2 lambda_i sigma'_ij and the same over J-, shapes (m,)."""
        weighted = self.mu * self.v**2
        return weighted[:, self.positive].sum(axis=1), weighted[:, self.negative].sum(axis=1)
