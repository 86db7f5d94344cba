"""Exact radii of classifiers with ten classes: points proved, time, rivals; against separate radii and foolbox's DDN.

    python benchmarks/classes.py [--points 100] [--setting digits wide images] [--foolbox]

"digits": scikit-learn's digits, 64-100-10. "wide": the same with 1000 neurons. "images": digits enlarged to 28 x 28,
shifted and with noise, 784-256-10. Networks are trained by scikit-learn's MLPClassifier. Times are processor time of
one core, the judge's work included; run with OPENBLAS_NUM_THREADS=1. The numbers of one run stand in docs/radius.md.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.networks import Classifier
from marginflow.robustness import check_certificate, exact_radius

SETTINGS = {"digits": 100, "wide": 1000, "images": 256}


def data_of(setting: str) -> tuple[FloatArray, IntArray]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    if setting != "images":
        return X, y
    rng = np.random.default_rng(0)
    large = np.kron(X.reshape(-1, 8, 8), np.ones((3, 3)))  # 24 x 24
    images = np.zeros((2 * X.shape[0], 28, 28))
    for i in range(images.shape[0]):
        down, right = rng.integers(0, 5, 2)
        images[i, down : down + 24, right : right + 24] = large[i % X.shape[0]]
    images += 0.1 * rng.standard_normal(images.shape)
    return images.reshape(images.shape[0], -1), np.concatenate([y, y])


def trained(setting: str, X: FloatArray, y: IntArray) -> Classifier:
    from sklearn.neural_network import MLPClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPClassifier((SETTINGS[setting],), max_iter=40, random_state=0).fit(X, y)
    (W, V), (b, c) = model.coefs_, model.intercepts_
    return Classifier(W=W.T, b=b, V=V.T, c=c)


def ddn(network: Classifier, X: FloatArray, y: IntArray) -> tuple[FloatArray, float]:
    """foolbox's DDN with 1000 steps: sizes, and seconds a point."""
    import foolbox
    import torch

    layers = torch.nn.Sequential(
        torch.nn.Linear(network.dimension, network.width), torch.nn.ReLU(), torch.nn.Linear(network.width, 10)
    ).double()
    layers.load_state_dict({name: torch.tensor(array) for name, array in network.state_dict().items()})
    model = foolbox.PyTorchModel(layers.eval(), bounds=(-20.0, 20.0))
    begin = time.process_time()
    _, moved, found = foolbox.attacks.DDNAttack(steps=1000)(model, torch.tensor(X), torch.tensor(y), epsilons=None)
    seconds = (time.process_time() - begin) / len(X)
    sizes = np.linalg.norm(moved.numpy() - X, axis=1)
    return np.where(found.numpy(), sizes, np.inf), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--setting", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--foolbox", action="store_true")
    options = parser.parse_args()
    for setting in options.setting:
        X, y = data_of(setting)
        network = trained(setting, X, y)
        chosen = np.random.default_rng(0).permutation(X.shape[0])[: options.points]
        points, own = X[chosen], network.predict(X[chosen])
        exact_radius(network, points[0])
        radii, seconds, checks = [], [], []
        for x in points:
            begin = time.process_time()
            radii.append(exact_radius(network, x))
            seconds.append(time.process_time() - begin)
            begin = time.process_time()
            proof = radii[-1].certificate
            assert proof is not None
            assert check_certificate(proof, network).holds
            checks.append(time.process_time() - begin)
        ms, check = 1e3 * np.array(seconds), 1e3 * np.array(checks)
        print(
            f"{setting}: {sum(r.status == 'proved' for r in radii)}/{len(radii)} proved and confirmed; "
            f"median {np.median(ms):.1f}, mean {ms.mean():.1f}, largest {ms.max():.0f} ms, of which the judge "
            f"{np.median(check):.1f} in the median; nodes at most {max(r.nodes for r in radii)}",
            flush=True,
        )
        if options.foolbox:
            sizes, each = ddn(network, points, own)
            ratio = sizes / np.array([r.upper for r in radii])
            below = sum(size < r.lower * (1 - 1e-9) for size, r in zip(sizes, radii, strict=True))
            print(
                f"  DDN: {below} below a proved bound, {np.mean(ratio > 1.001):.0%} more than 0.1 % too long, median "
                f"{np.median(ratio):.5f}, worst {ratio.max():.3f}, {1e3 * each:.0f} ms a point",
                flush=True,
            )


if __name__ == "__main__":
    main()
