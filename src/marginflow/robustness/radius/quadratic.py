r"""The strong relaxation: touching parabolas for all undecided opposing neurons, held together by one matrix.

Maximise over the multipliers s > 0, A_j (curvatures), q_j in [0, s c_j] (slopes of supporting neurons)

.. math:: G = \min_\delta \; \|\delta\|^2 + s \, lin(\delta) + \sum_{c_j > 0} q_j z_j
   + \sum_{c_j < 0} \omega_j(A_j, s; z_j) \quad\text{with}\quad H = I - \sum_j A_j w_j w_j^T \succ 0 ;

sqrt(G) is a lower bound on ||delta||. The ball needs no multiplier of its own: ||delta||^2 is the objective. It is the
diagonal part of Shor's semidefinite relaxation, solved by Newton's method on G + nu (log det H + log-barriers of q)
with nu falling. Neurons branched on add a multiplier B >= 0 for (z - l)(u - z) >= 0, here A = -B with c = 0.

Where there are many more samples than dimensions the chords prove nothing at the root (0 of the radius), and this
relaxation proves 97 to 99.7 % of it.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.minorant import Box
from marginflow.robustness.radius.parabola import best_curvature, derivatives, omega_and_slope
from marginflow.robustness.radius.reduction import RadiusProblem

_MAX_NEWTON, _MAX_STALLS = 60, 6
_INSIDE = 3e-9
# Largest eigenvalues are computed up to this rank and estimated by so many Lanczos steps above it.
_SMALL_RANK, _LANCZOS = 64, 20


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticMultipliers:
    """Where to begin: s, the curvatures A and slopes q / (s c) of all neurons, and the minimiser delta."""

    scale: float
    A: FloatArray
    shares: FloatArray
    delta: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ParabolaBound:
    """The step found, the multipliers to begin the next one with, and the gap that each neuron leaves."""

    step: ProofStep
    multipliers: QuadraticMultipliers
    gaps: FloatArray
    lower: float


class _Node(NamedTuple):
    """The undecided part of a node, in coordinates of its own span; W_b, a_b, ... belong to the curved neurons."""

    linear: FloatArray
    constant: float
    W_q: FloatArray
    a_q: FloatArray
    c_q: FloatArray
    W_b: FloatArray
    a_b: FloatArray
    c_b: FloatArray
    low: FloatArray
    high: FloatArray
    guard: BoolArray
    supporting: IntArray
    curved: IntArray
    basis: FloatArray | None


class _Point(NamedTuple):
    """Multipliers and what they give: G, delta, H, its Cholesky factor and the logarithm of its determinant."""

    s: float
    A: FloatArray
    q: FloatArray
    G: float
    delta: FloatArray
    H: FloatArray
    root: FloatArray
    log_det: float


def start_at(problem: RadiusProblem, box: Box, delta: FloatArray, radius: float) -> QuadraticMultipliers:
    """Multipliers guessed from a witness: delta = -(s / 2) grad g there, parabolas touch near its pre-activations."""
    z = problem.a + problem.W @ delta
    size = float(np.linalg.norm(problem.gradient(delta)))
    s = 2.0 * radius / size if size > 0 else 1.0
    open_ = box.undecided & (problem.c < 0)
    low, high = np.where(open_, box.low, -1.0), np.where(open_, box.high, 1.0)
    inside = np.clip(z, low, high)
    kappa = best_curvature(inside, inside**2 + 0.02 * radius**2, low, high)
    return QuadraticMultipliers(
        scale=s,
        A=np.where(open_, -s * problem.c * kappa, 0.0),
        shares=0.5 + 0.5 * z / np.sqrt(z**2 + (0.05 * radius) ** 2),
        delta=delta,
    )


def quadratic_work(problem: RadiusProblem, box: Box) -> float:
    """Operations that one solution will take, roughly: fifteen Newton steps."""
    open_ = box.undecided
    n, m = int((open_ & (problem.c < 0)).sum()), int((open_ & (problem.c > 0)).sum())
    r = min(problem.rank, 1 + n + m)
    return 15.0 * (4.0 * r**3 + 2.0 * (m + 2 * n) * r**2 + 2.0 * n**2 * r + 0.7 * n**3 + 2e6)


def bound_by_parabolas(
    problem: RadiusProblem, box: Box, signs: IntArray, start: QuadraticMultipliers, *, radius: float, deadline: float
) -> ParabolaBound:
    """Newton's method from `start`; stops early once `radius` is proved."""
    node = _node(problem, box, signs)
    point = _first(node, start)
    barriers = node.W_b.shape[1] + 2 * node.a_q.size + int(node.guard.sum())
    nu = (radius**2 - max(point.G, 0.0)) / barriers  # on the central path the gap is nu times the number of barriers
    best = point
    damping, stalls = 0.0, 0
    for _ in range(_MAX_NEWTON):
        if best.G >= radius**2 or time.monotonic() > deadline:
            break
        moved, length = _newton(node, point, nu, damping)
        damping = max(10.0 * damping, 0.1) if length < 0.1 else 0.2 * damping
        if moved is None:
            stalls += 1
            if stalls > _MAX_STALLS:
                break
            continue
        point = moved
        if point.G > best.G:
            best = point
        if length > 0.3:
            if nu * barriers <= 0.02 * (radius**2 - best.G):
                break
            nu *= 0.1 if length > 0.8 else 0.3
    # Newton may end where H is singular up to rounding, and the checker cannot follow there.
    inside = _evaluate(node, best.s, np.where(best.A > 0, (1.0 - _INSIDE) * best.A, best.A), best.q)
    return _bound(problem, box, node, best if inside is None else inside, nu)


def _node(problem: RadiusProblem, box: Box, signs: IntArray) -> _Node:
    c, a, W = problem.c, problem.a, problem.W
    open_ = box.undecided
    on = (box.low >= 0) & (c != 0)
    guarded = (signs != 0) & ~open_ & (box.low < box.high)
    supporting = np.flatnonzero(open_ & (c > 0))
    curved = np.flatnonzero((open_ & (c < 0)) | guarded)
    linear = c[on] @ W[on]
    constant = problem.constant + float(c[on] @ a[on])
    W_q, W_b, basis = W[supporting], W[curved], None
    if 1 + supporting.size + curved.size < problem.rank:
        basis, _ = np.linalg.qr(np.vstack([linear[None, :], W_q, W_b]).T)
        linear, W_q, W_b = linear @ basis, W_q @ basis, W_b @ basis
    guard = guarded[curved]
    return _Node(
        linear=linear,
        constant=constant,
        W_q=W_q,
        a_q=a[supporting],
        c_q=c[supporting],
        W_b=W_b,
        a_b=a[curved],
        c_b=np.where(guard, 0.0, -c[curved]),
        low=box.low[curved],
        high=box.high[curved],
        guard=guard,
        supporting=supporting,
        curved=curved,
        basis=basis,
    )


def _first(node: _Node, start: QuadraticMultipliers) -> _Point:
    """The start, moved inside: q off its bounds, guards negative, H well away from singular."""
    s = start.scale
    q = s * node.c_q * np.clip(start.shares[node.supporting], 0.02, 0.98)
    A = start.A[node.curved].copy()
    A[node.guard] = np.minimum(A[node.guard], -1e-3)
    A[~node.guard] = np.maximum(A[~node.guard], 0.0)
    if _largest_eigenvalue(node.W_b.T, A) > 0.9:
        A[A > 0] *= 0.9 / _largest_eigenvalue(node.W_b.T, np.maximum(A, 0.0))
    point = _evaluate(node, s, A, q)
    while point is None:
        A = 0.5 * A
        point = _evaluate(node, s, A, q)
    return point


def _evaluate(node: _Node, s: float, A: FloatArray, q: FloatArray) -> _Point | None:
    """G at the multipliers, None where H is not positive definite."""
    r = node.linear.size
    H = -(node.W_b.T @ (A[:, None] * node.W_b))
    H.flat[:: r + 1] += 1.0
    value, slope = omega_and_slope(s, node.c_b, A, node.low, node.high, node.a_b)
    g = s * node.linear + slope @ node.W_b + q @ node.W_q
    try:
        root = np.linalg.cholesky(H).astype(np.float64)
        delta = _back(root, _forward(root, -0.5 * g))
    except np.linalg.LinAlgError:
        return None
    G = s * node.constant + float(value.sum()) + float(q @ node.a_q) + 0.5 * float(g @ delta)
    return _Point(s, A, q, G, delta, H, root, 2.0 * float(np.log(np.diag(root)).sum()))


def _room(node: _Node, s: float, A: FloatArray, q: FloatArray) -> FloatArray:
    """What must stay positive beside s and H; linear in the multipliers."""
    return np.concatenate([q, s * node.c_q - q, -A[node.guard]])


def _merit(node: _Node, point: _Point, nu: float) -> float:
    room = _room(node, point.s, point.A, point.q)
    if room.size and room.min() <= 0:
        return -np.inf
    return point.G + nu * (point.log_det + float(np.log(room).sum()))


def _newton(node: _Node, at: _Point, nu: float, damping: float) -> tuple[_Point | None, float]:
    """One damped Newton step on G + nu barrier: the new point (None if no step gains) and the step length."""
    T = _forward(at.root, node.W_b.T)
    try:
        d_s, d_A, d_q = _direction(node, at, T, nu, damping)
    except np.linalg.LinAlgError:
        return None, 0.0
    room, change = np.append(_room(node, at.s, at.A, at.q), at.s), np.append(_room(node, d_s, d_A, d_q), d_s)
    falling = change < 0
    length = min(1.0, 0.95 * float((-room[falling] / change[falling]).min(initial=np.inf)))
    # The same for H: the least eigenvalue of the change, seen in the metric of H, says where it becomes singular.
    worst = _largest_eigenvalue(T, d_A)
    if worst > 0:
        length = min(length, 0.9 / worst)
    merit = _merit(node, at, nu)
    while length > 1e-6:
        moved = _evaluate(node, at.s + length * d_s, at.A + length * d_A, at.q + length * d_q)
        if moved is not None and _merit(node, moved, nu) > merit:
            return moved, length
        length *= 0.5
    return None, 0.0


def _direction(
    node: _Node, at: _Point, T: FloatArray, nu: float, damping: float
) -> tuple[float, FloatArray, FloatArray]:
    """Newton's direction for (s, A, q); T is the inverse Cholesky factor of H times W_b^T.

    The slopes q couple only through delta and s, so they are eliminated; what is left is one system in (s, A).
    omega is linear in A while its parabola passes through both ends, and there Newton would leap; `damping` adds the
    curvature of the next piece.
    """
    s, A, q = at.s, at.A, at.q
    o = derivatives(s, node.c_b, A, node.low, node.high, node.a_b + node.W_b @ at.delta)
    below, above = q, s * node.c_q - q
    overlap = T.T @ T
    wall = np.where(node.guard, A, 1.0)
    grad_s = node.constant + float(node.linear @ at.delta) + float(o.s.sum()) + nu * float((node.c_q / above).sum())
    grad_A = o.A - nu * np.diag(overlap) + np.where(node.guard, nu / wall, 0.0)
    grad_q = node.a_q + node.W_q @ at.delta + nu * (1.0 / below - 1.0 / above)

    D = nu * (1.0 / below**2 + 1.0 / above**2)
    mixed = nu * node.c_q / above**2
    K = 2.0 * at.H + node.W_q.T @ (node.W_q / D[:, None])
    J_s = node.linear + o.zs @ node.W_b + (mixed / D) @ node.W_q
    J_A = (o.Az[:, None] * node.W_b).T
    residual = (grad_q / D) @ node.W_q
    J = np.column_stack([J_s, J_A])
    root = np.linalg.cholesky(K).astype(np.float64)
    half = _forward(root, np.column_stack([J, residual]))
    n = A.size
    S = half[:, :-1].T @ half[:, :-1]
    S[1:, 1:] += nu * overlap**2
    S[np.arange(1, n + 1), np.arange(1, n + 1)] += np.where(node.guard, nu / wall**2, 0.0) - o.AA
    if damping > 0:
        nearer, width = np.minimum(-node.low, node.high), node.high - node.low
        unit_A = np.where(node.guard, -A, np.maximum(A, s * node.c_b * nearer / width**2))
        S[np.arange(1, n + 1), np.arange(1, n + 1)] += damping * s * node.c_b * width / (4.0 * unit_A**2)
    S[0, 0] += nu * float((node.c_q**2 / above**2).sum()) - float(o.ss.sum()) - float((mixed**2 / D).sum())
    S[0, 1:] -= o.As
    S[1:, 0] -= o.As
    rhs = np.concatenate([[grad_s + float(mixed @ (grad_q / D))], grad_A]) - half[:, :-1].T @ half[:, -1]
    # Jacobi scaling: s and the curvatures live on different scales.
    unit = 1.0 / np.sqrt(np.maximum(np.diag(S), 1e-300))
    scaled = S * unit[:, None] * unit
    scaled.flat[:: n + 2] += 1e-12
    y = unit * np.linalg.solve(scaled, unit * rhs)
    d_delta = -_back(root, half[:, -1] + half[:, :-1] @ y)
    d_q: FloatArray = (grad_q + mixed * y[0] + node.W_q @ d_delta) / D
    return float(y[0]), y[1:], d_q


def _forward(root: FloatArray, rhs: FloatArray) -> FloatArray:
    """L^-1 times the right-hand sides."""
    solved: FloatArray = solve_triangular(root, rhs, lower=True, check_finite=False)
    return solved


def _back(root: FloatArray, rhs: FloatArray) -> FloatArray:
    """L^-T times the right-hand side."""
    solved: FloatArray = solve_triangular(root, rhs, lower=True, trans="T", check_finite=False)
    return solved


def _largest_eigenvalue(T: FloatArray, weights: FloatArray) -> float:
    """Of T diag(weights) T^T, shape (r, r); above a small rank a lower estimate, which step lengths can live with."""
    r, n = T.shape
    if n == 0:
        return 0.0
    if r <= _SMALL_RANK:
        return float(np.linalg.eigvalsh((T * weights) @ T.T)[-1])
    Q = np.zeros((_LANCZOS, r))
    diagonal, beside = np.zeros(_LANCZOS), np.zeros(_LANCZOS)
    q = T @ (weights * (T.sum(axis=0) + 1.0)) + T[:, 0]
    for i in range(_LANCZOS):
        size = float(np.linalg.norm(q))
        if i > 0:
            beside[i - 1] = size
        if size <= 1e-12 * float(np.abs(diagonal).max()) or size == 0:
            beside[max(i - 1, 0)] = 0.0
            break
        Q[i] = q / size
        q = T @ (weights * (Q[i] @ T))
        diagonal[i] = Q[i] @ q
        for _ in range(2):  # once more against rounding
            q = q - (Q[: i + 1] @ q) @ Q[: i + 1]
    tridiagonal = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    return float(np.linalg.eigvalsh(tridiagonal)[-1])


def _bound(problem: RadiusProblem, box: Box, node: _Node, point: _Point, nu: float) -> ParabolaBound:
    """The multipliers in the form of a step, one slope and one curvature per neuron."""
    s, k = point.s, problem.width
    slopes = np.where(box.low >= 0, s * problem.c, 0.0)
    slopes[node.supporting] = point.q
    _, at_zero = omega_and_slope(s, node.c_b, point.A, node.low, node.high, np.zeros_like(point.A))
    slopes[node.curved] = at_zero + np.where(node.guard, slopes[node.curved], 0.0)
    curvatures = np.zeros(k)
    curvatures[node.curved] = -point.A
    delta = point.delta if node.basis is None else node.basis @ point.delta
    z = node.a_b + node.W_b @ point.delta
    relu = s * node.c_b * np.maximum(z, 0.0)
    value, _ = omega_and_slope(s, node.c_b, point.A, node.low, node.high, z)
    gaps = np.zeros(k)
    # The relaxed solution is spread around delta with covariance nu / H.
    spread = nu * (_forward(point.root, node.W_b.T) ** 2).sum(axis=0)
    gaps[node.curved] = np.where(node.guard, 0.0, -value - relu + point.A * spread)
    shares = np.full(k, 0.5)
    shares[node.supporting] = point.q / (s * node.c_q)
    A = np.zeros(k)
    A[node.curved] = point.A
    return ParabolaBound(
        step=ProofStep(scale=s, slopes=slopes, curvatures=curvatures),
        multipliers=QuadraticMultipliers(scale=s, A=A, shares=shares, delta=delta),
        gaps=gaps,
        lower=float(np.sqrt(max(point.G, 0.0))),
    )
