"""A network as scikit-learn's own `MLPClassifier`, fitted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marginflow.errors import InputError
from marginflow.networks import TwoLayer


def to_classifier(network: TwoLayer, classes: Sequence[Any] = (-1, 1)) -> Any:
    """An `MLPClassifier` with the weights of the network; `predict` gives the second class where N(x) > 0.

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
    try:
        labels = np.unique(np.asarray(classes))
    except (TypeError, ValueError):  # of labels that cannot be compared
        labels = np.zeros(0)
    if labels.size != 2 or len(classes) != 2:
        raise InputError(f"classes is {classes!r}; two labels that differ are expected.")
    model = MLPClassifier(hidden_layer_sizes=(network.width,), activation="relu")
    model.coefs_ = [network.W.T.copy(), network.v[:, None].copy()]
    model.intercepts_ = [np.zeros(network.width) if network.b is None else network.b.copy(), np.zeros(1)]
    model.n_features_in_, model.n_layers_, model.n_outputs_, model.out_activation_ = network.dimension, 3, 1, "logistic"
    model.classes_ = labels
    model._label_binarizer = LabelBinarizer().fit(labels)
    return model
