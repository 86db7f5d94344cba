r"""Is a classifier a KKT point of the multi-class max-margin problem? Multipliers and Clarke weights are found here.

At margin 1, with T_i = (x_i, 1) and q_i = sum_t lambda_it (e_{y_i} - e_t), stationarity reads

.. math:: V_j = \sum_i \mathrm{relu}(z_{ij}) \, q_i , \qquad
   u_j = \sum_i T_i \sum_t \lambda_{it} (v_{j, y_i} - v_{j, t}) \, \sigma_{ijt} , \qquad \sigma_{ijt} \in [0, 1]

with sigma = 1 on active pairs and 0 on inactive ones. Clarke weights belong to (i, j, t), and on a kink only
mu_ij = sum_t lambda_it dv_ijt sigma_ijt matters, dv_ijt = v_{j, y_i} - v_{j, t}: any number between the sums of the
negative and of the positive parts. So the best multipliers are a convex quadratic program (see `program`).
"""

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, matrix, read_only
from marginflow.certificates.certificate import DEFAULT_TOLERANCE
from marginflow.certificates.classes.certificate import ClassifierKKT
from marginflow.certificates.classes.program import ClassesProgram, ClassMultipliers, bounds_of_mu, differences
from marginflow.certificates.pattern import KINK_TOLERANCE, recognise
from marginflow.certificates.sizes import check_sizes, of_ordinary_size
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.classifier import class_numbers
from marginflow.networks.evaluation import augmented_samples, checked_points

# Pairs (sample, rival) with margins up to this take part from the start; others enter when they would help.
_NEAR = 1.05
_ROUNDS = 20
_CANDIDATE_IS_ENOUGH = 1e-2 * DEFAULT_TOLERANCE


def certify_classifier(
    network: Classifier,
    X: ArrayLike,
    y: ArrayLike,
    *,
    multipliers: tuple[ArrayLike, ArrayLike] | None = None,
    as_given: bool = False,
) -> ClassifierKKT:
    r"""Measure how far a classifier is from a KKT point of the multi-class max-margin problem.

    .. math:: \min \tfrac12 \|\theta\|^2 \quad \text{s.t.} \quad f_{y_i}(x_i) - f_t(x_i) \ge 1, \; t \ne y_i

    The network is rescaled to margin 1; then lambda_it >= 0 and Clarke weights on the kinks are chosen to minimise the
    same sum as in `certify`. For two classes it is that of `certify` under the map `Classifier.of_two`.

    Parameters
    ----------
    network : Classifier
        Without output bias: with one the network is not homogeneous, and the problem another.
    X : array, shape (n, d)
        Samples.
    y : array, shape (n,)
        Classes 0, ..., K - 1.
    multipliers : (lambda (n, K), mu (n, k)) or None
        Candidates for the network at margin 1. They are clipped to what is feasible and judged like any others; unless
        they explain the network to a hundredth of `DEFAULT_TOLERANCE`, the multipliers are computed anyway and the
        better ones kept.
    as_given : bool
        Judge the candidates as they are: nothing is computed that takes long.

    Returns
    -------
    ClassifierKKT

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.certificates import certify_classifier
    >>> from marginflow.networks import Classifier
    >>> V = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
    >>> net = Classifier(W=np.sqrt(6.0) * np.eye(3), V=V)  # every neuron explains one sample
    >>> certify_classifier(net, np.eye(3), [0, 1, 2]).holds()
    True
    """
    if not isinstance(network, Classifier):
        raise InputError(f"network is a {type(network).__name__}; a Classifier is expected (certify takes a TwoLayer).")
    if not network.homogeneous:
        raise InputError(
            "The network has output biases, so that it is not homogeneous and there are no KKT conditions to ask "
            "about; radii, flips and the certified accuracy do not need them."
        )
    points = checked_points(X, network.dimension)
    own = class_numbers("y", y, network.n_classes, points.shape[0])
    network, power = of_ordinary_size(network)
    check_sizes(network, points)
    if network.norm_squared() == 0.0:
        raise InputError("Every parameter of the network is zero; there is nothing to certify.")
    least = float(network.margins(points, own).min())
    if not least > 0:
        nothing = ClassMultipliers(lam=np.zeros((own.size, network.n_classes)), mu=np.zeros((own.size, network.width)))
        kinks = np.zeros((own.size, network.width), dtype=np.bool_)
        return _evaluate(network, points, own, kinks, nothing, power)
    at_one = network.scaled(least**-0.5)
    scale = power * least**-0.5
    pattern, Z = recognise(TwoLayer(W=at_one.W, b=at_one.b, v=np.ones(at_one.width)), points, KINK_TOLERANCE)
    margins = margins_of(at_one, points, own)
    program = ClassesProgram.of(at_one, points, own, pattern, Z, margins)
    candidate = None
    if multipliers is not None:
        given = _feasible(at_one, own, pattern.kink, multipliers)
        candidate = _evaluate(at_one, points, own, pattern.kink, given, scale)
        if as_given or candidate.total <= _CANDIDATE_IS_ENOUGH:
            return candidate
    chosen = margins <= _NEAR
    found, least = program.solve(chosen), np.inf
    for _ in range(_ROUNDS):
        if not program.size(found) < least:  # more pairs, more rounding: what was found before is better
            break
        best, least = found, program.size(found)
        wanted = program.wanted(found) & ~chosen & np.isfinite(margins)
        if not wanted.any():
            break
        chosen |= wanted
        found = program.solve(chosen)
    computed = _evaluate(at_one, points, own, pattern.kink, best, scale)
    return computed if candidate is None or computed.total <= candidate.total else candidate


def _feasible(
    network: Classifier, own: IntArray, kinks: BoolArray, multipliers: tuple[ArrayLike, ArrayLike]
) -> ClassMultipliers:
    """Candidates of the right shape with lambda >= 0, zero for the own class, and mu within its bounds on the kinks."""
    lam, mu = matrix("multipliers[0]", multipliers[0]).copy(), matrix("multipliers[1]", multipliers[1])
    for index, (given, shape) in enumerate(((lam, (own.size, network.n_classes)), (mu, kinks.shape))):
        if given.shape != shape:
            raise InputError(f"multipliers[{index}] has shape {given.shape}; {shape} is expected.")
    lam[np.arange(own.size), own] = 0.0
    np.maximum(lam, 0.0, out=lam)
    low, high = bounds_of_mu(differences(network.V, own), lam)
    return ClassMultipliers(lam=lam, mu=np.where(kinks, np.clip(mu, low, high), 0.0))


def margins_of(network: Classifier, X: FloatArray, own: IntArray) -> FloatArray:
    """f_{y_i} - f_t, shape (n, K); infinite for t = y_i."""
    logits = network(X)
    index = np.arange(own.size)
    margins: FloatArray = logits[index, own][:, None] - logits
    margins[index, own] = np.inf
    return margins


def _evaluate(
    network: Classifier, X: FloatArray, own: IntArray, kinks: BoolArray, found: ClassMultipliers, scale: float
) -> ClassifierKKT:
    """Every number, recomputed from the network, lambda and mu."""
    lam, mu = found.lam, found.mu
    index = np.arange(own.size)
    T = augmented_samples(X, bias=network.b is not None)
    Z = network.preactivations(X)
    margins = margins_of(network, X, own)
    dv = differences(network.V, own)
    through = np.einsum("it,itj->ij", lam, dv)
    slopes = np.where(kinks, mu, np.where(Z > 0, through, 0.0))
    hidden = network.augmented - slopes.T @ T
    q = -lam.copy()
    q[index, own] += lam.sum(axis=1)
    output = network.V - q.T @ np.maximum(Z, 0.0)
    norm = float(np.sqrt(network.norm_squared()))
    stationarity = float(np.hypot(np.linalg.norm(hidden), np.linalg.norm(output))) / norm
    finite = np.isfinite(margins)
    excess = lam[finite] * np.abs(margins[finite] - 1.0)
    complementarity = 2.0 * float(excess.sum()) / norm**2
    fewest, most = bounds_of_mu(dv, lam)
    top = float(lam.max(initial=0.0))
    size = top * max(float(np.abs(dv).max()), np.finfo(float).tiny)
    outside = np.where(kinks, np.maximum(mu - most, fewest - mu), 0.0).max(initial=0.0)
    below = max(float(-lam.min(initial=0.0)), float(np.abs(lam[index, own]).max()))
    return ClassifierKKT(
        status="solved" if margins.min() > 0 else "does not separate",
        stationarity=stationarity,
        feasibility=max(0.0, 1.0 - float(margins.min())),
        dual_feasibility=max(float(outside) / size, below / top) if top > 0 else 0.0,
        complementarity=complementarity,
        total=float(np.hypot(stationarity, complementarity)),
        norm_identity=abs(2.0 * float(lam.sum()) / norm**2 - 1.0),
        multipliers=read_only(lam),
        mu=read_only(mu),
        shared_weights=bool(_shared(through, mu, kinks, size)),
        kinks=read_only(kinks),
        margins=read_only(margins),
        network=network,
        scale=scale,
    )


def _shared(through: FloatArray, mu: FloatArray, kinks: BoolArray, size: float) -> bool:
    """Whether mu_ij = sigma_ij sum_t lambda_it dv_ijt with sigma_ij in [0, 1], up to rounding."""
    slack = 1e-9 * size
    low, high = np.minimum(through, 0.0) - slack, np.maximum(through, 0.0) + slack
    return bool(((mu >= low) & (mu <= high))[kinks].all())
