"""Neurons of a planar network by where they stand: at a breakpoint of the dual function or inside an arc."""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.line.circle import Arcs, Circle


@dataclass(frozen=True)
class Position:
    """A neuron of the given sign at breakpoint `index`, or at the peak of the dual function inside arc `index`.

    A pinned neuron stays at its breakpoint, even where the dual function rises beside it.
    """

    sign: int  # +1 or -1
    at_breakpoint: bool
    index: int
    pinned: bool = False


@dataclass(frozen=True, eq=False)
class Neuron:
    """A neuron at its position, with its vector u_j = |v_j| (w_j, b_j)."""

    position: Position
    u: FloatArray


def breakpoint_columns(circle: Circle) -> FloatArray:
    """relu(z_i . t_b) for all breakpoints b; shape (n, K). Rows that are orthogonal to t_b have an exact zero."""
    x, y = circle.rows[:, 0], circle.rows[:, 1]
    norms = np.linalg.norm(circle.rows, axis=1)
    values = np.zeros((x.size, len(circle)))
    for b in range(len(circle)):
        k = int(circle.entering[b][0]) if circle.entering[b].size else int(circle.leaving[b][0])
        # t_b = +-(y_k, -x_k) / |z_k|; on the line y = 1, and the product is a difference of samples, rounded once
        product = (x * y[k] - y * x[k]) / norms[k]
        values[:, b] = np.maximum(product if circle.entering[b].size else -product, 0.0)
        values[circle.entering[b], b] = 0.0
        values[circle.leaving[b], b] = 0.0
    return values


def territories(circle: Circle, y: FloatArray, sign: int, relevant: BoolArray) -> list[IntArray]:
    """Maximal runs of arcs (arrays of arc indices) on which sign * F is concave.

    They are fenced by the breakpoints at which a relevant sample (n,) with the neuron's own label changes side: only
    opposite samples bend sign * F between two of them, and they bend it down.
    """
    n_arcs, own = len(circle), relevant & (y == sign)
    fences = [
        own[entering].any() or own[leaving].any()
        for entering, leaving in zip(circle.entering, circle.leaving, strict=True)
    ]
    starts = np.flatnonzero(fences)
    if starts.size == 0:
        return [np.arange(n_arcs)]
    ends = np.append(starts[1:], starts[0] + n_arcs)
    return [np.arange(start, end) % n_arcs for start, end in zip(starts, ends, strict=True)]


def owners(runs: list[IntArray], n_arcs: int) -> IntArray:
    """The run that each arc belongs to; shape (K,)."""
    owner = np.empty(n_arcs, dtype=np.int64)
    for index, run in enumerate(runs):
        owner[run] = index
    return owner


def value_at(arcs: Arcs, at: Position, direction: FloatArray) -> float:
    """s F(t) at the direction of a neuron."""
    return at.sign * float(arcs.at_breakpoints[at.index] if at.at_breakpoint else arcs.sums[at.index] @ direction)


def peak(circle: Circle, arcs: Arcs, sign: int, run: IntArray) -> tuple[Position, FloatArray]:
    """Where sign * F is largest over a run of arcs: the position and the unit direction."""
    row = 0 if sign > 0 else 1
    best = int(run[np.argmax(arcs.maxima[row, run])])
    if arcs.inside[row, best]:
        return Position(sign, False, best), arcs.positions[row, best]
    following = (best + 1) % len(circle)
    end = best if sign * arcs.at_breakpoints[best] >= sign * arcs.at_breakpoints[following] else following
    return Position(sign, True, end), circle.directions[end]
