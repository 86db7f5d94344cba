r"""scikit-learn: a two-layer ReLU network of maximal margin as a classifier, certified.

`fit` finds a KKT point of min 1/2 ||theta||^2 s.t. y_i N(x_i) >= 1 (hard margin, C=None) or of min 1/2 ||theta||^2 + C
sum_i (1 - y_i N(x_i))_+ (soft margin), and keeps it with its certificate. Needs the extra `sklearn`; this module is the
one place that imports scikit-learn at its head, since a class must know its bases.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.influences import influence
from marginflow.limit import Limit, kkt_point
from marginflow.networks import TwoLayer


# scikit-learn has no types, so its bases are of type Any.
class MaxMarginReLUClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Classifier by a two-layer ReLU network at a certified KKT point of the max-margin problem.

    .. math:: \min \tfrac12 \|\theta\|^2 + C \sum_i (1 - y_i N(x_i))_+

    Two classes; for more, wrap it in `sklearn.multiclass.OneVsRestClassifier`. Features should have comparable scales,
    as for a support vector machine: put a `StandardScaler` before it. Where the origin lies and what unit all features
    share does not matter (`normalise`).

    Parameters
    ----------
    width : int
        Number of neurons at the start; merged, far fewer remain (`n_neurons_`).
    C : float or None
        Price of a missed margin; None is the hard margin, which needs data without contradictions.
    bias : bool
        Whether the hidden neurons have biases.
    normalise : bool
        Pose the problem at z = (x - centre) / scale with the mean of the samples (the origin without bias) and their
        root mean square distance from it, so that C and the biases mean the same in every unit; False: at x itself.
    tolerance : float
        Residual at which the KKT conditions count as fulfilled.
    max_iter : int
        Iterations of the solver in each of at most three attempts; then the best network so far is kept, with a
        `ConvergenceWarning`. The same on every machine.
    time_limit : float or None
        Seconds after which the same happens, wherever the solver is by then.
    loo_score : bool
        Whether `fit` also computes the exact leave-one-out accuracy, at the cost of several solutions.
    random_state : int, RandomState or None
        Of the initialisation.

    Attributes
    ----------
    classes_ : array, shape (2,)
        The classes; N(x) > 0 stands for the second.
    limit_ : Limit
        The KKT point with certificate, duality gap, status and history, at the points z.
    centre_, scale_ : array, shape (d,), and float
        Where z = 0 and how long one unit of z is.
    network_ : TwoLayer
        The network that decides, as a function of x: `limit_.compact`, parallel neurons merged.
    n_neurons_ : int
        Its width.
    n_iter_ : int
        Rounds of the solver, at least 1.
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
    >>> classifier = MaxMarginReLUClassifier(random_state=0).fit(X[:100], y[:100])
    >>> classifier.score(X[:100], y[:100]), classifier.limit_.certificate.holds(1e-8)
    (1.0, True)
    """

    def __init__(
        self,
        width: int = 50,
        C: float | None = None,
        *,
        bias: bool = True,
        normalise: bool = True,
        tolerance: float = 1e-9,
        max_iter: int = 10_000,
        time_limit: float | None = None,
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
        self.loo_score = loo_score
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> MaxMarginReLUClassifier:
        """Find the KKT point; an `InputError` (a `ValueError`) says what is wrong with data or parameters.

        Parameters
        ----------
        X : array, shape (n, d)
        y : array, shape (n,)
            Two classes, of any type.
        """
        points, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        self.classes_: NDArray[Any]
        self.classes_, index = np.unique(target, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass with "
                f"{len(self.classes_)} classes; wrap the classifier in sklearn.multiclass.OneVsRestClassifier."
            )
        if len(self.classes_) < 2:
            raise ValueError(f"The data hold one class, {self.classes_[0]!r}; the classifier needs two classes.")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.centre_: FloatArray = points.mean(axis=0) if self.normalise and self.bias else np.zeros(points.shape[1])
        spread = float(np.sqrt(((points - self.centre_) ** 2).sum(axis=1).mean()))
        self.scale_: float = spread if self.normalise and spread > 0 else 1.0
        data = Dataset(X=(points - self.centre_) / self.scale_, y=np.where(index > 0, 1.0, -1.0))
        self.limit_: Limit = kkt_point(
            data,
            width=self.width,
            seed=seed,
            bias=self.bias,
            penalty=self.C,
            tolerance=self.tolerance,
            max_iterations=self.max_iter,
            time_limit=self.time_limit,
        )
        self.network_: TwoLayer = _at_the_users_points(self.limit_.compact, self.centre_, self.scale_)
        self.n_neurons_: int = self.network_.width
        self.n_iter_: int = max(1, len(self.limit_.history))
        if not self.limit_.exact:
            warnings.warn(self.limit_.status, ConvergenceWarning, stacklevel=2)
        elif self.loo_score:
            self.loo_score_: float = 1.0 - influence(self.limit_, data, mode="fast").error
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """N(x), shape (n,); positive for the second class, and 1 or more at the training points of a hard margin."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        return self.limit_.compact((points - self.centre_) / self.scale_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each point, shape (n,)."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _at_the_users_points(network: TwoLayer, centre: FloatArray, scale: float) -> TwoLayer:
    """The function x -> N((x - centre) / scale) as a network."""
    W = network.W / scale
    return replace(network, W=W, b=None if network.b is None else network.b - W @ centre)
