r"""`kkt_point_of_classes`: from data with K classes to a certified KKT point of their max-margin problem.

.. math:: \min \tfrac12 \|\theta\|^2 \quad \text{s.t.} \quad f_{y_i}(x_i) - f_t(x_i) \ge 1, \; t \ne y_i

The way: an augmented Lagrangian with rounded kinks (`homotopy`), Newton's method on the structure that shows itself
(`newton`), the certificate of `certify_classifier`, which knows neither; another random network where that fails.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import IntArray, real_number, whole_number
from marginflow.certificates import certify_classifier
from marginflow.certificates.classes import ClassifierKKT
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.classes.homotopy import Stage, stages
from marginflow.limit.classes.newton import Exact, read_structure, settle
from marginflow.limit.classes.problem import ClassesProblem, Weights
from marginflow.limit.classes.settings import ATTEMPTS, NEAR, READ_FROM, SCALE
from marginflow.networks import Classifier


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassesLimit:
    """A KKT point of the multi-class max-margin problem, with the evidence.

    Attributes
    ----------
    network : Classifier
        At margin 1, parallel neurons merged; without output biases. Logit t belongs to `data.classes[t]`.
    certificate : ClassifierKKT
        From the certificates room, which knows no solver.
    exact : bool
        Whether the certificate holds at the tolerance.
    status : str
        A sentence.
    attempts : int
        Random networks that were begun from.
    seconds : float
    """

    network: Classifier
    certificate: ClassifierKKT
    exact: bool
    status: str
    attempts: int
    seconds: float

    def __repr__(self) -> str:
        return f"ClassesLimit({self.status} {self.network!r})"


def kkt_point_of_classes(
    data: Dataset,
    *,
    width: int = 100,
    seed: int = 0,
    bias: bool = True,
    tolerance: float = 1e-9,
    time_limit: float | None = 60.0,
) -> ClassesLimit:
    """A certified KKT point of the max-margin problem with K classes, K >= 2.

    Parameters
    ----------
    data : Dataset
        No identical points of different classes.
    width : int
        Neurons of the random network at the start; far fewer remain.
    seed : int
    bias : bool
        Whether neurons have a bias.
    tolerance : float
        What the certificate must reach for the status to say "exact".
    time_limit : float or None
        Seconds after which the best point so far is returned as not exact.

    Returns
    -------
    ClassesLimit

    Examples
    --------
    >>> import numpy as np
    >>> import marginflow as mf
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> data = mf.data.Dataset(X, np.arange(30) % 3)
    >>> mf.limit.kkt_point_of_classes(data, width=20).exact
    True
    """
    began = time.monotonic()
    width, seed = whole_number("width", width, minimum=2), whole_number("seed", seed, minimum=0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    limit = np.inf if time_limit is None else real_number("time_limit", time_limit, above=0.0)
    own = ((data.y + 1.0) / 2.0 if len(data.classes) == 2 else data.y).astype(np.int64)
    _require_no_contradiction(data, own)
    T = np.column_stack([data.X, np.ones(own.size)]) if bias else np.array(data.X)
    problem = ClassesProblem(T, own, len(data.classes))

    def over() -> bool:
        return time.monotonic() - began > limit

    best: tuple[Classifier, ClassifierKKT] | None = None
    attempts = 0
    while attempts < ATTEMPTS and not (attempts and over()):
        start = Classifier.initialise(
            width, data.dimension, problem.n_classes, scale=SCALE, bias=bias, seed=seed + attempts
        )
        attempts += 1
        last: Stage | None = None
        for last in stages(problem, Weights(start.augmented, start.V), over):
            if last.delta > READ_FROM:
                continue
            for multiple in NEAR:
                found = settle(problem, read_structure(problem, last.weights, last.lam, multiple * last.delta), over)
                if found is None:
                    continue
                judged = _judged(problem, data, own, found, bias)
                if best is None or judged[1].residual < best[1].residual:
                    best = judged
                if judged[1].residual <= tolerance:
                    return _limit(judged, True, attempts, began)
        if best is None and last is not None:
            network = problem.network(last.weights, bias=bias)
            best = network, certify_classifier(network, data.X, own)
    if best is None:
        raise InputError("No network was found within the time limit; allow more time (time_limit).")
    return _limit(best, False, attempts, began)


def _judged(
    problem: ClassesProblem, data: Dataset, own: IntArray, found: Exact, bias: bool
) -> tuple[Classifier, ClassifierKKT]:
    network = problem.network(found.weights, bias=bias)
    return network, certify_classifier(network, data.X, own, multipliers=(found.lam, found.mu))


def _limit(found: tuple[Classifier, ClassifierKKT], exact: bool, attempts: int, began: float) -> ClassesLimit:
    _, certificate = found
    residual = certificate.residual
    if exact:
        status = f"Exact KKT point: residual {residual:.1e}."
    elif certificate.status == "does not separate":
        status = "Not separated: no network with positive margins was found; try a larger width."
    else:
        status = f"Not exact: the structure did not settle; residual {residual:.1e}. Try another seed or more time."
    return ClassesLimit(
        network=certificate.network,
        certificate=certificate,
        exact=exact,
        status=status,
        attempts=attempts,
        seconds=time.monotonic() - began,
    )


def _require_no_contradiction(data: Dataset, own: IntArray) -> None:
    order = np.lexsort(data.X.T[::-1])
    same = (np.diff(data.X[order], axis=0) == 0).all(axis=1) & (np.diff(own[order]) != 0)
    if same.any():
        first = int(np.argmax(same))
        i, j = sorted((int(order[first]), int(order[first + 1])))
        raise InputError(f"Samples {i} and {j} are identical but have different classes; no network separates them.")
