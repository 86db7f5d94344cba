"""Max-margin ReLU networks against SVC and MLPClassifier on the bundled sets: accuracy, neurons, time, exact radii.

    python benchmarks/classifiers.py

prints the table of docs/measurements/classifiers.md. Half of each set, drawn by a fixed seed and standardised by its
own mean and deviation, is for training, the rest for testing. Radii are those of the first test points, the same for
every classifier, in standardised units; a wrong one counts as 0. For ReLU networks they are exact, by `exact_radii`, or
bounded from both sides where its time runs out; for the linear machine they are in closed form; for the RBF machine
unknown.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from marginflow.data import Dataset
from marginflow.data.small_sets import breast_cancer, digits
from marginflow.interop.sklearn import MaxMarginReLUClassifier
from marginflow.networks import TwoLayer
from marginflow.robustness import exact_radii

SETS: dict[str, Callable[[], Dataset]] = {
    "breast cancer": breast_cancer,
    "digits 3 v 8": lambda: digits(3, 8),
    "digits 0 v 1": lambda: digits(0, 1),
}
MODELS: dict[str, Callable[[], Any]] = {
    "max margin, hard": lambda: MaxMarginReLUClassifier(width=100, random_state=0),
    "max margin, C = 1": lambda: MaxMarginReLUClassifier(width=100, C=1.0, random_state=0),
    "MLPClassifier(100)": lambda: MLPClassifier((100,), max_iter=1000, random_state=0),
    "SVC, RBF, C = 1": lambda: SVC(),
    "SVC, linear, C = 1": lambda: SVC(kernel="linear"),
}


def homogeneous(model: Any) -> TwoLayer | None:
    """The network that decides, with an output bias as one more neuron that is always on; None where there is none."""
    if isinstance(model, MaxMarginReLUClassifier):
        return model.network_
    if isinstance(model, MLPClassifier):
        (W, v), (b, c) = model.coefs_, model.intercepts_
        return TwoLayer(W=np.vstack([W.T, np.zeros(W.shape[0])]), b=np.append(b, 1.0), v=np.append(v[:, 0], c[0]))
    return None


def size(model: Any) -> str:
    if isinstance(model, MaxMarginReLUClassifier):
        return f"{model.n_neurons_}"
    return "100" if isinstance(model, MLPClassifier) else f"({model.n_support_.sum()} support vectors)"


def median_radius(model: Any, X: np.ndarray, y: np.ndarray, seconds: float) -> str:
    """The median radius of the points, or bounds on it and how many radii are proved."""
    network = homogeneous(model)
    if network is None:
        if model.kernel != "linear":
            return "–"
        return f"{np.median(np.maximum(y * model.decision_function(X), 0.0) / np.linalg.norm(model.coef_)):.3f}"
    radii = exact_radii(network, X, y=y, time_limit=seconds)
    low, high = (float(np.median([getattr(r, side) for r in radii])) for side in ("lower", "upper"))
    proved = sum(r.proved for r in radii)
    between = f"{high:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
    return between if proved == len(radii) else f"{between} ({proved} of {len(radii)} proved)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=20, help="test points with a radius")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each of them")
    options = parser.parse_args()
    print("| data | classifier | test accuracy | neurons | fit, CPU seconds | exact median radius |")
    print("|---|---|---|---|---|---|")
    for name, load in SETS.items():
        data = load()
        X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.5, random_state=0, stratify=data.y)
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        for title, make in MODELS.items():
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                began = time.process_time()
                model = make().fit(X, y)
                seconds = time.process_time() - began
                exact = " (not exact)" if isinstance(model, MaxMarginReLUClassifier) and not model.limit_.exact else ""
                radius = median_radius(model, X_test[: options.points], y_test[: options.points], options.seconds)
            accuracy = f"{100 * model.score(X_test, y_test):.1f} %"
            print(f"| {name} | {title}{exact} | {accuracy} | {size(model)} | {seconds:.2f} | {radius} |", flush=True)


if __name__ == "__main__":
    main()
