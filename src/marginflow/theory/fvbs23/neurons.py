r"""A KKT point of [FVBS23] with its multipliers: sums over neurons and clusters, inputs, outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.theory.frame import Instance
from marginflow.theory.fvbs23.setting import ClusterSample


@dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedNeurons:
    """A network at margin 1 with mu_ij = lambda_i phi'_ij, as its certificate gives them."""

    sample: ClusterSample
    W: FloatArray
    b: FloatArray
    v: FloatArray
    mu: FloatArray

    @classmethod
    def of(cls, instance: Instance) -> CertifiedNeurons:
        """From the certificate of an instance."""
        certificate = instance.certificate
        network = certificate.network
        b = np.zeros(network.width) if network.b is None else network.b
        return cls(sample=ClusterSample.of(instance), W=network.W, b=b, v=network.v, mu=certificate.mu)

    @property
    def positive(self) -> BoolArray:
        """J+: v_j > 0."""
        return self.v > 0

    @property
    def negative(self) -> BoolArray:
        """J-: v_j < 0."""
        return self.v < 0

    @property
    def s(self) -> FloatArray:
        """s_j = sum_i lambda_i |v_j| phi'_ij, shape (m,)."""
        total: FloatArray = self.mu.sum(axis=0) * np.abs(self.v)
        return total

    @cached_property
    def S(self) -> tuple[FloatArray, FloatArray]:
        """S_q^+ and S_q^-: sum_{i in I^(q)} sum_{J+-} lambda_i v_j^2 phi'_ij, shapes (k,)."""
        weighted = self.sample.sums_by_cluster(self.mu * self.v**2)
        return weighted[:, self.positive].sum(axis=1), weighted[:, self.negative].sum(axis=1)

    @property
    def S_own(self) -> FloatArray:
        """S_q over the neurons of the sign of the cluster, shape (k,)."""
        return np.where(self.sample.setting.y > 0, *self.S)

    def preactivations(self, X: FloatArray) -> FloatArray:
        """w_j . x + b_j, shape (t, m)."""
        return X @ self.W.T + self.b

    def outputs(self, X: FloatArray) -> FloatArray:
        """N(x), shape (t,)."""
        return np.maximum(self.preactivations(X), 0.0) @ self.v

    def input_scale(self) -> FloatArray:
        """||(w_j, b_j)|| sqrt(d + 1): the size of the terms in a pre-activation, shape (m,)."""
        size: FloatArray = np.sqrt((self.W**2).sum(axis=1) + self.b**2) * math.sqrt(self.sample.setting.d + 1)
        return size
