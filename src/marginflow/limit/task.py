"""What one call of `kkt_point` works on: the problem in reduced coordinates, the given network, what is fixed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates.sizes import of_ordinary_size
from marginflow.data import Dataset, in_span
from marginflow.flow.angle import AngleSteps
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.samples import distinct
from marginflow.limit.settings import (
    FLOW_ANGLE,
    FLOW_BLOCK,
    FLOW_CHEAP,
    FLOW_DAMPED,
    FLOW_DEAR_ANGLES,
    FLOW_DEAREST,
    FLOW_DEAREST_ANGLE,
    FLOW_LARGE_ANGLE,
    FLOW_LARGE_STEP,
    FLOW_LEAST,
    FLOW_LOSS,
    FLOW_MOST,
    FLOW_PATH,
    ORDINARY,
    SINGLE_HOLDS,
)
from marginflow.limit.units import Units
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.threads import available_threads, threads_for

_Rows = TypeVar("_Rows", FloatArray, BoolArray)


@dataclass(frozen=True, eq=False)
class Flowed:
    """A network after a flow, in coordinates of the span of the samples, and the seconds that the flow took."""

    network: TwoLayer
    seconds: float


@dataclass(eq=False)
class Task:
    """One call of `kkt_point`.

    Attributes
    ----------
    whole : Dataset
        The data as the caller gave them.
    given : TwoLayer
        The caller's network or a random initialisation, in coordinates of the span of the samples. What a neuron has
        outside of that span is dropped: at a KKT point it is zero.
    penalty : float
        C of the soft margin; infinite for the hard one.
    callers_own : bool
        Whether the caller gave that network.
    flow_steps, angle, loss, stay_near, faithful
        As `kkt_point` takes them.
    hard_patterns : bool
        Whether the certificate may also say what hard patterns would give, which takes time.
    width_is_open : bool
        Whether the caller has left the number of neurons to us, so that there may be more.
    data : Dataset
        The caller's samples; with a hard margin each of them once, as a copy adds no condition.
    first, index : integer arrays, shapes (m,) and (n,)
        Where each sample of `data` occurs first in `whole`, and which sample of `data` each of these is.
    X, Q : arrays, shapes (m, r) and (r, d)
        Samples in the span, and its basis: data.X = X Q.
    """

    whole: Dataset
    given: TwoLayer
    penalty: float = np.inf
    callers_own: bool = False
    flow_steps: int | None = None
    angle: float = FLOW_LARGE_ANGLE
    loss: AbstractLoss | None = None
    stay_near: float = 0.0
    faithful: bool = False
    hard_patterns: bool = True
    width_is_open: bool = False

    def __post_init__(self) -> None:
        """Reduce the data, and the network with them."""
        self.data, self.first = self.whole, np.arange(self.whole.n_samples)
        self.index, self._flows = self.first, dict[int | None, Flowed]()
        if not self.soft:
            self.first, self.index = distinct(self.whole)
            if len(self.first) < len(self.index):
                self.data = self.whole.subset(self.first)
        with threads_for(self.data.X.size * float(min(self.data.X.shape)), available_threads()):
            self.X, self.Q = in_span(self.data.X)
        # Single precision cannot square parameters beyond this; others keep their scale, on which a flow depends.
        given, _ = of_ordinary_size(self.given, ordinary=50)
        self.given = replace(given, W=given.W @ self.Q.T)

    @cached_property
    def problem(self) -> Problem:
        """(P) with all samples, in its own reduced coordinates, positive labels first."""
        with threads_for(self.X.size * float(min(self.X.shape)), available_threads()):
            return self.problem_of(np.arange(len(self.X)))

    def problem_of(self, rows: IntArray) -> Problem:
        """(P) with some of the samples; `order` of it counts within these rows."""
        return Problem.of(self.X[rows], self.data.y[rows], bias=self.bias, penalty=self.penalty)

    @property
    def bias(self) -> bool:
        """Whether neurons have a bias."""
        return self.given.b is not None

    @property
    def width(self) -> int:
        """Number of neurons that the caller asked for, or that the flow has."""
        return self.given.width

    def width_for(self, neurons: int) -> int | None:
        """The width of a point that needs this many neurons; None where the caller asked for fewer."""
        return max(self.width, neurons) if self.width_is_open or neurons <= self.width else None

    @property
    def frozen(self) -> bool:
        """Whether the outputs are frozen."""
        return self.given.outputs == "frozen"

    @property
    def soft(self) -> bool:
        """Whether the margin is soft."""
        return bool(np.isfinite(self.penalty))

    def units(self, outputs_squared: FloatArray | None) -> Units:
        """Units for a polish; trained outputs and samples of ordinary size are left alone, so that none is copied."""
        if outputs_squared is None and 1.0 / ORDINARY < float(self.problem.norms.max()) < ORDINARY:
            return Units(1.0)
        return Units.of(self.problem, outputs_squared)

    def neurons(self, network: TwoLayer) -> Neurons:
        """Rows u_j at a typical margin of 1, in the coordinates of `problem`."""
        neurons = self.neurons_in_span(network)
        return replace(neurons, U=self.problem.reduced(neurons.U))

    def neurons_in_span(self, network: TwoLayer, margins: FloatArray | None = None) -> Neurons:
        """Rows u_j at a typical margin of 1, in coordinates of the span; its margins, if they are known.

        Scaled to a smallest margin of 1, most samples would lie beyond the margin, where no multiplier holds the
        neurons, and ADMM would let all of them shrink to zero before the first sample resists.
        """
        margins = network.margins(self.X, self.data.y) if margins is None else margins
        typical = float(margins.mean())
        size = typical if typical > 0 else float(np.abs(margins).mean())
        U = network.directions / (size if size > 0 else 1.0)
        return Neurons(U, network.signs, network.v**2 if self.frozen else None)

    def missing_sign(self, neurons: Neurons) -> float | None:
        """A sign that no neuron has any more: outputs may change sign in a flow that cannot separate the data."""
        live = neurons.U.any(axis=1)
        if self.soft and live.any():
            return None  # with a soft margin one sign may be all that pays
        return next((sign for sign in (1.0, -1.0) if not (live & (neurons.s == sign)).any()), None)

    def in_callers_order(self, rows: _Rows) -> _Rows:
        """Rows that belong to the samples of `problem`, in the order of `data`."""
        out = np.empty_like(rows)
        out[self.problem.order] = rows
        return out

    def outside(self, rows: FloatArray) -> FloatArray:
        """Rows (w, b) in coordinates of the span in those of `data`, the bias as last column."""
        return np.column_stack([rows[:, :-1] @ self.Q, rows[:, -1]]) if self.bias else rows @ self.Q

    def flow(self, steps: int | None, budget: Budget) -> Flowed:
        """Angle-bounded steps from the given network; a flow that was made before is not made again."""
        if steps not in self._flows:
            angle = self.angle if steps is not None or self.soft else self._cheap_angle()
            long = self._small_steps(angle, budget) if angle < self.angle else None
            if long is None:
                long = self._flow(*self._with_copies, steps, budget, angle=max(angle, self.angle), most=self.most_steps)
            self._flows[steps] = long
        return self._flows[steps]

    @property
    def _with_copies(self) -> tuple[FloatArray, FloatArray]:
        """What the flow runs on: in its loss every copy of a sample counts."""
        return (self.X, self.data.y) if self.data is self.whole else (self.X[self.index], self.whole.y)

    @property
    def most_steps(self) -> int:
        """Of a flow on all samples: with a hard margin it need not separate them at any cost."""
        affordable = int(FLOW_DEAREST / (float(self.X.size) * self.width))
        return FLOW_MOST if self.soft or self.frozen else min(FLOW_MOST, max(FLOW_LEAST, affordable))

    def _cheap_angle(self) -> float:
        """The smallest angle of a step with which the whole way is still cheap, up to the largest."""
        if self.angle != FLOW_LARGE_ANGLE:
            return self.angle  # the caller's
        steps = FLOW_CHEAP / (float(self.X.size) * self.width)
        m, r = self.X.shape
        dearest = FLOW_DEAREST_ANGLE if self.most_steps * FLOW_LARGE_ANGLE < FLOW_PATH else FLOW_LARGE_ANGLE
        largest = next((angle for samples, angle in FLOW_DEAR_ANGLES if m <= samples * r), dearest)
        return min(max(FLOW_PATH / steps, FLOW_ANGLE), largest)

    def _small_steps(self, angle: float, budget: Budget) -> Flowed | None:
        """The flow to a tiny loss in small steps; None where that does not separate the samples soon enough."""
        began, path, (X, y) = time.monotonic(), 0.0, self._with_copies
        flow = self._steps(X, y, angle)
        with budget.interruptible(), threads_for(X.size * self.width, available_threads()):
            block = 0.0  # seconds of the last block: none is begun that would end after the time limit
            while budget.affords(block) and path < (2.0 * FLOW_PATH if flow.separated else FLOW_PATH):
                now = time.monotonic()
                made = flow.take(5 * FLOW_BLOCK)
                path += angle * 5 * FLOW_BLOCK
                block = time.monotonic() - now
                if made < 5 * FLOW_BLOCK or (flow.separated and flow.log_loss < FLOW_LOSS):
                    break
        return self._flowed(flow, began) if path > 0.0 and flow.separated else None

    def _steps(self, X: FloatArray, y: FloatArray, angle: float) -> AngleSteps:
        """Steps from the given network on these samples."""
        given = self.given
        return AngleSteps(
            given.W,
            given.b,
            given.v,
            X,
            y,
            angle=angle,
            outputs=given.outputs,
            loss=self.loss,
            precision="single" if np.abs(X).max(initial=0.0) < SINGLE_HOLDS else "double",
        )

    def _flowed(self, flow: AngleSteps, began: float) -> Flowed:
        """Where the steps have come to."""
        W, b, v = flow.parameters
        return Flowed(replace(self.given, W=W, b=b, v=v), time.monotonic() - began)

    def flow_on(self, rows: IntArray, most: int, budget: Budget) -> Flowed:
        """The flow on some of the samples, of at most this many steps."""
        return self._flow(self.X[rows], self.data.y[rows], None, budget, angle=self.angle, most=most)

    def _flow(
        self, X: FloatArray, y: FloatArray, steps: int | None, budget: Budget, *, angle: float, most: int = FLOW_MOST
    ) -> Flowed:
        """As many steps as asked for, or until every margin is positive, at most `most`, and half as long again."""
        began = time.monotonic()
        flow, until = self._steps(X, y, angle), most if steps is None else steps
        least = int(FLOW_LEAST * min(1.0, FLOW_LARGE_ANGLE / angle))
        at_once = FLOW_BLOCK if X.size * self.width < FLOW_LARGE_STEP else FLOW_BLOCK // 10
        looks = steps is None
        with budget.interruptible(), threads_for(X.size * self.width, available_threads()):
            seconds = 0.0  # of the last block: none is begun that would end after the time limit
            while flow.steps < until and budget.affords(seconds):
                block, now = min(at_once, until - flow.steps), time.monotonic()
                made = flow.take(block, until_separated=looks)
                seconds = time.monotonic() - now
                if looks and flow.separated:
                    looks, until = False, max(least, int(1.5 * flow.steps))
                elif made < block:
                    break
                elif looks and flow.steps * angle >= FLOW_PATH:
                    flow.angle, flow.momentum = FLOW_DAMPED  # such steps lead back and forth
        return self._flowed(flow, began)
