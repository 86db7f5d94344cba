r"""scikit-learn: a two-layer ReLU network of maximal margin as a classifier, certified.

Needs the extra `sklearn`; this module is the one place that imports scikit-learn at its head, since a class must know
its bases.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.influences import influence
from marginflow.limit import Limit
from marginflow.limit.support import support_points
from marginflow.networks import Classifier, TwoLayer

# Of the random networks that descent begins at: the size that torch begins at. With 0.3 fewer neurons survive, and ten
# digits are a percentage point less accurate.
_SCALE = 1.0
_NEURONS_OF_A_CLASS = 10
# C by itself: the first in many dimensions, the second divided by their number in few.
_PRICE, _PRICE_IN_ONE_DIMENSION = 0.5, 4.0


# scikit-learn has no types, so its bases are of type Any.
class MaxMarginReLUClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Classifier by a two-layer ReLU network at a certified KKT point of the max-margin problem.

    .. math:: \min \tfrac12 \|\theta\|^2 + C \sum_i (1 - y_i N(x_i))_+

    or, with C=None, to the hard margin: min 1/2 ||theta||^2 s.t. y_i N(x_i) >= 1.

    Two classes, or more by one against the rest: a network N_t for each class t, positive on its samples, and the class
    with the largest N_t(x) is predicted; each of them is a certified KKT point of its own two-class problem. Where the
    origin lies and what unit a feature has does not matter (`normalise`), so that no scaler need stand before it.

    Parameters
    ----------
    width : int or None
        Number of neurons of each network at the start; merged, far fewer remain (`n_neurons_`). None: ten for each
        class, which is 20 for the one network of two classes and 10 for each of more; more where classes in the plane
        lie in each other, so that the global optimum is taken. Ten alone are too few where one class lies around the
        other.
    C : float, "auto" or None
        Price of a missed margin; None is the hard margin, which needs data without contradictions. "auto": 0.5, and
        with fewer than eight features d the larger 4 / d, since a network bends less in few dimensions at the same
        norm (`C_`; docs/interop.md has what it was tried on).
    bias : bool
        Whether the hidden neurons have biases.
    normalise : bool
        Pose the problem at z = (x - centre) / scale with the mean of the samples (the origin without bias) and for
        every feature its largest distance from it, times what makes the root mean square length of z 1: C and the
        biases mean the same in every unit, and features that are seldom far from their mean do not count for more
        than others. False: at x itself.
    tolerance : float
        Residual at which the KKT conditions count as fulfilled.
    max_iter : int
        Iterations of the solver in each of at most three attempts; then the best network so far is kept, with a
        `ConvergenceWarning`. The same on every machine.
    time_limit : float or None
        Seconds for each class after which the same happens, wherever the solver is by then.
    warm_start : bool
        Begin a further `fit` at the networks of the last, if they have the same features and classes.
    loo_score : bool
        Whether `fit` also computes the exact leave-one-out accuracy, at the cost of several solutions; two classes.
    random_state : int, RandomState or None
        Of the initialisation.

    Attributes
    ----------
    classes_ : array, shape (K,)
        The classes; of two, N(x) > 0 stands for the second.
    limits_ : tuple of Limit
        The KKT points with certificate, duality gap, status and history, at the points z: one for two classes, else one
        for each class against the rest.
    limit_ : Limit
        The one of two classes.
    centre_, scale_ : arrays, shape (d,)
        Where z = 0 and how long one unit of z is in every feature.
    network_ : TwoLayer or Classifier
        The network that decides, as a function of x, parallel neurons merged; with more than two classes its logits
        are the N_t, so that `exact_radius`, `certified_accuracy` and `audit` take it.
    n_neurons_ : int
        Its width.
    C_ : float or None
        The price that was used.
    n_iter_ : int
        Rounds of the solver, the most of any class, at least 1.
    loo_score_ : float
        With `loo_score` and an exact point only: the share of samples that the exact KKT point without them gets right
        (`marginflow.influence`, fast mode, at the points z).
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from marginflow.interop.sklearn import MaxMarginReLUClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = MaxMarginReLUClassifier(random_state=0).fit(X, y)
    >>> classifier.score(X, y) > 0.95, [limit.certificate.holds(1e-8) for limit in classifier.limits_]
    (True, [True, True, True])
    """

    def __init__(
        self,
        width: int | None = None,
        C: float | Literal["auto"] | None = "auto",
        *,
        bias: bool = True,
        normalise: bool = True,
        tolerance: float = 1e-9,
        max_iter: int = 10_000,
        time_limit: float | None = None,
        warm_start: bool = False,
        loo_score: bool = False,
        random_state: Any = None,
    ) -> None:
        self.width = width
        self.C = C
        self.bias = bias
        self.normalise = normalise
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.loo_score = loo_score
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> MaxMarginReLUClassifier:
        """Find the KKT points; an `InputError` (a `ValueError`) says what is wrong with data or parameters.

        Parameters
        ----------
        X : array, shape (n, d)
            Dense; of a sparse matrix give `X.toarray()`.
        y : array, shape (n,)
            Classes of any type.
        """
        whole_number("max_iter", self.max_iter)
        before = self._networks_before() if self.warm_start else []
        points, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        self.classes_: NDArray[Any]
        self.classes_, index = np.unique(target, return_inverse=True)
        K = len(self.classes_)
        if K < 2:
            raise ValueError(f"The data hold one class, {self.classes_[0]!r}; the classifier needs two classes.")
        if self.loo_score and K > 2:
            raise ValueError(f"loo_score is for two classes, but y has {K}; leave it out.")
        rng = check_random_state(self.random_state)
        self.centre_: FloatArray = points.mean(axis=0) if self.normalise and self.bias else np.zeros(points.shape[1])
        self.scale_: FloatArray = _scale(points - self.centre_) if self.normalise else np.ones(points.shape[1])
        Z = (points - self.centre_) / self.scale_
        positive = [1] if K == 2 else range(K)
        self.C_: float | None = _price(self.C, Z.shape[1])
        width = _NEURONS_OF_A_CLASS * K // len(positive) if self.width is None else self.width
        problems: list[tuple[Dataset, TwoLayer]] = []
        begun = before if len(before) == len(positive) else [None] * len(positive)
        for number, old in zip(positive, begun, strict=True):
            data = Dataset(X=Z, y=np.where(index == number, 1.0, -1.0))
            seed = int(rng.randint(np.iinfo(np.int32).max))
            problems.append((data, self._start(old, width, data.dimension, seed)))
        limits = support_points(
            problems,
            penalty=self.C_,
            tolerance=self.tolerance,
            max_iterations=self.max_iter,
            time_limit=self.time_limit,
            width_is_open=self.width is None,
        )
        self.limits_: tuple[Limit, ...] = tuple(limits)
        found = _one_network([limit.compact for limit in limits])
        self.network_: TwoLayer | Classifier = _at_the_users_points(found, self.centre_, self.scale_)
        self.n_neurons_: int = self.network_.width
        self.n_iter_: int = max(1, *(len(limit.history) for limit in limits))
        for number, limit in zip(positive, limits, strict=True):
            if not limit.exact:
                against = "" if K == 2 else f"Class {self.classes_[number]} against the rest: "
                warnings.warn(against + limit.status, ConvergenceWarning, stacklevel=2)
        if K == 2:
            self.limit_: Limit = limits[0]
            if self.loo_score and self.limit_.exact:
                self.loo_score_: float = 1.0 - influence(self.limit_, data, mode="fast").error
        return self

    def _networks_before(self) -> list[TwoLayer]:
        """The networks of the last fit, if there was one, as functions of x."""
        before: tuple[Limit, ...] = getattr(self, "limits_", ())
        return [_at_the_users_points(limit.network, self.centre_, self.scale_) for limit in before]

    def _start(self, old: TwoLayer | None, width: int, d: int, seed: int) -> TwoLayer:
        """A random network, or the one of the last fit at the points z of this one."""
        if old is not None and (old.dimension, old.width, old.b is not None) == (d, width, self.bias):
            b = None if old.b is None else old.b + old.W @ self.centre_
            return replace(old, W=old.W * self.scale_, b=b)
        return _with_both_signs(TwoLayer.initialise(width, d, scale=_SCALE, bias=self.bias, seed=seed))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """N(x), shape (n,), positive for the second of two classes; with more N_t(x), shape (n, K).

        With a hard margin y N(x) is 1 or more at the training points.
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        Z = (points - self.centre_) / self.scale_
        values = [limit.compact(Z) for limit in self.limits_]
        return values[0] if len(values) == 1 else np.column_stack(values)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each point, shape (n,)."""
        values = self.decision_function(X)
        index = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        chosen: NDArray[Any] = self.classes_[index]
        return chosen

    @property
    def predict_proba(self) -> NoReturn:
        """There is none; the message says how to calibrate."""
        raise AttributeError(
            "MaxMarginReLUClassifier has margins, which are not probabilities. For probabilities calibrate them: "
            "sklearn.calibration.CalibratedClassifierCV(classifier).fit(X, y).predict_proba(X)."
        )


def _price(C: Any, dimension: int) -> float | None:
    """What C says, or an `InputError` that names it."""
    if isinstance(C, str) and C != "auto":
        raise InputError(f'C is {C!r}; a finite number above 0, "auto" or None (the hard margin) is expected.')
    if isinstance(C, str):
        return max(_PRICE, _PRICE_IN_ONE_DIMENSION / dimension)
    return None if C is None else real_number("C", C, above=0.0)


def _one_network(networks: list[TwoLayer]) -> TwoLayer | Classifier:
    """The network itself, or all of them side by side with a logit for each."""
    if len(networks) == 1:
        return networks[0]
    widths = [network.width for network in networks]
    V = np.zeros((len(networks), sum(widths)))
    for row, (end, network) in enumerate(zip(np.cumsum(widths), networks, strict=True)):
        V[row, end - network.width : end] = network.v
    b = None if networks[0].b is None else np.concatenate([cast(FloatArray, network.b) for network in networks])
    return Classifier(W=np.vstack([network.W for network in networks]), b=b, V=V)


def _with_both_signs(network: TwoLayer) -> TwoLayer:
    """The network with its first output turned round where all have one sign, as 2 in 2^width draws have: with two
    classes no such network can separate the samples, and the caller did not choose it."""
    if len(np.unique(np.sign(network.v))) > 1:
        return network
    return replace(network, v=np.concatenate([-network.v[:1], network.v[1:]]))


def _scale(points: FloatArray) -> FloatArray:
    """For every feature its largest size, times what makes the root mean square length of all rows 1."""
    largest = np.abs(points).max(axis=0)
    largest[largest == 0.0] = 1.0
    length = float(np.sqrt(((points / largest) ** 2).sum(axis=1).mean()))
    scale: FloatArray = largest * (length if length > 0.0 else 1.0)
    return scale


Network = TypeVar("Network", TwoLayer, Classifier, TwoLayer | Classifier)


def _at_the_users_points(network: Network, centre: FloatArray, scale: FloatArray) -> Network:
    """The function x -> N((x - centre) / scale) as a network."""
    W = network.W / scale
    return replace(network, W=W, b=None if network.b is None else network.b - W @ centre)
