r"""Best-first branch and bound on the signs of the opposing neurons.

A node is a region: the signs fixed so far, and an interval for every pre-activation. Its bound is improved by steps
(chords first, parabolas where chords are not enough), each of which tightens the intervals for the next. A node that
reaches (1 - tolerance) upper is closed; the lowest open node is split on the neuron that leaves the largest gap.
"""

import heapq
import time
from dataclasses import dataclass, field, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.robustness.chord import relu_chords
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.cuts import Cuts, project
from marginflow.robustness.radius.minorant import Box, distance, minorant
from marginflow.robustness.radius.options import RadiusOptions
from marginflow.robustness.radius.quadratic import QuadraticMultipliers, bound_by_parabolas, quadratic_work, start_at
from marginflow.robustness.radius.reduction import RadiusProblem, farthest
from marginflow.robustness.radius.screening import Screened
from marginflow.robustness.radius.tightening import ball, tightened, useful_taus
from marginflow.robustness.radius.witness import Witness

# Rounds of chords at the root and at other nodes, and what a round must still bring (share of the open gap).
_ROOT_ROUNDS, _NODE_ROUNDS, _LINEAR_GAIN = 12, 4, 0.1
# Parabolas are worth their price when more neurons than this are undecided.
_FEW_UNDECIDED, _VERY_FEW, _SMALL_TREE = 12, 3, 60
_WEAK = 0.5
# Operations that the bookkeeping of one cut costs, measured in multiplications.
_OVERHEAD = 1e5
_QUADRATIC_ROUNDS, _QUADRATIC_GAIN = 8, 0.25
# Further smoothings tried for a nearer witness once the chords have not closed the root.
_WIDTHS = (0.1, 0.2, 0.6, 1.0)
_SCATTER = 40
# Nodes of a tree at which attacks are made: a smaller tree costs less than they do.
_PATIENCE = 24
_FAR = 1e2  # beyond this multiple parabolas have nothing to hold on to


@dataclass(eq=False, kw_only=True)
class TreeNode:
    """What the certificate keeps of a node."""

    steps: list[ProofStep] = field(default_factory=list)
    split: int = -1
    children: tuple[int, int] = (-1, -1)


@dataclass(eq=False, kw_only=True)
class _Node:
    index: int
    box: Box
    signs: IntArray
    cuts: Cuts
    lower: float = 0.0
    gaps: FloatArray | None = None
    multipliers: QuadraticMultipliers | None = None
    curved: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchOutcome:
    """Bounds, the witness in the coordinates of the problem, the tree, and the history (seconds, lower, upper)."""

    lower: float
    upper: float
    delta: FloatArray | None
    finished: bool
    tree: list[TreeNode]
    trace: list[tuple[float, float, float]]


class CrossedBoundsError(ArithmeticError):
    """A lower bound above the witness: the witness only touches, or the search has a defect."""


@dataclass(eq=False, kw_only=True)
class Search:
    """One problem within one horizon, solved by `run`."""

    problem: RadiusProblem
    witness: Witness
    options: RadiusOptions
    horizon: float
    begin: float
    attacks: bool = True  # whether there are attacks still to be made
    start: Screened | None = None  # what is known of the root already
    complete: bool = False
    tree: list[TreeNode] = field(default_factory=list)
    trace: list[tuple[float, float, float]] = field(default_factory=list)
    linear_work: float = 0.0  # operations spent on chords
    parabolas: bool = False
    discarded: int = 0  # nodes of a tree that was given up
    closed: float = float("inf")  # the least bound of a closed node

    @property
    def deadline(self) -> float:
        """When time is over."""
        return self.begin + self.options.time_limit

    @property
    def radius(self) -> float:
        """Witnesses beyond this are of no interest."""
        return min(self.witness.upper, self.horizon)

    @property
    def goal(self) -> float:
        """A node with this bound is closed."""
        return self.radius * (1.0 - self.options.tolerance)

    def run(self) -> SearchOutcome:
        """Search until the gap is closed, or time or nodes run out."""
        p = self.problem
        box, lower = (ball(p, self.radius), 0.0) if self.start is None else (self.start.box, self.start.lower)
        root = self._new(box, np.zeros(p.width, dtype=np.int64), Cuts.none(p), lower, None)
        if self.start is not None:
            self.tree[0].steps.extend(self.start.steps)
        self._bound(root, _ROOT_ROUNDS)
        heap: list[tuple[float, int, _Node]] = []
        self._push(heap, root)
        self._record(heap)
        while heap and heap[0][0] < self.goal and time.monotonic() < self.deadline and self._nodes_left():
            _, _, node = heapq.heappop(heap)
            first = not self.parabolas
            if len(self.tree) >= _PATIENCE:
                self._attack(node.cuts)
            if self._worth_parabolas(node):
                if first and node is not root and self._root_with_parabolas(root, node.lower):
                    heap, node = [], root
                else:
                    self._add_parabolas(node)
                self._push(heap, node)
                continue
            split = self._choose(node)
            if split < 0:
                self._linear_rounds(node, 1)  # convex by now: one projection is exact, and its point is a witness
                self.closed = min(self.closed, node.lower)
                continue
            record = self.tree[node.index]
            record.split = split
            pair = []
            for sign in (1, -1):
                signs = node.signs.copy()
                signs[split] = sign
                child = self._new(node.box.branched(split, sign), signs, node.cuts, node.lower, node.multipliers)
                pair.append(child.index)
                self._bound(child, _NODE_ROUNDS)
                self._push(heap, child)
            record.children = (pair[0], pair[1])
            self._record(heap)
        lower = min([self.closed] + [entry[0] for entry in heap[:1]])
        if lower < self.goal:
            self._attack(root.cuts)  # what ends early is not above an attack
        upper = self.witness.upper
        if lower > upper * (1.0 + 1e-9):
            raise CrossedBoundsError(f"The bounds cross: lower {lower!r}, upper {upper!r}.")
        self.complete = lower >= self.goal
        if lower < np.inf:
            lower = min(lower, self.radius)
        return SearchOutcome(
            lower=lower,
            upper=upper,
            delta=self.witness.delta,
            finished=self.complete and (lower == np.inf or self.radius == upper),
            tree=self.tree,
            trace=self.trace,
        )

    def _nodes_left(self) -> bool:
        return self.discarded + len(self.tree) < self.options.max_nodes

    def _root_with_parabolas(self, root: _Node, proved: float) -> bool:
        """Start again from the root with parabolas; False, and nothing changed, if the tree has proved more already."""
        record = self.tree[0]
        steps = list(record.steps)
        self._add_parabolas(root)
        if root.lower <= proved:
            record.steps = steps
            return False
        self.discarded += len(self.tree) - 1
        self.tree = [TreeNode(steps=record.steps)]
        self.closed = float("inf")
        return True

    # Nodes ----------------------------------------------------------------------------------------

    def _new(
        self, box: Box, signs: IntArray, cuts: Cuts, lower: float, multipliers: QuadraticMultipliers | None
    ) -> _Node:
        self.tree.append(TreeNode())
        return _Node(index=len(self.tree) - 1, box=box, signs=signs, cuts=cuts, lower=lower, multipliers=multipliers)

    def _push(self, heap: list[tuple[float, int, _Node]], node: _Node) -> None:
        if node.lower >= self.goal:
            self.closed = min(self.closed, node.lower)
        else:
            heapq.heappush(heap, (node.lower, node.index, node))

    def _record(self, heap: list[tuple[float, int, _Node]]) -> None:
        lower = min([self.closed, self.witness.upper] + [entry[0] for entry in heap[:1]])
        now = (time.monotonic() - self.begin, lower, self.witness.upper)
        if not self.trace or self.trace[-1][1:] != now[1:]:
            self.trace.append(now)

    def _undecided(self, box: Box) -> int:
        return int(box.undecided[self.problem.opposing.index].sum())

    def _choose(self, node: _Node) -> int:
        """The undecided opposing neuron with the largest gap, -1 if there is none."""
        o = self.problem.opposing.index
        open_ = node.box.undecided[o]
        if not open_.any():
            return -1
        gaps = np.zeros(o.size) if node.gaps is None else node.gaps[o]
        return int(o[np.argmax(np.where(open_, gaps, -np.inf))])

    # Bounds ---------------------------------------------------------------------------------------

    def _bound(self, node: _Node, rounds: int) -> None:
        within = ball(self.problem, self.radius)
        node.box = node.box.within(within.low, within.high)
        self._linear_rounds(node, rounds)
        if node.index == 0 and node.lower < self.goal and self.attacks:
            for width in _WIDTHS:
                self.witness.anneal(width, node.cuts)
            curved = self.witness.delta is not None and self._worth_parabolas(node)
            if node.lower < self.goal and (curved or self.witness.delta is None):
                self._attack(node.cuts)
            if node.lower < self.goal and curved:
                self.witness.scatter(_SCATTER, node.cuts)
        # The first time elsewhere than at the root is left to `run`, which then tries the root.
        if node.lower < self.goal and (node.index == 0 or self.parabolas) and self._worth_parabolas(node):
            self._add_parabolas(node)

    def _add_parabolas(self, node: _Node) -> None:
        """Parabolas, then chords on what they have left undecided."""
        node.curved = True
        self._quadratic_rounds(node)
        if node.lower < self.goal:
            before, gaps = node.lower, node.gaps
            self._linear_rounds(node, _NODE_ROUNDS)
            if node.lower <= before:
                node.gaps = gaps

    def _worth_parabolas(self, node: _Node) -> bool:
        """At once where chords prove little, otherwise when branching has cost as much as parabolas would.

        Once parabolas have come in they stay: every later node gets them.
        """
        few = _FEW_UNDECIDED if len(self.tree) < _SMALL_TREE else _VERY_FEW
        if node.curved or self._undecided(node.box) <= few or self.radius > _FAR * farthest(self.problem):
            return False
        if not self.parabolas:
            weak = node.lower < _WEAK * self.radius
            self.parabolas = weak or self.linear_work >= quadratic_work(self.problem, node.box)
        return self.parabolas

    def _linear_rounds(self, node: _Node, rounds: int) -> None:
        for _ in range(rounds):
            before = node.lower
            p, q = chords(self.problem, node.box)
            found = project(self.problem, p, q, signs=node.signs, cuts=node.cuts, target=self.goal)
            node.cuts = found.cuts
            self.linear_work += found.rounds * (4.0 * self.problem.W.size + _OVERHEAD)
            self._apply(node, found.step)
            if node.lower >= self.goal:
                return
            node.gaps = _chord_gaps(self.problem, p, q, found.delta)
            self._improve(found.delta, node.cuts)
            if node.lower >= self.goal or time.monotonic() > self.deadline:
                return
            if node.lower - before < _LINEAR_GAIN * (self.radius - before):
                return

    def _quadratic_rounds(self, node: _Node) -> None:
        for _ in range(_QUADRATIC_ROUNDS):
            before, undecided = node.lower, self._undecided(node.box)
            if node.multipliers is None:
                anchor = self.witness.delta if self.witness.delta is not None else np.zeros(self.problem.rank)
                node.multipliers = start_at(self.problem, node.box, anchor, self.radius)
            found = bound_by_parabolas(
                self.problem, node.box, node.signs, node.multipliers, radius=self.radius, deadline=self.deadline
            )
            self._apply(node, found.step)
            if node.lower >= self.goal:
                return
            node.multipliers, node.gaps = found.multipliers, found.gaps
            self._improve(found.multipliers.delta, node.cuts)
            left = self._undecided(node.box)
            if node.lower >= self.goal or left <= _VERY_FEW or time.monotonic() > self.deadline:
                return
            if node.lower - before < _QUADRATIC_GAIN * (self.radius - before) and left > 0.8 * undecided:
                return

    def _apply(self, node: _Node, step: ProofStep) -> None:
        """Keep a step if it raises the bound or tightens an interval; the bound is recomputed from its numbers."""
        psi = minorant(self.problem, step, node.box, self.radius)
        if not np.isfinite(psi.constant):
            return
        reached = distance(psi)
        step = replace(step, taus=useful_taus(psi, self.radius))
        box = tightened(self.problem, node.box, psi, self.radius, step.taus)
        if box.empty and (box.low - box.high).max() > 1e-9 * self.radius:
            reached = max(reached, self.radius)
        useful = bool((box.low > node.box.low).any() or (box.high < node.box.high).any())
        if reached > node.lower or useful:
            self.tree[node.index].steps.append(step)
        node.lower = max(node.lower, reached)
        if not box.empty:
            node.box = box

    def _attack(self, cuts: Cuts) -> None:
        """Attacks are made once."""
        if self.attacks:
            self.attacks = False
            self.witness.attack(cuts)

    def _improve(self, delta: FloatArray, cuts: Cuts) -> None:
        """Offer a relaxed solution to the witness."""
        if self.witness.delta is None:
            self.witness.offer(delta)
        self.witness.descend(delta, cuts)


def chords(problem: RadiusProblem, box: Box) -> tuple[FloatArray, FloatArray]:
    """Lines p z + q above relu on the intervals of the opposing neurons: the neuron itself once it is decided."""
    return relu_chords(box.low[problem.opposing.index], box.high[problem.opposing.index])


def _chord_gaps(problem: RadiusProblem, p: FloatArray, q: FloatArray, delta: FloatArray) -> FloatArray:
    """How far each chord lies above its neuron at delta, weighted by |c|."""
    o, gaps = problem.opposing, np.zeros(problem.width)
    z = o.a + o.W @ delta
    gaps[o.index] = -o.c * (p * z + q - np.maximum(z, 0.0))
    return gaps
