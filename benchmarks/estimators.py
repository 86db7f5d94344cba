"""`MaxMarginReLUClassifier` beside SVC, MLPClassifier and LogisticRegression: repeated five-fold accuracy and time.

    python benchmarks/estimators.py [--sets iris wine ...] [--models MLPClassifier ...] [--repeats 10] [--seed 0]
    python benchmarks/estimators.py --sets clusters "few informative" rings "two digits"

Five of scikit-learn's small data sets, on which settings of `MaxMarginReLUClassifier` were chosen, or four that had no
part in that. Every repeat draws other folds and begins elsewhere; behind the mean accuracy stands its standard error
over the repeats. Moons are drawn anew each time; of the others it is the error of the folds and starts, not of the
samples. Each fold is standardised by its
training part. All with their defaults, except that MLPClassifier and LogisticRegression may iterate until they have
converged. Processor time of one core, the mean of the fits, in which the classifiers take turns; run with
OPENBLAS_NUM_THREADS=1. The tables of one run stand in docs/measurements/classifiers.md.
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

SETS: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda _: datasets.load_iris(return_X_y=True),
    "wine": lambda _: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda _: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda _: datasets.load_digits(return_X_y=True),
    "moons": lambda draw: datasets.make_moons(400, noise=0.2, random_state=draw),
}
FRESH: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "clusters": lambda _: datasets.make_classification(
        500, 20, n_informative=8, n_classes=4, n_clusters_per_class=2, random_state=1
    ),
    "few informative": lambda _: datasets.make_classification(400, 50, n_informative=5, flip_y=0.05, random_state=2),
    "rings": lambda _: datasets.make_gaussian_quantiles(n_samples=400, n_features=5, n_classes=2, random_state=3),
    "two digits": lambda _: _two_digits(4, 9),
}
MODELS: dict[str, Callable[[int], Any]] = {
    "max margin": lambda seed: MaxMarginReLUClassifier(random_state=seed),
    "max margin, C = 0.5": lambda seed: MaxMarginReLUClassifier(C=0.5, random_state=seed),
    "MLPClassifier": lambda seed: MLPClassifier(max_iter=1000, random_state=seed),
    "SVC": lambda _: SVC(),
    "LogisticRegression": lambda _: LogisticRegression(max_iter=1000),
}


def _two_digits(first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.load_digits(return_X_y=True)
    chosen = np.isin(y, (first, second))
    return X[chosen], y[chosen]


class Found:
    """Accuracies and seconds of all fits of one classifier, and what the last has to show."""

    def __init__(self) -> None:
        self.accuracy: list[list[float]] = []
        self.seconds: list[float] = []
        self.exact: list[bool] = []
        self.neurons = 0

    def row(self) -> str:
        """Three cells of a table."""
        means = 100.0 * np.mean(self.accuracy, axis=1)
        error = f" ± {means.std(ddof=1) / np.sqrt(means.size):.2f}" if means.size > 1 else ""
        shown = f"{sum(self.exact)} of {len(self.exact)}, {self.neurons} neurons" if self.exact else "–"
        return f"{means.mean():.2f}{error} % | {np.mean(self.seconds):.3f} | {shown}"


def folds(draw: Callable[[int], tuple[np.ndarray, np.ndarray]], chosen: list[str], seeds: range) -> dict[str, Found]:
    """Every classifier in turns on every fold."""
    found = {title: Found() for title in chosen}
    X, y = draw(0)
    some = np.argsort(np.arange(len(y)) % 5, kind="stable")[: len(y) // 5]
    for title in chosen:  # what is loaded or made ready once is not the time of a fit
        MODELS[title](0).fit(X[some], y[some])
    for seed in seeds:
        X, y = draw(seed)
        for of in found.values():
            of.accuracy.append([])
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            scaler = StandardScaler().fit(X[train])
            for title, of in found.items():
                began = time.process_time()
                model = MODELS[title](seed).fit(scaler.transform(X[train]), y[train])
                of.seconds.append(time.process_time() - began)
                of.accuracy[-1].append(model.score(scaler.transform(X[test]), y[test]))
                if isinstance(model, MaxMarginReLUClassifier):
                    of.exact += [limit.exact for limit in model.limits_]
                    of.neurons = model.n_neurons_
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=[*SETS, *FRESH])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the first repeat")
    options = parser.parse_args()
    print("| data | classifier | accuracy | fit, CPU seconds | exact KKT points, neurons of the last fold |")
    print("|---|---|---|---|---|")
    for name in options.sets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            seeds = range(options.seed, options.seed + options.repeats)
            found = folds((SETS | FRESH)[name], options.models, seeds)
        for title, of in found.items():
            print(f"| {name} | {title} | {of.row()} |", flush=True)


if __name__ == "__main__":
    main()
