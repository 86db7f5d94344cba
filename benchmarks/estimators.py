"""`MaxMarginReLUClassifier` beside SVC, MLPClassifier and LogisticRegression: five-fold accuracy and time.

    python benchmarks/estimators.py [--sets iris wine ...]

Five of scikit-learn's small data sets, each fold standardised by its training part. All with their defaults, except
that MLPClassifier and LogisticRegression may iterate until they have converged. Processor time of one core, the mean
of the folds; run with OPENBLAS_NUM_THREADS=1. The table of one run stands in docs/interop.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from marginflow.interop.sklearn import MaxMarginReLUClassifier

SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "moons": lambda: datasets.make_moons(400, noise=0.2, random_state=0),
}
MODELS: dict[str, Callable[[], Any]] = {
    "max margin, C = 0.5 (default)": lambda: MaxMarginReLUClassifier(random_state=0),
    "max margin, C = 1": lambda: MaxMarginReLUClassifier(C=1.0, random_state=0),
    "MLPClassifier": lambda: MLPClassifier(max_iter=1000, random_state=0),
    "SVC": lambda: SVC(),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
}


def folds(X: np.ndarray, y: np.ndarray, make: Callable[[], Any]) -> tuple[float, float, str]:
    """Mean accuracy, mean seconds of a fit, and what the last fit has to show."""
    accuracy, seconds, exact, count, neurons = [], [], 0, 0, 0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        began = time.process_time()
        model = make().fit(scaler.transform(X[train]), y[train])
        seconds.append(time.process_time() - began)
        accuracy.append(model.score(scaler.transform(X[test]), y[test]))
        if isinstance(model, MaxMarginReLUClassifier):
            exact, count = exact + sum(limit.exact for limit in model.limits_), count + len(model.limits_)
            neurons = model.n_neurons_
    return float(np.mean(accuracy)), float(np.mean(seconds)), f"{exact} of {count}, {neurons} neurons" if count else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    print("| data | classifier | accuracy | fit, CPU seconds | exact KKT points, neurons of the last fold |")
    print("|---|---|---|---|---|")
    for name in options.sets:
        X, y = SETS[name]()
        for title, make in MODELS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                accuracy, seconds, shows = folds(X, y, make)
            print(f"| {name} | {title} | {100 * accuracy:.1f} % | {seconds:.3f} | {shows} |", flush=True)


if __name__ == "__main__":
    main()
