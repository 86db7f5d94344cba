"""The chain of linear maps and rectifiers in a fitted model of scikit-learn, and a network as its `MLPClassifier`.

A model is a network or a line behind affine steps: scalers, PCA, TruncatedSVD, selections of columns and a
ColumnTransformer of these are x -> W x + b, and their numbers are taken from the fitted attributes, so that folding
them is exact up to rounding.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.interop.folding import DEEPER, Entrywise, Linear, Piece, Rectifier, linear_as_two_layers
from marginflow.networks import MLP, Classifier, TwoLayer

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
_SELECTIONS = ("SelectKBest", "SelectPercentile", "SelectFromModel", "VarianceThreshold", "RFE", "RFECV")
# Classifiers by the largest of W x + b, or by its sign.
_LINES = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressiveClassifier",
    "LinearDiscriminantAnalysis",
)
LINEAR = "The model is linear; it was written as two ReLU neurons for each output, w . x = relu - relu."
_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
# Relative spread below which a direction is flat: variances come from a covariance, with an error of about 1e-15.
_FLAT = 1e-7
_OTHERS = ("PCA", "TruncatedSVD", "ColumnTransformer", "MLPClassifier", "MaxMarginReLUClassifier")


def sklearn_pieces(model: Any) -> list[Piece]:
    """A network with one hidden layer or a linear classifier, alone or at the end of a `Pipeline` of affine steps."""
    kind = type(model).__name__
    if kind == "Pipeline":
        return [piece for _, step in model.steps if not _passes(step) for piece in sklearn_pieces(step)]
    if kind in (*_SCALERS, *_SELECTIONS, *_LINES, *_OTHERS) and not hasattr(model, "n_features_in_"):
        raise InputError(f"The {kind} is not fitted; call fit first.")
    if kind in _SEARCHES:
        if not hasattr(model, "best_estimator_"):
            raise InputError(f"The {kind} has no best_estimator_; call fit with refit=True first.")
        return sklearn_pieces(model.best_estimator_)
    if kind in _SCALERS:
        return [_scaler(model, kind)]
    if kind == "PCA":
        return [_principal(model)]
    if kind == "TruncatedSVD":
        return [Linear(W=np.asarray(model.components_, dtype=np.float64), name=kind, scales=True)]
    if kind in _SELECTIONS:
        return [Linear(W=np.eye(int(model.n_features_in_))[model.get_support()], name=kind, scales=True)]
    if kind == "ColumnTransformer":
        return [_columns(model)]
    if kind == "MaxMarginReLUClassifier":
        (W, b), (V, c) = model.network_.layers
        return [Linear(W=W, b=b), Rectifier(), Linear(W=V, b=c)]
    if kind in _LINES:
        W, b = (np.asarray(numbers, dtype=np.float64) for numbers in (model.coef_, model.intercept_))
        W = np.atleast_2d(W)
        return linear_as_two_layers(W, np.broadcast_to(b, W.shape[:1]) if b.any() else None)
    if kind != "MLPClassifier":
        expected = (
            "MLPClassifier or a linear classifier, alone or behind affine steps (StandardScaler and other scalers, "
            "PCA, TruncatedSVD, selections of columns, a ColumnTransformer of these), is expected."
        )
        if not hasattr(model, "transform"):
            raise InputError(f"The model has the step {kind}, which is not a network of ReLU neurons; {expected}")
        raise InputError(
            f"The model has the step {kind}; {expected} In front of a network anything else can be done first: "
            "mf.audit(pipeline[-1], pipeline[:-1].transform(X), y), where radii are lengths of the transformed "
            "features."
        )
    return _network(model)


def is_linear(model: Any) -> bool:
    """Whether what decides is a linear classifier."""
    model = getattr(model, "best_estimator_", model)
    return type(model.steps[-1][1] if type(model).__name__ == "Pipeline" else model).__name__ in _LINES


def known_classes(model: Any) -> tuple[Any, ...] | None:
    """The labels that a fitted model gives, in the order of its outputs."""
    classes = getattr(model, "classes_", None)
    return None if classes is None else tuple(np.asarray(classes).tolist())


def _network(model: Any) -> list[Piece]:
    if model.activation != "relu":
        raise InputError(
            f"The MLPClassifier has the activation {model.activation!r}; MLPClassifier(activation='relu') is expected."
        )
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        raise InputError(
            f"The MLPClassifier answers {model.n_outputs_} questions at once (one label for each column of y), not "
            "which class a sample has; one such column is expected."
        )
    if len(model.coefs_) != 2:
        raise InputError(
            f"The MLPClassifier has {len(model.coefs_) - 1} hidden layers; one is expected. Of two classes it is "
            "mf.networks.MLP.from_layers([(W.T, b) for W, b in zip(model.coefs_, model.intercepts_)]), a network of "
            f"which {DEEPER}."
        )
    first, last = (
        Linear(W=np.asarray(W, dtype=np.float64).T, b=np.asarray(b, dtype=np.float64))
        for W, b in zip(model.coefs_, model.intercepts_, strict=True)
    )
    return [first, Rectifier(), last]


def _passes(step: Any) -> bool:
    """Whether a step does nothing."""
    identity = type(step).__name__ == "FunctionTransformer" and step.func is None
    return step is None or identity or (isinstance(step, str) and step == "passthrough")


def _scaler(model: Any, kind: str) -> Entrywise:
    """x -> scale x + shift, entry by entry, under the names that each scaler has for its numbers."""
    d = int(model.n_features_in_)
    if getattr(model, "clip", False):
        raise InputError(f"The {kind} clips, which is not linear; {kind}(clip=False) is expected.")
    if kind == "MinMaxScaler":
        scale, shift = (np.asarray(numbers, dtype=np.float64) for numbers in (model.scale_, model.min_))
        return Entrywise(scale=scale, shift=shift, name=kind)
    scale = np.ones(d) if model.scale_ is None else 1.0 / np.asarray(model.scale_, dtype=np.float64)
    centre = model.mean_ if kind == "StandardScaler" and model.with_mean else getattr(model, "center_", None)
    shift = np.zeros(d) if centre is None else -scale * np.asarray(centre, dtype=np.float64)
    return Entrywise(scale=scale, shift=shift, name=kind)


def _principal(model: Any) -> Linear:
    """x -> C (x - mean), each row divided by the spread of its direction where the model whitens."""
    W = np.asarray(model.components_, dtype=np.float64)
    if model.whiten:
        spread = np.sqrt(np.asarray(model.explained_variance_, dtype=np.float64))
        kept = int((spread > _FLAT * spread.max()).sum())
        if kept < spread.size:
            raise InputError(
                f"The PCA whitens {spread.size} directions, in {spread.size - kept} of which the samples differ by "
                f"less than {_FLAT:g} of the widest, which is rounding. PCA({kept}, whiten=True) is expected."
            )
        W = W / spread[:, None]
    return Linear(W=W, b=-W @ np.asarray(model.mean_, dtype=np.float64), name="PCA", scales=True)


def _columns(model: Any) -> Linear:
    """The maps of all parts of a ColumnTransformer, each on its columns, one below the other."""
    d = int(model.n_features_in_)
    blocks: list[tuple[FloatArray, FloatArray]] = []
    for _, step, columns in model.transformers_:
        chosen = np.eye(d)[_indices(model, columns)]
        if chosen.size == 0 or (isinstance(step, str) and step == "drop"):
            continue
        W, b = chosen, np.zeros(chosen.shape[0])
        for piece in [] if _passes(step) else sklearn_pieces(step):
            if isinstance(piece, Entrywise):
                W, b = piece.scale[:, None] * W, piece.scale * b + piece.shift
            elif isinstance(piece, Linear):
                W, b = piece.W @ W, piece.W @ b + (0.0 if piece.b is None else piece.b)
            else:
                raise InputError("The ColumnTransformer has a network among its parts; steps that scale are expected.")
        blocks.append((W, b))
    if not blocks:
        raise InputError("The ColumnTransformer leaves no column; at least one is expected.")
    W, b = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return Linear(W=W, b=b, name="ColumnTransformer", scales=True)


def _indices(model: Any, columns: Any) -> Any:
    """Which columns of X are meant by names, numbers, a slice or a mask."""
    d = int(model.n_features_in_)
    names = [columns] if isinstance(columns, str) else columns if isinstance(columns, list | tuple) else []
    if len(names) and all(isinstance(name, str) for name in names):
        known = [str(name) for name in model.feature_names_in_]
        return [known.index(name) for name in names]
    return np.atleast_1d(np.arange(d)[columns])


def to_classifier(network: TwoLayer | Classifier | MLP, classes: Sequence[Any] | None = None) -> Any:
    """An `MLPClassifier` with the weights of the network.

    Of one output `predict` gives the second class where N(x) > 0; of K logits the class of the largest. A classifier
    with two logits becomes their difference, since scikit-learn keeps one output for two classes.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> network.to_sklearn(["no", "yes"]).predict([[3.0, 1.0], [0.0, 1.0]]).tolist()
    ['yes', 'no']
    """
    try:
        from sklearn.neural_network import MLPClassifier
        from sklearn.preprocessing import LabelBinarizer
    except ImportError:
        raise InputError("An MLPClassifier needs the package scikit-learn; install marginflow[sklearn].") from None
    count = network.n_classes if isinstance(network, Classifier) else 2
    labels = _ascending(classes, range(count) if isinstance(network, Classifier) else (-1, 1), count)
    layers = list(network.layers)
    (V, c) = layers[-1]
    if V.shape[0] == 2:
        layers[-1] = (V[1:] - V[:1], None if c is None else c[1:] - c[:1])
    model = MLPClassifier(hidden_layer_sizes=tuple(W.shape[0] for W, _ in layers[:-1]), activation="relu")
    model.coefs_ = [W.T.copy() for W, _ in layers]
    model.intercepts_ = [np.zeros(W.shape[0]) if b is None else b.copy() for W, b in layers]
    model.n_features_in_, model.n_layers_ = layers[0][0].shape[1], len(layers) + 1
    model.n_outputs_ = layers[-1][0].shape[0]
    model.out_activation_ = "logistic" if count == 2 else "softmax"
    model.classes_ = labels
    model._label_binarizer = LabelBinarizer().fit(labels)
    return model


def _ascending(classes: Sequence[Any] | None, usual: Sequence[int], count: int) -> np.ndarray:
    """As many different labels as there are classes, in the order that scikit-learn keeps them in."""
    given = list(usual if classes is None else classes)
    try:
        labels: np.ndarray = np.unique(np.asarray(given))
    except (TypeError, ValueError):  # of labels that cannot be compared
        labels = np.zeros(0)
    if labels.size != count or len(given) != count:
        number = "two" if count == 2 else str(count)
        raise InputError(f"classes is {brief(classes)}; {number} labels that differ are expected.")
    if labels.tolist() != np.asarray(given).tolist():
        raise InputError(
            f"classes is {brief(classes)}; labels in ascending order are expected, as scikit-learn keeps them: "
            f"{brief(labels.tolist())}."
        )
    return labels
