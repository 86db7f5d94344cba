r"""A bracket on the global optimum of the max-margin problem, for small data of any dimension."""

from dataclasses import dataclass
from math import fsum, inf

import numpy as np

from marginflow.arrays import FloatArray, read_only, real_number, whole_number
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.limit.bracket import settings
from marginflow.limit.bracket.columns import Columns, columns_structure, structures
from marginflow.limit.bracket.dual_supremum import SignedDual, Supremum
from marginflow.limit.budget import Budget
from marginflow.limit.closed_forms.convex_pair import convex_pair
from marginflow.limit.line.master import UnboundedError
from marginflow.limit.line.planar import NotSettledError, PlanarProgram
from marginflow.limit.plane.arrangement import Peaks, survey
from marginflow.limit.problem import Problem
from marginflow.limit.samples import spread
from marginflow.limit.separable import require_separable
from marginflow.limit.solver.newton import NewtonResult
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


@dataclass(frozen=True, eq=False, kw_only=True)
class Bracket(Brief):
    r"""lower <= min ||theta||^2 / 2 <= upper over all networks with margin 1 (of the asked width, if one was given).

    Parameters
    ----------
    lower : float
        :math:`\sum_i \lambda_i / \sup_{\|t\| = 1} |F_\lambda(t)|`, with a proved bound on the supremum.
    upper : float
        ||theta||^2 / 2 of `network` at margin 1; infinite where there is none.
    network : TwoLayer or None
        A network with margin 1 that attains `upper`.
    multipliers : array, shape (n,)
        The lambda that prove `lower`.
    proved : bool
        Whether the bracket is closed to the asked relative width.
    nodes : int
        Nodes of the branch and bound.
    note : str
        How the bounds were found, and what is missing if they are apart.
    """

    lower: float
    upper: float
    network: TwoLayer | None
    multipliers: FloatArray
    proved: bool
    nodes: int
    note: str

    @property
    def gap(self) -> float:
        """upper / lower - 1."""
        return self.upper / self.lower - 1.0 if self.lower > 0 else inf


@dataclass(frozen=True, eq=False)
class _Found:
    """The best network and multipliers, in reduced coordinates and the order of `Problem`."""

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    supremum: float
    nodes: int
    finished: bool


def global_bounds(
    data: Dataset,
    *,
    bias: bool = True,
    width: int | None = None,
    tolerance: float = 1e-6,
    max_nodes: int = 5000,
    max_rounds: int = 200,
    seed: int = 0,
) -> Bracket:
    r"""Bounds on the least ||theta||^2 / 2 of a two-layer network with margin 1, over all widths.

    .. math:: \min_{\theta} \tfrac12 \|\theta\|^2 = \min \sum_j \|u_j\| \quad\text{s.t.}\quad
              y_i \sum_j s_j \mathrm{relu}(\tilde x_i \cdot u_j) \ge 1
              \quad = \max_{\lambda \ge 0} \frac{\sum_i \lambda_i}{\sup_{\|t\| = 1} |F_\lambda(t)|}

    From above: column generation, then Newton's method on the structure that it finds. From below: the multipliers,
    scaled by the supremum of their dual function, which is bounded by branch and bound on activation patterns (in the
    plane by its finitely many arcs, in integers). Both bounds are recomputed from the numbers that are returned.

    Source: [KYS23, Def.P1 and X.GlobalLP], for any dimension.

    Parameters
    ----------
    data : Dataset
        Small: the work grows quickly with the number of samples and, above all, with the dimension they span.
    bias : bool
        Whether networks have hidden biases.
    width : int or None
        Bound networks of at most this many neurons; the lower bound is that of all widths.
    tolerance : float
        Relative width at which the bracket counts as closed.
    max_nodes : int
        Limit of the branch and bound, for each sign; at the limit the largest open bound is used, which is valid.
    max_rounds : int
        Limit of the column generation.
    seed : int
        For the random starting directions.

    Returns
    -------
    Bracket

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit.bracket.global_bounds import global_bounds
    >>> data = Dataset(X=[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], y=[1, -1, 1, -1])
    >>> bracket = global_bounds(data)
    >>> bracket.proved
    True
    """
    tolerance = real_number("tolerance", tolerance, above=0.0)
    max_nodes, max_rounds = whole_number("max_nodes", max_nodes), whole_number("max_rounds", max_rounds)
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    if width is not None:
        width = whole_number("width", width)
    require_separable(data, bias=bias)
    problem = Problem.of(data.X, data.y, bias=bias)
    found = _planar(problem, data, bias) if problem.X.shape[1] <= 2 else None
    how = "exact arcs of the plane"
    if found is None:
        pair = _narrow(data, bias, 2)
        found = _search(problem, pair, rng, (max_nodes, max_rounds))
        regions = problem.X.shape[1] == 3 and problem.n_samples <= settings.MAX_REGIONS
        how = f"column generation and {'the regions of the sphere' if regions else 'branch and bound'}"
    return _bracket(problem, found, data, bias, width, tolerance, how)


def _planar(problem: Problem, data: Dataset, bias: bool) -> _Found | None:
    """Rows that span a plane at most: all arcs, exactly; None where floating point does not settle.

    Where the rows have two coordinates they are taken as they are given: rotated to singular vectors, rows that are
    equal or opposite would differ in their last bits, and exact arithmetic would see a needle between them.
    """
    given = augmented_samples(data.X, bias=bias)
    rotated = given.shape[1] != 2
    rows = problem.X if rotated else given[problem.order]
    plane = rows if rows.shape[1] == 2 else np.column_stack([rows, np.zeros(problem.n_samples)])
    distinct, first, owner = np.unique(plane, axis=0, return_index=True, return_inverse=True)
    program = PlanarProgram(distinct, problem.y[first])
    try:
        solution = program.optimum()
    except (NotSettledError, UnboundedError):
        return None
    lam = (solution.multipliers / np.bincount(owner))[owner]
    U = solution.U[:, : problem.X.shape[1]] if rotated else problem.reduced(solution.U)
    return _Found(U, solution.signs, lam, solution.supremum, 0, True)


def _search(problem: Problem, start: TwoLayer | None, rng: np.random.Generator, limits: tuple[int, int]) -> _Found:
    """Column generation and Newton until no better direction is found; then the proof."""
    max_nodes, max_rounds = limits
    columns = Columns(problem.X, problem.y, rng)
    if start is not None:
        for u, sign in zip(problem.reduced(start.directions), start.signs, strict=True):
            columns.add(u, sign)
    best: _Found | None = None
    found = structures(
        problem,
        columns,
        Budget(),
        excess=settings.EXCESS,
        least_excess=settings.LEAST_EXCESS,
        rounds=settings.ROUNDS_BEFORE_NEWTON,
        most=max_rounds,
    )
    excess = settings.EXCESS
    for allowed, exact in found:
        excess = allowed
        if exact is not None:
            proved, improved = _prove(problem, columns, exact, max_nodes)
            best = proved if best is None else _better(problem, best, proved)
            if not improved:
                return best
    _, U, s, lam = columns_structure(problem, columns)
    bounds = _suprema(problem, U, lam, 1.0 + excess, max_nodes)
    last = _Found(U, s, lam, max(bound.upper for bound in bounds), sum(bound.nodes for bound in bounds), False)
    return last if best is None else _better(problem, best, last)


def _prove(problem: Problem, columns: Columns, exact: NewtonResult, max_nodes: int) -> tuple[_Found, bool]:
    """Multipliers for an exact local solution that prove it global; or better directions, now in the program.

    Newton's multipliers belong to the neurons; if they violate other directions, the nearest ones that do not are
    taken, as long as they reach the same value. Returns the bounds found, and whether the solution can be improved.
    """
    lam = np.clip(exact.lam, 0.0, None)
    value = float(np.linalg.norm(exact.U, axis=1).sum())
    level, nodes = 1.0 + settings.PROVED, 0
    for u, sign in zip(exact.U, exact.s, strict=True):
        columns.add(u, float(sign))
    for _ in range(settings.MAX_CENTRES):
        columns.multipliers = lam
        if not columns.price(level - 1.0)[0]:
            bounds = _suprema(problem, exact.U, lam, level, max_nodes, stop_above=level * (1 + 1e-6))
            nodes += sum(bound.nodes for bound in bounds)
            higher = [pair for pair in zip(bounds, (1.0, -1.0), strict=True) if pair[0].lower > level * (1 + 1e-9)]
            if not higher:
                break
            for bound, sign in higher:
                columns.add(bound.direction, sign)
        centred = columns.centre(np.clip(exact.lam, 0.0, None), value)
        if centred is None:  # no multipliers reach this value: there is a better network
            crude = max(SignedDual(problem.X, problem.y, lam, sign).crude_bound() for sign in (1.0, -1.0))
            return _Found(exact.U, exact.s, lam, crude, nodes, True), True
        lam, level = centred, 1.0 + settings.PROVED_BY_PROGRAM
    else:
        bounds = _suprema(problem, exact.U, lam, level, max_nodes)
        nodes += sum(bound.nodes for bound in bounds)
    return _Found(exact.U, exact.s, lam, max(bound.upper for bound in bounds), nodes, True), False


def _suprema(
    problem: Problem, U: FloatArray, lam: FloatArray, level: float, max_nodes: int, stop_above: float = inf
) -> tuple[Supremum, Supremum]:
    """Bounds on sup F and sup -F: by all circles in three dimensions, by branch and bound in more."""
    if problem.X.shape[1] == 3 and problem.n_samples <= settings.MAX_REGIONS:
        found = survey(problem.X, lam * problem.y, level=level)
        positive, negative = (_highest(part, found.bound) for part in found.peaks)
        return positive, negative
    starts = np.vstack([problem.X / problem.norms[:, None], U / np.linalg.norm(U, axis=1)[:, None]])
    positive, negative = (
        SignedDual(problem.X, problem.y, lam, sign).supremum(
            level=level, max_nodes=max_nodes, starts=starts, stop_above=stop_above
        )
        for sign in (1.0, -1.0)
    )
    return positive, negative


def _highest(part: Peaks, upper: float) -> Supremum:
    """Of the local maxima above a level, which may be none."""
    if part.values.size == 0:
        return Supremum(0.0, upper, np.array([1.0, 0.0, 0.0]), 0)
    return Supremum(float(part.values[0]), upper, part.directions[0], 0)


def _better(problem: Problem, a: _Found, b: _Found) -> _Found:
    """The smaller network with the better multipliers."""
    primal = min((a, b), key=lambda found: _upper(problem, found.U, found.s))
    dual = max((a, b), key=lambda found: float(found.lam.sum()) / found.supremum)
    return _Found(primal.U, primal.s, dual.lam, dual.supremum, dual.nodes, dual.finished)


def _upper(problem: Problem, U: FloatArray, s: FloatArray) -> float:
    least = float(problem.margins(U, s).min())
    return float(np.linalg.norm(U, axis=1).sum()) / least if least > 0 else inf


def _bracket(
    problem: Problem, found: _Found, data: Dataset, bias: bool, width: int | None, tolerance: float, how: str
) -> Bracket:
    lower = fsum(found.lam) / found.supremum * (1 - settings.OUTWARDS) if found.supremum > 0 else 0.0
    network = TwoLayer.from_directions(problem.ambient(found.U), found.s, bias=bias)
    best: TwoLayer | None = network
    notes = [f"Found by {how}."]
    if not found.finished:
        notes.append("The column generation reached its limit of rounds.")
    margins = network.margins(data.X, data.y)
    least = float(margins.min()) - 1e-15 * network.width * float(np.abs(network.v) @ np.linalg.norm(network.W, axis=1))
    if least <= 0:
        best = None
        notes.append("No network with a positive margin was found.")
    elif width is not None and network.width > width:
        notes.append(f"The best network found has {network.width} neurons, more than the {width} that are asked for.")
        best = _narrow(data, bias, width)
    upper = inf
    if best is not None:
        best = best.at_margin_one(data.X, data.y)
        upper = best.norm_squared() / 2 * (1 + settings.OUTWARDS + 1e-14 * best.norm_squared())
        if width is not None:
            best = best.widened(max(width, best.width))
    proved = lower > 0 and upper <= lower * (1 + tolerance)
    if not proved and found.supremum > 1 + 1e-8:
        notes.append(
            f"The dual function is only known to be at most {found.supremum:.6g}; more nodes may close the bracket."
        )
    return Bracket(
        lower=lower,
        upper=upper,
        network=best,
        multipliers=read_only(spread(found.lam, problem.order, data.n_samples)),
        proved=proved,
        nodes=found.nodes,
        note=" ".join(notes),
    )


def _narrow(data: Dataset, bias: bool, width: int) -> TwoLayer | None:
    """A network of at most the asked width, where an exact one is known: the convex pair."""
    if width < 2:
        return None
    try:
        return convex_pair(data, bias=bias).network
    except InputError:
        return None
