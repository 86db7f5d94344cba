"""Exact KKT points with K classes on scikit-learn's digits; radii and flips beside those of a trained network.

    python benchmarks/limit_classes.py reach [--classes 3 5 10] [--samples 100 200 500] [--seeds 5] [--time-limit 60]
    python benchmarks/limit_classes.py edge [--points 20]

"reach": how many points are exact, residuals and processor time, width 100. "edge": exact radii of fresh points, and
the one vector that changes half of them, at the KKT point and for a network that scikit-learn's MLPClassifier trained
on the same samples until its loss stopped falling. Run with OPENBLAS_NUM_THREADS=1; numbers of one run stand in
docs/measurements/classifiers.md.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import marginflow as mf
from marginflow.data import Dataset
from marginflow.networks import Classifier
from marginflow.robustness.class_universal import universal_change

CLASSES = {3: (3, 5, 8), 5: (1, 3, 5, 7, 8), 10: tuple(range(10))}


def digits(classes: tuple[int, ...], n: int, seed: int) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """Samples for the point, and the others with their classes."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, classes)
    X, y = X[chosen] / 16.0, np.searchsorted(classes, y[chosen])
    order = np.random.default_rng(seed).permutation(y.size)
    train, test = order[:n], order[n:]
    return Dataset(X[train], y[train]), X[test], y[test]


def reach(options: argparse.Namespace) -> None:
    print("| classes | samples | exact | residuals | neurons | CPU seconds, median and largest |")
    print("|---|---|---|---|---|---|")
    for n_classes in options.classes:
        for n in options.samples:
            found, seconds = [], []
            for seed in range(options.seeds):
                data, _, _ = digits(CLASSES[n_classes], n, seed)
                began = time.process_time()
                found.append(mf.kkt_point(data, seed=seed, time_limit=options.time_limit))
                seconds.append(time.process_time() - began)
            residuals = [limit.certificate.residual for limit in found]
            print(
                f"| {n_classes} | {n} | {sum(limit.exact for limit in found)} of {len(found)} | {min(residuals):.0e} "
                f"to {max(residuals):.0e} | {min(limit.network.width for limit in found)} to "
                f"{max(limit.network.width for limit in found)} | {np.median(seconds):.1f}, {max(seconds):.1f} |",
                flush=True,
            )


def trained(data: Dataset) -> Classifier:
    from sklearn.neural_network import MLPClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPClassifier((100,), max_iter=2000, random_state=0).fit(data.X, data.y)
    (W, V), (b, c) = model.coefs_, model.intercepts_
    return Classifier(W=W.T, b=b, V=V.T, c=c)


def edge(options: argparse.Namespace) -> None:
    print("| classes | network | test accuracy | median radius | one vector changes half, at least / at most |")
    print("|---|---|---|---|---|")
    for n_classes in options.classes:
        data, X, y = digits(CLASSES[n_classes], 100, 0)
        limit = mf.kkt_point(data, time_limit=options.time_limit)
        for name, network in ((limit.status.split(":")[0], limit.network), ("trained", trained(data))):
            points = X[: options.points]
            radii = mf.robustness.exact_radii(network, points, time_limit=20.0)
            change = universal_change(network, points, share=0.5, radii=[radius.lower for radius in radii])
            accuracy = float((network.predict(X) == y).mean())
            middle = float(np.median([radius.upper for radius in radii]))
            print(
                f"| {n_classes} | {name}, {network.width} neurons | {accuracy:.1%} | {middle:.4f} | "
                f"{change.lower:.3f} / {change.upper:.3f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["reach", "edge"])
    parser.add_argument("--classes", type=int, nargs="+", default=list(CLASSES), choices=list(CLASSES))
    parser.add_argument("--samples", type=int, nargs="+", default=[100, 200, 500])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    (reach if options.what == "reach" else edge)(options)


if __name__ == "__main__":
    main()
