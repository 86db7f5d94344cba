r"""From a solution of the linear program to rounding error: Newton's method on the structure that it shows.

At the optimum every neuron stands at a local maximum of :math:`s F_\lambda`, and the kind of the maximum says how it
may move: in a cell freely, on an arc along its circle, at a vertex not at all. With :math:`Q_j` an orthonormal basis of
the complement of its kinks and :math:`u_j = Q_j a_j` the KKT conditions are

.. math:: \frac{a_j}{\|a_j\|} = s_j \sum_{i\ \mathrm{active}} y_i \lambda_i\, Q_j^T z_i, \qquad
          y_i \sum_j s_j\,\mathrm{relu}(z_i \cdot u_j) = 1 \ \text{ for free } i,

a saddle system in :math:`(a, \lambda)`. Its steps are of least norm, so that networks which are not unique do no harm.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates.multipliers.box_quadratic import least_squares_in_box
from marginflow.limit.interior.finish import finish as finish_structure
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.structure import Guess
from marginflow.limit.plane.arrangement import Survey
from marginflow.limit.plane.program import Program
from marginflow.limit.plane.settings import CONSISTENT, CUT_OFF, NOTHING, ON_KINK, STEPS, WEIGHT
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK
from marginflow.limit.units import Units


@dataclass(frozen=True, eq=False)
class FinishedPlane:
    """A point of the problem whose margins and stationarity hold to rounding.

    Attributes
    ----------
    U : array, shape (k, 3)
        Rows u_j.
    s : array, shape (k,)
    lam : array, shape (n,)
        Solves the equations of the neurons; `admissible` finds those of their solutions that are multipliers.
    active, kink : bool arrays, shape (n, k)
    freedom : array, shape (n, f)
        Changes of lambda that leave every equation as it is; f is mostly 0.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    active: BoolArray
    kink: BoolArray
    freedom: FloatArray


def finish(program: Program, found: Survey, *, soft: bool) -> FinishedPlane | None:
    """Newton's method from the program's solution; None where it does not end in a consistent point.

    `found` surveys the program's multipliers, with all local maxima that may be 1 in the end; `soft` says that the caps
    are those of a soft margin, so that multipliers may stay there.
    """
    Z, y = program.rows, program.y
    live = program.sizes > NOTHING * program.sizes.max(initial=0.0)
    members = _nearest_peak(program.directions[: len(live)][live], program.signs[: len(live)][live], found)
    if members is None:
        return None
    directions, signs, owner = members
    sizes = np.bincount(owner, weights=program.sizes[live], minlength=len(signs))
    norms = np.linalg.norm(Z, axis=1)
    z = Z @ directions.T
    kink = np.abs(z) <= ON_KINK * norms[:, None]
    active = (z > 0) & ~kink
    typical = float(program.multipliers.mean())
    excess = program.margins() + program.slack - 1.0
    capped = (program.caps - program.multipliers <= 1e-9 * program.caps) & (program.slack > 0) & soft
    free = ~capped & (program.multipliers > typical * np.abs(excess))
    bases = [_complement(Z[kink[:, j]]) for j in range(len(signs))]
    if any(basis.shape[1] == 0 for basis in bases):
        return None
    a = [sizes[j] * bases[j].T @ directions[j] for j in range(len(signs))]
    lam = np.where(capped, program.caps, np.where(free, program.multipliers, 0.0))
    solved = _newton(Z, y, signs, active, bases, a, lam, free)
    if solved is not None:
        a, found_lam, freedom = solved
        U = np.array([basis @ part for basis, part in zip(bases, a, strict=True)])
        end = FinishedPlane(U, signs, found_lam, active, kink, freedom)
        if _consistent(program, end, capped):
            return end
    held = kink & (y[:, None] * signs < 0)
    state = np.where(held, KINK, np.where(z > 0, ACTIVE, INACTIVE))
    guess = Guess(sizes[:, None] * directions, signs, lam, state, free, capped, np.arange(len(signs)))
    return _scaled(program, guess, soft=soft)


def _scaled(program: Program, guess: Guess, *, soft: bool) -> FinishedPlane | None:
    """By Newton's method of the interior point, whose steps are scaled neuron by neuron and whose structure may change.

    Where neurons are of the most different sizes (200 random labels on a circle: 1e1 to 1e4) it settles and the other
    does not. Which of several multipliers prove most is not asked.
    """
    Z, y = program.rows, program.y
    point = finish_structure(InteriorProgram(Z, y, float(program.caps.max()) if soft else np.inf, Units(1.0)), guess)
    if point is None:
        return None
    kink = (point.mu != 0.0) & (point.mu != point.lam[:, None])
    active = (Z @ point.U.T > 0) & ~kink
    return FinishedPlane(point.U, point.s, point.lam, active, kink, np.zeros((len(y), 0)))


def _nearest_peak(
    directions: FloatArray, signs: FloatArray, found: Survey
) -> tuple[FloatArray, FloatArray, IntArray] | None:
    """The peaks that the columns in use stand at, their signs, and for every column which it is."""
    peaks = np.vstack([part.directions for part in found.peaks])
    peak_signs = np.concatenate([np.full(len(part.values), part.sign) for part in found.peaks])
    if signs.size == 0 or not all((peak_signs == sign).any() for sign in np.unique(signs)):
        return None
    closeness = np.where(signs[:, None] == peak_signs, directions @ peaks.T, -2.0)
    used, owner = np.unique(np.argmax(closeness, axis=1), return_inverse=True)
    return peaks[used], peak_signs[used], owner


def _complement(rows: FloatArray) -> FloatArray:
    """Orthonormal basis (3, 3 - rank) of what is orthogonal to the rows."""
    if len(rows) == 0:
        return np.eye(3)
    _, sigma, right = np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None])
    rank = int((sigma > 1e-7 * sigma[0]).sum())
    return right[rank:].T


def _newton(
    Z: FloatArray,
    y: FloatArray,
    s: FloatArray,
    active: BoolArray,
    bases: list[FloatArray],
    a: list[FloatArray],
    lam: FloatArray,
    free: BoolArray,
) -> tuple[list[FloatArray], FloatArray, FloatArray] | None:
    """Solve the saddle system; None where a neuron vanishes or the steps do not become small."""
    ends = np.cumsum([basis.shape[1] for basis in bases])
    starts = ends - [basis.shape[1] for basis in bases]
    # Row i of B: the derivative of margin i by all of a.
    B = np.hstack([(s[j] * y * active[:, j])[:, None] * (Z @ bases[j]) for j in range(len(s))])
    margin_rows = B[free]
    p, q = int(ends[-1]), int(free.sum())
    x, lam = np.concatenate(a), lam.copy()
    smallest = np.inf
    for _ in range(STEPS):
        K = np.zeros((p + q, p + q))
        residual = np.zeros(p + q)
        for start, end in zip(starts, ends, strict=True):
            size = float(np.linalg.norm(x[start:end]))
            if size <= 0.0:
                return None
            unit = x[start:end] / size
            K[start:end, start:end] = (np.eye(end - start) - np.outer(unit, unit)) / size
            residual[start:end] = unit
        residual[:p] -= B.T @ lam
        residual[p:] = margin_rows @ x - 1.0
        K[:p, p:], K[p:, :p] = -margin_rows.T, margin_rows
        # Sizes and multipliers in their own units, so that the least norm means something.
        unit_of = np.concatenate([np.full(p, np.abs(x).mean()), np.full(q, max(np.abs(lam).mean(), 1e-300))])
        step = scipy.linalg.lstsq(K * unit_of, -residual, cond=CUT_OFF, lapack_driver="gelsy")[0] * unit_of
        x = x + step[:p]
        lam[free] += step[p:]
        change = float(np.abs(step / unit_of).max())
        if not np.isfinite(change) or change > 1e6:
            return None
        if change <= 1e-14 or (change < 1e-11 and change >= 0.5 * smallest):
            break
        smallest = min(smallest, change)
    else:
        if smallest > 1e-10:
            return None
    kernel = scipy.linalg.null_space(margin_rows.T, rcond=1e-9) if q else np.zeros((0, 0))
    freedom = np.zeros((len(y), kernel.shape[1]))
    freedom[free] = kernel
    return [x[start:end] for start, end in zip(starts, ends, strict=True)], lam, freedom


def _consistent(program: Program, end: FinishedPlane, capped: BoolArray) -> bool:
    """Whether every pattern and every margin is what the structure takes it for."""
    Z, y, U, active, kink = program.rows, program.y, end.U, end.active, end.kink
    z = Z @ U.T
    slack = CONSISTENT * np.linalg.norm(Z, axis=1)[:, None] * np.linalg.norm(U, axis=1)
    margins = y * (np.maximum(np.where(kink, 0.0, z), 0.0) @ end.s)
    return (
        bool(((z >= -slack) | ~active).all())
        and bool(((z <= slack) | active | kink).all())
        and bool((margins[~capped] >= 1 - 1e-10).all())
        and bool((margins[capped] <= 1 + 1e-10).all())
    )


def clarke_products(Z: FloatArray, y: FloatArray, end: FinishedPlane) -> FloatArray | None:
    """mu_ij = lambda_i sigma_ij, shape (n, k); None where a kink would need a weight outside of [0, 1]."""
    mu = np.where(end.active, end.lam[:, None], 0.0)
    for j in range(len(end.s)):
        rows = np.flatnonzero(end.kink[:, j])
        if rows.size == 0:
            continue
        missing = end.U[j] / np.linalg.norm(end.U[j]) - end.s[j] * (y * mu[:, j]) @ Z
        pulls = (end.s[j] * y[rows])[:, None] * Z[rows]
        mu[rows, j] = least_squares_in_box(pulls.T, missing, end.lam[rows], np.zeros(rows.size))
        if float(np.linalg.norm(missing - mu[rows, j] @ pulls)) > WEIGHT:
            return None
    return mu
