r"""The numbers of [FVBS23, Assumption 2.2]: when are clusters nearly orthogonal enough, and from which dimension on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import labels, matrix, real_number
from marginflow.data.distribution import check_dimension, scale_by_dimension
from marginflow.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ClusterConstants:
    r"""Separation of k clusters in R^d with noise N(0, sigma^2 I).

    .. math:: \Delta = 4 \sigma \sqrt d \ln d, \quad
              p = \max_{q \ne q'} |\langle \mu^{(q)}, \mu^{(q')} \rangle|, \quad
              c' = \frac{k (p + \Delta + 1)}{d - \Delta + 1}

    Assumption 2.2: ||mu|| = sqrt d, 0 < sigma <= 1, and c' <= 1/10 with d - Delta + 1 > 0. The logarithm is natural.

    Parameters
    ----------
    dimension, n_clusters : int
        d and k.
    sigma : float
        Standard deviation of the noise.
    p : float
        Largest absolute inner product of two means; 0 for one cluster.
    balance : float
        c = min(|Q+|, |Q-|) / k, the share of the rarer label among the means; unrelated to c'.
    norm_defect : float
        max_q | ||mu^(q)|| / sqrt(d) - 1 |.
    """

    dimension: int
    n_clusters: int
    sigma: float
    p: float
    balance: float
    norm_defect: float = 0.0

    @classmethod
    def from_gram(cls, gram: ArrayLike, mean_labels: ArrayLike, *, sigma: float, dimension: int) -> ClusterConstants:
        """The numbers of means with the given Gram matrix, shape (k, k), and labels, shape (k,)."""
        G = matrix("gram", gram)
        k = G.shape[0]
        y = labels("mean_labels", mean_labels, k)
        off_diagonal = np.abs(G[~np.eye(k, dtype=np.bool_)])
        return cls(
            dimension=dimension,
            n_clusters=k,
            sigma=float(sigma),
            p=float(off_diagonal.max(initial=0.0)),
            balance=float(min((y > 0).sum(), (y < 0).sum()) / k),
            norm_defect=float(np.abs(np.sqrt(np.diagonal(G) / dimension) - 1.0).max()),
        )

    @property
    def Delta(self) -> float:
        """4 sigma sqrt(d) ln(d)."""
        return 4.0 * self.sigma * sqrt(self.dimension) * log(self.dimension)

    @property
    def c_prime(self) -> float:
        """c' = k (p + Delta + 1) / (d - Delta + 1), at most 1/10 under the assumption; inf if d - Delta + 1 <= 0."""
        room = self.dimension - self.Delta + 1.0
        return self.n_clusters * (self.p + self.Delta + 1.0) / room if room > 0 else float("inf")

    @property
    def slack(self) -> float:
        """(d - Delta + 1) / 10 - k (p + Delta + 1), at least 0 under the assumption."""
        return (self.dimension - self.Delta + 1.0) / 10.0 - self.n_clusters * (self.p + self.Delta + 1.0)

    @property
    def log_q(self) -> float:
        """The logarithm of q_d = d^(-ln(d)/2), the unit of the paper's failure probabilities."""
        return -0.5 * log(self.dimension) ** 2

    def holds(self, *, tolerance: float = 1e-12) -> bool:
        """Whether Assumption 2.2 holds and both labels occur (which its consequences use); norms up to `tolerance`."""
        return self.norm_defect <= tolerance and 0.0 < self.sigma <= 1.0 and self.slack >= 0.0 and self.balance > 0.0


Layout = Literal["orthogonal", "sphere typical", "sphere guaranteed", "equicorrelated"]


def smallest_dimension(
    n_clusters: int,
    sigma: float | Literal["1/sqrt(d)"] = "1/sqrt(d)",
    layout: Layout = "orthogonal",
    *,
    correlation: float = 0.0,
) -> int:
    """The smallest d from which on part (c) of Assumption 2.2 holds.

    The layouts say what p is: 0; sqrt(2 d ln(k (k-1))); sqrt(d) ln d [VYS22, Lem. 3.1]; |r| d. The typical value for
    random means is the one that one pair of k (k-1)/2 exceeds on average about once; a single draw varies around it.
    The guaranteed one fails with probability at most k^2 d^(1 - ln(d)/4).

    As a function of d the slack is convex for these layouts (sqrt(d) ln d is concave) and negative at d = 1, so it has
    one threshold, found by doubling and bisection.

    Examples
    --------
    >>> from marginflow.data import smallest_dimension
    >>> smallest_dimension(2), smallest_dimension(10, sigma=0.01)
    (549, 957)
    """
    k = check_dimension("n_clusters", n_clusters, minimum=2)
    r = abs(real_number("correlation", correlation, at_least=-1.0, at_most=1.0))
    if r > 0 and layout != "equicorrelated":
        raise InputError(f"correlation is {correlation:g}, but the layout {layout!r} has none.")
    if 10.0 * k * r >= 1.0:
        raise InputError(
            f"correlation is {correlation:g}; it must be below 1/(10 k) = {1 / (10 * k):g} for {k} clusters."
        )
    pairs = float(k * (k - 1))
    inner_product: dict[str, Callable[[float], float]] = {
        "orthogonal": lambda d: 0.0,
        "sphere typical": lambda d: sqrt(2.0 * d * log(pairs)),
        "sphere guaranteed": lambda d: sqrt(d) * log(d),
        "equicorrelated": lambda d: r * d,
    }

    def feasible(d: int) -> bool:
        s = scale_by_dimension("sigma", sigma, {"1/sqrt(d)": d**-0.5}, minimum="zero")
        return (
            ClusterConstants(dimension=d, n_clusters=k, sigma=s, p=inner_product[layout](d), balance=0.5).slack >= 0.0
        )

    found = least_whole_number(feasible)
    if found is None:
        raise InputError(f"sigma is {sigma!r}; no dimension that float64 resolves separates {k} clusters this noisy.")
    return found


def least_whole_number(feasible: Callable[[int], bool]) -> int | None:
    """The least number above 1 from which on it is feasible, by doubling and bisection; None beyond 2^53."""
    low, high = 1, 2
    while not feasible(high):
        low, high = high, 2 * high
        if high > 1 << 53:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return high


def most_clusters(dimension: int, sigma: float | Literal["1/sqrt(d)"] = "1/sqrt(d)", p: float = 0.0) -> int:
    """The largest k that part (c) of Assumption 2.2 allows, floor((d - Delta + 1) / (10 (p + Delta + 1))), at least 0.

    Examples
    --------
    >>> from marginflow.data import most_clusters
    >>> [most_clusters(10**power) for power in (3, 4, 5, 6)]
    [3, 26, 212, 1777]
    """
    d = check_dimension("dimension", dimension)
    s = scale_by_dimension("sigma", sigma, {"1/sqrt(d)": d**-0.5}, minimum="zero")
    inner = real_number("p", p, at_least=0.0)
    Delta = ClusterConstants(dimension=d, n_clusters=1, sigma=s, p=inner, balance=0.5).Delta
    return max(0, floor((d - Delta + 1.0) / (10.0 * (inner + Delta + 1.0))))
