r"""The convex pair: an exact KKT point with one positive and one negative neuron on any separable data."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy import linalg, optimize

from marginflow.arrays import BoolArray, FloatArray
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.closed_forms.closed_form import ClosedForm
from marginflow.limit.closed_forms.pair_active_set import NotSeparableError, PairProgram, PairSolution
from marginflow.limit.closed_forms.settings import BEYOND_SECANT, EXACT, LONGEST_STEP, MAX_ROUNDS, SETTLED
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


def convex_pair(data: Dataset, *, bias: bool = True) -> ClosedForm:
    r"""The best network with one positive and one negative neuron that is active on its own class.

    .. math:: \min \|U_+\| + \|U_-\| \quad\text{s.t.}\quad U_{y_i} \cdot \tilde x_i \ge 1 \ (\alpha_i), \qquad
              U_{y_i} \cdot \tilde x_i - U_{-y_i} \cdot \tilde x_i \ge 1 \ (\beta_i)

    for all i is convex, and its optimality conditions are the Clarke KKT conditions of the network with
    :math:`v_\pm = \pm \|U_\pm\|^{1/2}`, :math:`(w, b)_\pm = U_\pm / |v_\pm|`: the multipliers are
    :math:`\lambda_i = \alpha_i + \beta_i`, and relu' is 1 on the own neuron and :math:`\beta_i / \lambda_i` on the
    other. The norms are replaced by :math:`\|U\|^2 / (2s) + s/2`; the active set of that quadratic program is found by
    pivoting, and s = ||U|| is a fixed point that costs a few factorisations.

    Source: [FVBS23, 7.2 ConvexPairKKT].

    Parameters
    ----------
    data : Dataset
        Linearly separable (through the origin, if there is no bias). With one class only, there is one neuron.
    bias : bool
        Whether the network has hidden biases.

    Returns
    -------
    ClosedForm of width 2 (use `widened` for more)

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit.closed_forms.convex_pair import convex_pair
    >>> data = Dataset(X=[[2.0], [1.0], [-1.0], [-3.0]], y=[1, 1, -1, -1])
    >>> point = convex_pair(data)
    >>> point.network.margins(data.X, data.y).round(12)
    array([1.5, 1. , 1. , 2. ])
    >>> point.multipliers.round(12)
    array([0.        , 0.70710678, 0.70710678, 0.        ])
    """
    data.require_signs()
    data.require_no_contradiction()
    first, owner = np.unique(data.X, axis=0, return_index=True, return_inverse=True)[1:]
    if first.size < data.n_samples:
        # Equal samples are one constraint; they share its multiplier equally.
        once = convex_pair(data.subset(first), bias=bias)
        owner = owner.ravel()
        shared = once.multipliers / np.bincount(owner)
        return replace(once, data=data, multipliers=shared[owner], clarke=once.clarke[owner])
    Xt = augmented_samples(data.X, bias=bias)
    zero = np.flatnonzero(~Xt.any(axis=1))
    if zero.size:
        raise InputError(f"Sample {zero[0]} is zero; without bias no network gives it a margin.")
    program = PairProgram(Xt, np.array(data.y))
    try:
        solution = _settle(program)
    except NotSeparableError as error:
        raise InputError(_not_separable(error.weights, data, Xt)) from None
    except linalg.LinAlgError as error:
        raise InputError(
            f"The {data.n_samples} samples are so nearly dependent that the active set cannot be settled ({error}); "
            "data whose classes are further apart, relative to their size, are expected."
        ) from None
    point = _network(solution, data, bias)
    miss = _stationarity(point, Xt)
    if miss > EXACT:
        raise InputError(
            f"The convex pair is stationary up to {miss:.1g} only, its objective {point.objective:.1g} being so large; "
            "data whose classes are further apart, relative to their size, are expected."
        )
    return point


def _settle(program: PairProgram) -> PairSolution:
    r"""Alternate between the active set at fixed scales and the scales s = ||U||.

    U depends on the ratio of the scales only, so with :math:`\tau = \log (s_+ / s_-)` this is one scalar equation
    :math:`T(\tau) = \log (\|U_+\| / \|U_-\|) = \tau`, where T increases with a slope below 1: the root of
    T - tau is bracketed by secant steps that go too far on purpose, and found by Brent's method.
    """
    found = _start(program, np.ones(2))
    if not program.two_classes:
        return found[0]
    best, best_error = found[0], np.inf

    @cache
    def error(tau: float) -> float:
        nonlocal found, best, best_error
        if best_error <= SETTLED:
            return 0.0
        scales = np.exp(np.array([tau, -tau]) / 2) * np.sqrt(best.norms.prod())
        found = program.pivot(found[1], found[2], scales) or _start(program, scales)
        miss = float(np.log(found[0].norms[0] / found[0].norms[1])) - tau
        if abs(miss) < best_error:
            best, best_error = found[0], abs(miss)
        return 0.0 if abs(miss) <= SETTLED else miss

    near, near_error = 0.0, error(0.0)
    far, far_error = near_error, error(near_error)
    for _ in range(MAX_ROUNDS):
        if near_error * far_error <= 0:
            break
        slope = float(np.clip((far_error - near_error) / (far - near), -1.0, -1e-9))
        near, near_error = far, far_error
        far += float(np.clip(-BEYOND_SECANT * far_error / slope, -LONGEST_STEP, LONGEST_STEP))
        far_error = error(far)
    if near_error * far_error < 0:
        optimize.brentq(error, near, far, xtol=1e-15, maxiter=MAX_ROUNDS, disp=False)
    return best


def _start(program: PairProgram, scales: FloatArray) -> tuple[PairSolution, BoolArray, BoolArray]:
    """Everything on the margin and on the kink, then pivots; or, for dependent rows, one constraint at a time."""
    everything = np.ones(program.y.size, dtype=bool)
    found = program.pivot(everything, everything & program.two_classes, scales) if program.independent else None
    if found is None:
        A, B = program.dual_active_set(scales)
        found = program.pivot(A, B, scales)
    if found is None:
        raise linalg.LinAlgError("pivoting from the dual active set failed")
    return found


def _network(solution: PairSolution, data: Dataset, bias: bool) -> ClosedForm:
    present = np.array([bool((data.y > 0).any()), bool((data.y < 0).any())])
    weights = solution.coefficients / np.where(solution.norms > 0, solution.norms, 1.0)[:, None]
    positive = data.y > 0
    own = np.where(positive, weights[0], weights[1])
    other = -np.where(positive, weights[1], weights[0])
    lam = np.where(solution.alpha + solution.beta > 0, np.maximum(own, 0.0), 0.0)
    # Off the support the weight is the pattern; on it beta / lambda: 1 where active, 0 where not, between on a kink.
    ratio = np.clip(other / np.where(lam > 0, lam, 1.0), 0.0, 1.0)
    opposite = np.where(lam > 0, ratio, (solution.other > 0).astype(np.float64))
    clarke = np.column_stack([np.where(positive, 1.0, opposite), np.where(positive, opposite, 1.0)])
    return ClosedForm(
        network=TwoLayer.from_directions(solution.U[present], np.array([1.0, -1.0])[present], bias=bias),
        data=data,
        multipliers=lam,
        clarke=clarke[:, present],
        source="FVBS23/7.2 (convex pair)",
    )


def _stationarity(point: ClosedForm, Xt: FloatArray) -> float:
    """Largest distance between u_j / ||u_j|| and s_j sum_i y_i lambda_i phi'_ij xt_i."""
    U = point.network.directions
    units = U / np.linalg.norm(U, axis=1)[:, None]
    sums = ((point.data.y * point.multipliers)[:, None] * point.clarke * point.network.signs).T @ Xt
    return float(np.linalg.norm(units - sums, axis=1).max())


def _not_separable(weights: FloatArray, data: Dataset, Xt: FloatArray) -> str:
    largest = np.argsort(-weights, kind="stable")[: min(4, int((weights > 0).sum()))]
    listed = ", ".join(f"{weights[i]:.3g} on sample {i}" for i in largest)
    miss = float(np.linalg.norm((weights * data.y) @ Xt))
    return (
        f"The {data.n_samples} samples are not linearly separable, which the convex pair needs: weights ({listed}"
        f"{', ...' if int((weights > 0).sum()) > largest.size else ''}) on the two classes give the same point up to "
        f"{miss:.1g}."
    )
