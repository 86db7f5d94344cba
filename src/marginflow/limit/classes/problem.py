r"""The max-margin problem with K classes in arrays: min 1/2 ||theta||^2 s.t. f_{y_i}(x_i) - f_t(x_i) >= 1, t != y_i.

T has the rows (x_i, 1), U the rows (w_j, b_j), V the shape (K, k). With q_i = sum_t lambda_it (e_{y_i} - e_t) the
gradient of sum_it lambda_it (f_{y_i} - f_t)(x_i) is sum_i (q_i . v_j) relu'(z_ij) T_i in U_j and sum_i relu(z_ij) q_i
in v_j.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.networks import Classifier


class Weights(NamedTuple):
    """U (k, r) and V (K, k)."""

    U: FloatArray
    V: FloatArray

    @property
    def norm(self) -> float:
        """||theta||."""
        return float(np.sqrt((self.U**2).sum() + (self.V**2).sum()))


class ClassesSolution(NamedTuple):
    """Weights, lambda and mu; or changes of them."""

    weights: Weights
    lam: FloatArray
    mu: FloatArray


@dataclass(frozen=True, eq=False)
class ClassesProblem:
    """Samples T (n, r), their classes, and K."""

    T: FloatArray
    own: IntArray
    n_classes: int

    @property
    def rows(self) -> IntArray:
        """0, ..., n - 1."""
        return np.arange(self.own.size)

    def margins(self, hidden: FloatArray, V: FloatArray) -> FloatArray:
        """f_{y_i} - f_t from relu(z), shape (n, K); infinite for t = y_i."""
        logits = hidden @ V.T
        margins: FloatArray = logits[self.rows, self.own][:, None] - logits
        margins[self.rows, self.own] = np.inf
        return margins

    def votes(self, lam: FloatArray) -> FloatArray:
        """q, shape (n, K)."""
        q = -lam
        q[self.rows, self.own] = lam.sum(axis=1)
        return q

    def network(self, weights: Weights, *, bias: bool) -> Classifier:
        """As a network."""
        U, V = weights
        return Classifier(W=U[:, :-1], b=U[:, -1], V=V) if bias else Classifier(W=U, V=V)
