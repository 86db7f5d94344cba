r"""Is a network a KKT point of the max-margin problem? The multipliers are found here, never taken on trust."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, IntArray, matrix, read_only, real_number, vector
from marginflow.certificates.certificate import DEFAULT_TOLERANCE, Certificate, KinkReport, Residuals, Status
from marginflow.certificates.floor import training_floor
from marginflow.certificates.multipliers.best import Multipliers, best_multipliers, feasible
from marginflow.certificates.multipliers.least_squares import Point, StationarityProblem
from marginflow.certificates.pattern import KINK_TOLERANCE, Pattern, coordinates, pair_blocks, recognise
from marginflow.certificates.sizes import check_sizes, of_ordinary_size
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.evaluation import augmented_samples

_CANDIDATE_IS_ENOUGH = 1e-2 * DEFAULT_TOLERANCE
# Relative rounding of the sum of lambda_i y_i x_i over the samples, with some room for the order of its terms.
_SUM_ROUNDING = 4.0 * np.finfo(np.float64).eps


def certify(
    network: TwoLayer | Classifier,
    data: Dataset,
    *,
    penalty: float | None = None,
    multipliers: tuple[ArrayLike, ArrayLike] | None = None,
    as_given: bool = False,
    hard_patterns: bool = True,
    start: TwoLayer | None = None,
    kink_tolerance: float = KINK_TOLERANCE,
    complementarity_weight: float = 1.0,
    time_limit: float | None = None,
) -> Certificate:
    r"""Measure how far a network is from a KKT point of the max-margin problem.

    .. math:: \min \tfrac12 \|\theta\|^2 \quad \text{s.t.} \quad y_i N(x_i) \ge 1

    The network is rescaled to margin 1. Then lambda_i >= 0 and Clarke weights in [0, 1] on the kinks are chosen to
    minimise, by convex least squares,

    .. math:: \frac{\|\theta - \sum_i \lambda_i y_i \partial N(x_i)\|^2}{\|\theta\|^2}
              + \Big( \omega \, \frac{p \sum_i \lambda_i (y_i N(x_i) - 1)}{\|\theta\|^2} \Big)^2

    with p the degree of homogeneity. Every sample may carry a multiplier, and pays for its distance from the margin
    in the second term; so no tolerance decides who is on the margin, the sum is zero exactly at KKT points, and far
    from one the two reported numbers say honestly which condition fails. [VYS22, eqs. (3)-(4), App. A; FVBS23, eqs.
    (3)-(4); KYS23, Sec. 2]

    Parameters
    ----------
    network : TwoLayer
        Any network, trained by whatever or not at all. One with a logit for each class is for `certify_classifier`, and
        the sentence that refuses it says so.
    data : Dataset
    penalty : float or None
        C of the soft margin min ||theta||^2/2 + C sum_i (1 - y_i N(x_i))_+. Then nothing is rescaled, lambda_i <=
        C, and lambda_i = C is demanded where y_i N(x_i) < 1.
    multipliers : (lambda (n,), mu (n, k)) or None
        Candidate multipliers of the network at margin 1. They are clipped to what is feasible and checked; unless
        they explain the network to a hundredth of `DEFAULT_TOLERANCE`, or to half of it where rounding of their own
        sums leaves no more, the multipliers are computed anyway and the better ones kept.
    as_given : bool
        Judge the candidate multipliers as they are: nothing is computed that takes long (better multipliers, the
        residual with hard patterns), so the numbers are upper bounds on what other multipliers would give.
    hard_patterns : bool
        Whether to compute also what the stationarity would be without Clarke weights (`kink_report.hard_residual`): a
        second least-squares problem, which at large sizes takes most of the time.
    start : TwoLayer or None
        Where training started; adds `floor` to the certificate.
    kink_tolerance : float
        Relative tolerance of `recognise`.
    complementarity_weight : float
        omega above. 0 minimises stationarity alone.
    time_limit : float or None
        Seconds after which the best multipliers so far are judged, and the residual with hard patterns is left out.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.certificates import certify
    >>> from marginflow.data import Dataset
    >>> from marginflow.networks import Classifier, TwoLayer
    >>> data = Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    >>> network = TwoLayer(W=np.eye(2), v=[1.0, -1.0])
    >>> certificate = certify(network, data)
    >>> certificate.holds()
    True
    >>> certificate.multipliers
    array([1., 1.])
    """
    began = time.monotonic()
    if isinstance(network, Classifier):
        raise InputError(
            f"network has a logit for each of {network.n_classes} classes, and certify is about one output; "
            "call marginflow.certificates.certify_classifier(network, X, y), with y from 0 to "
            f"{network.n_classes - 1}."
        )
    _check(network, data)
    deadline = np.inf if time_limit is None else began + real_number("time_limit", time_limit, at_least=0.0)
    given = network
    network, power = (network, 1.0) if penalty is not None else of_ordinary_size(network)
    values = check_sizes(network, data.X)
    tolerance = real_number("kink_tolerance", kink_tolerance, at_least=0.0, below=1.0)
    weight = real_number("complementarity_weight", complementarity_weight, at_least=0.0)
    cap = np.inf if penalty is None else real_number("penalty", penalty, above=0.0)
    if network.norm_squared() == 0.0:
        raise InputError("Every trained parameter of the network is zero; there is nothing to certify.")
    candidate = None if multipliers is None else _candidate(multipliers, data.n_samples, network.width)
    floor = None if start is None else training_floor(start, given, data)
    least = float((data.y * values).min())
    if penalty is None and least <= 0:
        pattern, Z = recognise(network, data.X, tolerance)
        nothing = np.zeros(data.n_samples)
        clarke = np.multiply(pattern.active, 1.0, out=Z)  # in its memory: at many pairs another array takes long
        certificate = _evaluate(network, data, pattern, nothing, clarke, None, weight)
        return replace(certificate, status="does not separate", scale=power, floor=floor)
    scale = 1.0 if penalty is not None else least ** (-1.0 / network.degree)
    at_one = network if penalty is not None else network.scaled(scale)
    pattern, Z = recognise(at_one, data.X, tolerance)
    pose = partial(stationarity_problem, at_one, data, pattern, Z, cap=cap, weight=weight)
    found = None if candidate is None else _explained(pose, candidate)
    if found is None:
        problem = pose()
        deadline -= time.monotonic() - began  # to judge what is found takes about as long as to pose the problem
        enough = np.inf if as_given else _enough(problem, candidate)
        found = best_multipliers(problem, candidate, enough=enough, deadline=deadline)
    status: Status = "candidate accepted" if candidate is not None and found.from_start else "solved"
    clarke = clarke_weights(pattern, found.lam, found.mu)
    certificate = _evaluate(at_one, data, pattern, found.lam, clarke, penalty, weight)
    norm = float(np.sqrt(at_one.norm_squared()))
    hard = None
    in_time = not as_given and time.monotonic() <= deadline
    if certificate.kink_report.count and hard_patterns and in_time:
        # Parallel neurons are merged first: the residual of a neuron is that of its copies together.
        merged = at_one.compact()
        merged_pattern, merged_Z = recognise(merged, data.X, tolerance)
        hard_pattern = replace(merged_pattern, active=merged_pattern.positive, kink=np.zeros_like(merged_pattern.kink))
        hard_problem = stationarity_problem(merged, data, hard_pattern, merged_Z, cap=cap, weight=weight)
        hard_found = best_multipliers(hard_problem, deadline=deadline)
        hard_residual = hard_problem.residual(hard_found.lam, hard_found.mu)
        if time.monotonic() <= deadline:  # else better multipliers may exist, and the number would say too much
            hard = float(np.hypot(np.linalg.norm(hard_residual.hidden), np.linalg.norm(hard_residual.output))) / norm
    return replace(
        certificate,
        status=status,
        scale=scale * power,
        residuals=replace(certificate.residuals, total_lower_bound=found.bound / norm),
        kink_report=replace(certificate.kink_report, hard_residual=hard),
        floor=floor,
    )


def _explained(pose: Callable[..., StationarityProblem], candidate: Point) -> Multipliers | None:
    """The candidate, where it leaves nothing to explain: only samples that carry a multiplier are looked at.

    No other multipliers can do better then, so that the bound on what they reach is 0.
    """
    lam, mu = candidate
    carry = np.flatnonzero(lam > 0.0)
    if 2 * carry.size > lam.size:
        return None
    problem = pose(rows=carry)
    some = feasible(problem, lam[carry], mu[carry])
    size = problem.residual(*some).norm()
    if size > _CANDIDATE_IS_ENOUGH * problem.norm():
        return None
    lam, mu = np.zeros(lam.shape), np.zeros(mu.shape)
    lam[carry], mu[carry] = some
    return Multipliers(lam=lam, mu=mu, size=size, bound=0.0, from_start=True)


def _enough(problem: StationarityProblem, candidate: Point | None) -> float:
    """The residual of a candidate below which a search for other multipliers has nothing to find."""
    if candidate is None:
        return 0.0
    lengths = np.sqrt(np.vecdot(problem.T, problem.T))
    rounding = _SUM_ROUNDING * float(np.abs(candidate[0]) @ lengths) * float(np.linalg.norm(problem.v))
    return max(_CANDIDATE_IS_ENOUGH * problem.norm(), min(rounding, 0.5 * DEFAULT_TOLERANCE * problem.norm()))


def stationarity_problem(
    network: TwoLayer,
    data: Dataset,
    pattern: Pattern,
    Z: FloatArray,
    *,
    cap: float,
    weight: float,
    rows: IntArray | None = None,
) -> StationarityProblem:
    """The least-squares problem of a network at margin 1, in coordinates of the span of the samples.

    With `rows` only these samples may carry a multiplier.
    """
    X, y, active, kink = data.X, data.y, pattern.active, pattern.kink
    short = np.maximum(1.0 - y * (np.maximum(Z, 0.0) @ network.v), 0.0) if np.isfinite(cap) else None
    if rows is not None:
        X, y, active, kink, Z = X[rows], y[rows], active[rows], kink[rows], Z[rows]
    T, U = coordinates(network, X)
    trained = network.outputs == "trained"
    factor = weight * network.degree / np.sqrt(network.norm_squared())
    out = np.maximum(Z, 0.0)
    beyond = y * (out @ network.v) - 1.0
    return StationarityProblem(
        T=T,
        y=y,
        U=U,
        v=network.v,
        active=active,
        kink=kink,
        rho=out if trained else np.zeros((y.size, 0)),
        target=network.v if trained else np.zeros(0),
        omega=factor * (np.maximum(beyond, 0.0) if short is None else beyond),
        omega0=0.0 if short is None else factor * cap * float(short.sum()),
        cap=cap,
    )


def clarke_weights(pattern: Pattern, lam: FloatArray, mu: FloatArray) -> FloatArray:
    """mu_ij / lambda_i on the kinks, 0 where lambda_i is; elsewhere the slope of the ReLU."""
    clarke = pattern.active.astype(np.float64)
    i, j = np.nonzero(pattern.kink)
    clarke[i, j] = np.clip(np.divide(mu[i, j], lam[i], out=np.zeros(i.size), where=lam[i] > 0), 0.0, 1.0)
    return clarke


def _check(network: TwoLayer, data: Dataset) -> None:
    if not isinstance(network, TwoLayer):
        raise InputError(f"network is a {type(network).__name__}; a TwoLayer is expected (certify_deep takes an MLP).")
    data.require_signs()
    if network.dimension != data.dimension:
        raise InputError(
            f"The network has dimension {network.dimension}, but the samples have {data.dimension} columns."
        )


def _candidate(multipliers: tuple[ArrayLike, ArrayLike], n: int, k: int) -> Point:
    lam = vector("multipliers[0]", multipliers[0], n)
    mu = matrix("multipliers[1]", multipliers[1])
    if mu.shape != (n, k):
        raise InputError(
            f"multipliers[1] has shape {mu.shape}; ({n}, {k}) is expected, one weight per sample and neuron."
        )
    return lam, mu


def _evaluate(
    network: TwoLayer,
    data: Dataset,
    pattern: Pattern,
    lam: FloatArray,
    clarke: FloatArray,
    penalty: float | None,
    weight: float,
) -> Certificate:
    """Every number of a certificate, recomputed in ambient coordinates from the network, lambda and the weights."""
    X, y = data.X, data.y
    bias = network.b is not None
    signed = y * lam
    values, outside = np.empty(y.size), 0.0
    through_hidden, through_output = np.zeros((network.width, X.shape[1] + bias)), np.zeros(network.width)
    for block in pair_blocks(clarke):
        weights, kink = clarke[block], pattern.kink[block]
        out = np.maximum(network.preactivations(X[block]), 0.0)
        values[block] = out @ network.v
        through_output += out.T @ signed[block]
        carry = np.flatnonzero(signed[block])  # at many samples most have no multiplier
        through_hidden += (signed[block][carry, None] * weights[carry]).T @ augmented_samples(
            X[block][carry], bias=bias
        )
        off_pattern = np.abs(weights - pattern.active[block]).max(where=~kink, initial=0.0)
        outside = max(outside, float(weights.max()) - 1.0, -float(weights.min()), float(off_pattern))
    margins = y * values
    norm = float(np.sqrt(network.norm_squared()))
    hidden = network.augmented - network.v[:, None] * through_hidden
    trained = network.outputs == "trained"
    output = network.v - through_output if trained else np.zeros(network.width)
    per_neuron = np.sqrt(np.einsum("jr,jr->j", hidden, hidden) + output**2)
    stationary = float(np.linalg.norm(per_neuron))
    sizes = np.linalg.norm(network.augmented, axis=1)
    top = float(lam.max(initial=0.0))
    excess = lam * np.abs(margins - 1.0)
    below, above = float(-min(0.0, lam.min(initial=0.0))), 0.0
    if penalty is not None:
        excess = lam * np.maximum(margins - 1.0, 0.0) + (penalty - lam) * np.maximum(1.0 - margins, 0.0)
        above = max(0.0, top - penalty)
    i, j = np.nonzero(pattern.kink)
    used = (lam[i] * np.abs(clarke[i, j] - pattern.positive[i, j]) > 1e-12 * top) & (network.v[j] != 0)
    clarke.setflags(write=False)  # made for this certificate: no copy of it is needed
    return Certificate(
        status="solved",
        network=network,
        scale=1.0,
        penalty=penalty,
        multipliers=read_only(lam),
        clarke=read_only(clarke),
        margins=read_only(margins),
        kinks=read_only(pattern.kink),
        kink_report=KinkReport(
            tolerance=pattern.tolerance,
            count=int(((network.v != 0) & (sizes > 0))[j].sum()),
            largest_inside=pattern.largest_inside,
            smallest_outside=pattern.smallest_outside,
            relied_on=float(pattern.kink_offsets[used].max(initial=0.0)),
            hard_residual=None,
        ),
        live=read_only((network.v != 0) & pattern.active.any(axis=0)),
        residuals=Residuals(
            stationarity=stationary / norm,
            feasibility=max(0.0, 1.0 - float(margins.min())) if penalty is None else 0.0,
            dual_feasibility=max(outside, max(below, above) / top if top > 0 else 0.0),
            complementarity=network.degree * float(excess.sum()) / norm**2,
            complementarity_weight=weight,
            total_lower_bound=0.0,
            epsilon=stationary,
            delta=float(excess.max()),
            hidden_stationarity=float(np.linalg.norm(hidden)) / norm,
            output_stationarity=float(np.linalg.norm(output)) / norm,
            neuron_stationarity=read_only(per_neuron / norm),
        ),
    )
