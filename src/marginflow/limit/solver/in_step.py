"""Several runs of ADMM at once, between two of their checks, in one set of arrays.

Ten classes one against the rest are ten problems of a few hundred samples and a few neurons, where a call of NumPy
costs more than its arithmetic. Here the samples of all problems stand below one another, and so do their neurons:
only the products are made problem by problem. What a problem has fewer neurons or dimensions than the largest is zero,
and stays zero.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.products import without_flags
from marginflow.limit.settings import REFRESH_EVERY
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.proximal import FewPairs, shrink_live
from marginflow.threads import one_thread


@without_flags
def run_in_step(runs: Sequence[Admm]) -> None:
    """A check of each and the iterations up to its next; those of few pairs and one precision go together.

    A run by itself, or one of many pairs, does the same by `Admm.run`.
    """
    if len(runs) == 1:
        runs[0].run(REFRESH_EVERY)
        return
    for run in runs:
        run.run(1)
    for precision in ("single", "double"):
        together = [run for run in runs if run.precision == precision and _fits(run)]
        if not together:
            continue
        stack = _Stack(together)
        with one_thread():
            for _ in range(REFRESH_EVERY - 1):
                stack.iterate()
        stack.hand_back(REFRESH_EVERY - 1)
    for run in runs:
        if not _fits(run):
            run.run(REFRESH_EVERY - 1)


def _fits(run: Admm) -> bool:
    return run._few is not None and run.a2 is None and run.anchor_weight == 0.0


class _Stack:
    """The state of all runs, rows of each in `rows` and neurons of each in `neurons`."""

    def __init__(self, runs: Sequence[Admm]) -> None:
        self.runs, real = runs, runs[0].U.dtype
        self.rows, self.neurons = _slices([len(run.tau) for run in runs]), _slices([len(run.s) for run in runs])
        few = [run._few for run in runs if run._few is not None]
        self.few = FewPairs(
            active=_below([pairs.active for pairs in few]),
            opposite=_below([pairs.opposite for pairs in few]),
            active_shares=_below([pairs.active_shares for pairs in few]),
            opposite_shares=_below([pairs.opposite_shares for pairs in few]),
            slope=np.concatenate([pairs.slope for pairs in few]),
        )
        self.Z, self.Y = _below([run.Z for run in runs]), _below([run.Y for run in runs])
        self.H = np.zeros_like(self.Z)
        self.U, self.t = _below([run.U for run in runs]), np.concatenate([run.t for run in runs])
        self.R = np.zeros_like(self.U)
        self.tau = np.concatenate([run.tau for run in runs])
        self.cap = np.concatenate([np.full(len(run.tau), run.cap / run.rho, dtype=real) for run in runs])
        self.rho = np.concatenate([np.full(len(run.s), run.rho, dtype=real) for run in runs])[:, None]
        self.scales = np.concatenate([run.scales for run in runs])[:, None]
        self.rs = _below([np.multiply.outer(real.type(run.rho) * run.scales, run._s2) for run in runs])
        self.idle = np.concatenate([run.idle for run in runs])

    @property
    def _products(self) -> list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Of each run the samples, and what belongs to it in scaled U, H and R."""
        scaled = self.scales * self.U
        found = []
        for run, rows, neurons in zip(self.runs, self.rows, self.neurons, strict=True):
            k, r = run.U.shape
            found.append((run._X, scaled[neurons, :r], self.H[rows, :k], self.R[neurons, :r]))
        return found

    def iterate(self) -> None:
        """One iteration of every run."""
        products = self._products
        for X, U, H, _ in products:
            np.matmul(X, U.T, out=H)
        self.few.project(self.H, self.Z, self.Y, self.tau, self.cap, measure=False)
        for X, _, H, R in products:
            np.matmul(H.T, X, out=R)
        self.R *= self.rho
        live = np.flatnonzero(np.vecdot(self.R, self.R) > 1.0)
        shrink_live(self.R, self.t, live, self.rs[live], self.U)
        self.idle += 1
        self.idle[live] = 0

    def hand_back(self, iterations: int) -> None:
        """The state to the runs it came from."""
        for run, rows, neurons in zip(self.runs, self.rows, self.neurons, strict=True):
            k, r = run.U.shape
            run.Z[...], run.Y[...], run.tau[...] = self.Z[rows, :k], self.Y[rows, :k], self.tau[rows]
            run.U[...], run.t[...], run.idle[...] = self.U[neurons, :r], self.t[neurons], self.idle[neurons]
            run.iterations += iterations


def _slices(lengths: Sequence[int]) -> list[slice]:
    return [slice(*pair) for pair in pairwise(accumulate(lengths, initial=0))]


def _below(blocks: Sequence[FloatArray]) -> FloatArray:
    """Blocks below one another, filled with zeros to the width of the widest."""
    widest = max(block.shape[1] for block in blocks)
    whole = np.zeros((sum(len(block) for block in blocks), widest), dtype=blocks[0].dtype)
    for rows, block in zip(_slices([len(block) for block in blocks]), blocks, strict=True):
        whole[rows, : block.shape[1]] = block
    return whole
