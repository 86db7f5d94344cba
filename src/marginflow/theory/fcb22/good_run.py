r"""[FCB22, Definition 4.5] The events of a good run as checks, and the constants C1*, C2* that a run really has.

The lemmas about descent assume a good run. Here it is checked as an event on the run at hand, never by its probability:
so they apply to small instances too, with the constants that were measured.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.fcb22.constants import C1_PAPER
from marginflow.theory.fcb22.measures import least_of
from marginflow.theory.fcb22.path import Path, toward_means
from marginflow.theory.frame import Check, at_least, at_most


@dataclass(frozen=True, eq=False)
class GoodRun:
    """The random half of the proof, on the draw that a path starts from."""

    path: Path

    # Lemma 4.1 and 4.2 -----------------------------------------------------------------------------

    @cached_property
    def relative_norms(self) -> FloatArray:
        """|w0_j| / (omega sqrt(d)), shape (m,)."""
        expected, norms = self.path.numbers.omega * math.sqrt(self.path.numbers.d), self.path.norms[0]
        return norms / expected if expected > 0 else np.full_like(norms, math.nan)

    def initial_norms(self) -> tuple[Check, Check]:
        """Lemma 4.1, first part: between 1/2 and 3/2 of omega sqrt(d)."""
        return (
            at_least("|w_j| / (omega sqrt(d)) at the start", self.relative_norms, 0.5),
            at_most("the same, from above", self.relative_norms, 1.5),
        )

    def counted(self) -> Check:
        """Lemma 4.1, second part, for mu1 and mu2: neurons with |<w0_j, mu>| >= omega / (2 C0)."""
        projections = np.abs(self.path.projections[0])
        m, s = projections.shape[0], self.path.numbers
        found = (projections >= s.omega / (2 * self.path.C0)).sum(axis=0)
        least = m * (1 - 1 / (2 * self.path.C0) - math.sqrt(2 * math.log(4 / s.delta) / m))
        return at_least("neurons with |<w_j, mu>| >= omega / (2 C0)", found, least, vacuous=least <= 0)

    def set_sizes(self) -> tuple[Check, Check]:
        """Lemma 4.2: |J_mu| and |J|."""
        m, share = self.path.neurons.a.size, (1 - 1 / self.path.C0) ** 2
        return (
            at_least("|J_mu|, mu = +mu1, -mu1, +mu2, -mu2", self.path.neurons.sizes, m / 4 * share),
            at_least("|J|", float(self.path.neurons.J.sum()), m * share),
        )

    # Lemma 4.3 -------------------------------------------------------------------------------------

    @cached_property
    def reach(self) -> float:
        """max_i |x_i - mu(x_i)| / (sigma sqrt(d))."""
        sd = self.path.numbers.sd
        return float(self.path.sample.distances.max()) / sd if sd > 0 else 0.0

    @cached_property
    def C1(self) -> float:
        """The least C1 >= 2 for which both |x - mu|^2 <= C1 sd^2 and |x - mu| <= C1 sd hold on the sample."""
        return max(C1_PAPER, self.reach, self.reach**2)

    @property
    def unit(self) -> float:
        """sqrt(log(1/delta) / n), in which parts (c) and (d) are measured."""
        return math.sqrt(math.log(1 / self.path.numbers.delta) / self.path.sample.n)

    @cached_property
    def C1_parts(self) -> dict[str, float]:
        """The least constant that each part of Lemma 4.3 needs on this sample."""
        s, sd, rows = self.path.sample, self.path.numbers.sd, np.arange(self.path.sample.n)
        along = toward_means(s.coordinates)[rows, s.clusters]
        across = s.coordinates[rows, 1 - s.clusters // 2]
        scale = sd if sd > 0 else math.inf
        return {
            "a, along the mean": float((1 - along).max()) / scale,
            "a, across": float(np.abs(across).max()) / scale,
            "b": self.reach**2,
            "c": (s.noisy_share - self.path.numbers.eta) / self.unit,
            "d": float(np.abs(s.sizes / s.n - 0.25).max()) / self.unit,
        }

    def geometry(self, C1: float) -> tuple[Check, ...]:
        """Lemma 4.3 with a given C1."""
        sd, parts = self.path.numbers.sd, self.C1_parts
        return (
            at_most("(a) C1 needed along the means", parts["a, along the mean"], C1),
            at_most("(a) C1 needed across the means", parts["a, across"], C1),
            at_most("(a) C1 sd against 1/C1", C1 * sd, 1 / C1),
            at_most("(b) C1 needed for |x - mu|^2", parts["b"], C1),
            at_most("(b) C1 sd^2 against 1/C1", C1 * sd**2, 1 / C1),
            at_most("(c) C1 needed for |N|/n", parts["c"], C1),
            at_most("(c) C1 sqrt(log(1/delta)/n) against 1/C1", C1 * self.unit, 1 / C1),
            at_most("(d) C1 needed for |I_mu|/n", parts["d"], C1),
        )

    # Lemma 4.4 -------------------------------------------------------------------------------------

    @cached_property
    def edges(self) -> FloatArray:
        """Active clean samples of I_mu less those of I_-mu, for every mean and neuron; shape (4, m)."""
        s = self.path.sample
        active = (s.X @ self.path.networks[0].W.T > 0).astype(np.float64)
        belongs = np.stack([(s.clusters == cluster) & ~s.noisy for cluster in range(4)]).astype(np.float64)
        counts = belongs @ active
        return counts - counts[[1, 0, 3, 2]]

    @cached_property
    def least_edge(self) -> float:
        """The smallest edge over the neurons and means that reach the threshold; nan where none does."""
        return least_of(self.edges[self.path.neurons.reached])

    @property
    def C2(self) -> float:
        """C2* = n / smallest edge; infinite where an edge is not positive."""
        return self._constant_of(self.least_edge)

    @property
    def C2_of_J(self) -> float:
        """The same over the sets J_mu only."""
        return self._constant_of(least_of(self.edges[self.path.neurons.sets]))

    def _constant_of(self, edge: float) -> float:
        return self.path.sample.n / edge if edge > 0 else math.inf

    def edge(self, C2: float) -> Check:
        """Lemma 4.4 with a given C2."""
        return at_least("smallest edge of the activations", self.least_edge, self.path.sample.n / C2)

    def event(self) -> tuple[Check, ...]:
        """What the lemmas about descent use of a good run, with C1 and C2 as measured."""
        return (
            *self.initial_norms(),
            *self.set_sizes(),
            at_most("C1^2 sd, C1 as measured", self.C1**2 * self.path.numbers.sd, 1.0),
            at_least("|I_mu^C|", self.path.sample.clean_sizes, self.path.sample.n / 8),  # what Eq. (6) is used for
            at_most("1 / C2 is positive: 1/n against it", 1 / self.path.sample.n, 1 / self.C2),
        )
