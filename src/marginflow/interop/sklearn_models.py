"""A network as scikit-learn's own `MLPClassifier`, fitted by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.networks import MLP, Classifier, TwoLayer


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
