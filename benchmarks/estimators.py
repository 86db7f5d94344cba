"""`MaxMarginReLUClassifier` beside SVC, MLPClassifier and LogisticRegression: five-fold accuracy and time.

    python benchmarks/estimators.py [--sets iris wine ...] [--models MLPClassifier ...] [--seed 0]
    python benchmarks/estimators.py --sets clusters "few informative" rings "two digits"

Five of scikit-learn's small data sets, which the defaults of `MaxMarginReLUClassifier` were chosen on, or four that had
no part in that; `--seed` draws other folds. Each fold is standardised by its training part. All with their
defaults, except that MLPClassifier and LogisticRegression may iterate until they have converged. Processor time of one
core, the mean of the folds, in each of which the classifiers take turns; run with OPENBLAS_NUM_THREADS=1. The
tables of one run stand in docs/interop.md.
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
FRESH: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "clusters": lambda: datasets.make_classification(
        500, 20, n_informative=8, n_classes=4, n_clusters_per_class=2, random_state=1
    ),
    "few informative": lambda: datasets.make_classification(400, 50, n_informative=5, flip_y=0.05, random_state=2),
    "rings": lambda: datasets.make_gaussian_quantiles(n_samples=400, n_features=5, n_classes=2, random_state=3),
    "two digits": lambda: _two_digits(4, 9),
}
MODELS: dict[str, Callable[[], Any]] = {
    "max margin, C = 0.5 (default)": lambda: MaxMarginReLUClassifier(random_state=0),
    "max margin, C = 1": lambda: MaxMarginReLUClassifier(C=1.0, random_state=0),
    "MLPClassifier": lambda: MLPClassifier(max_iter=1000, random_state=0),
    "SVC": lambda: SVC(),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
}


def _two_digits(first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.load_digits(return_X_y=True)
    chosen = np.isin(y, (first, second))
    return X[chosen], y[chosen]


def folds(X: np.ndarray, y: np.ndarray, chosen: list[str], seed: int) -> dict[str, tuple[float, float, str]]:
    """Mean accuracy, mean seconds of a fit and what the last fit has to show, of every classifier in turns."""
    accuracy: dict[str, list[float]] = {title: [] for title in chosen}
    seconds: dict[str, list[float]] = {title: [] for title in chosen}
    exact: dict[str, list[bool]] = {title: [] for title in chosen}
    shown = dict.fromkeys(chosen, "–")
    some = np.argsort(np.arange(len(y)) % 5, kind="stable")[: len(y) // 5]
    for title in chosen:  # what is loaded or made ready once is not the time of a fit
        MODELS[title]().fit(X[some], y[some])
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        scaler = StandardScaler().fit(X[train])
        for title in chosen:
            began = time.process_time()
            model = MODELS[title]().fit(scaler.transform(X[train]), y[train])
            seconds[title].append(time.process_time() - began)
            accuracy[title].append(model.score(scaler.transform(X[test]), y[test]))
            if isinstance(model, MaxMarginReLUClassifier):
                exact[title] += [limit.exact for limit in model.limits_]
                shown[title] = f"{sum(exact[title])} of {len(exact[title])}, {model.n_neurons_} neurons"
    return {t: (float(np.mean(accuracy[t])), float(np.mean(seconds[t])), shown[t]) for t in chosen}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=[*SETS, *FRESH])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    options = parser.parse_args()
    print("| data | classifier | accuracy | fit, CPU seconds | exact KKT points, neurons of the last fold |")
    print("|---|---|---|---|---|")
    for name in options.sets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = folds(*(SETS | FRESH)[name](), options.models, options.seed)
        for title, (accuracy, seconds, shown) in found.items():
            print(f"| {name} | {title} | {100 * accuracy:.1f} % | {seconds:.3f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
