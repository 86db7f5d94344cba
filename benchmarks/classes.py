"""Exact radii of classifiers: points proved, time, rivals; beside attacks of foolbox and ART, and beside SCIP.

    python benchmarks/classes.py [--points 100] [--setting digits wide images] [--foolbox] [--art] [--scip]

"digits": scikit-learn's digits, 64-100-10. "wide": the same with 1000 neurons. "images": digits enlarged to 28 x 28,
shifted and with noise, 784-256-10. Networks are trained by scikit-learn's MLPClassifier. Times are processor time of
one core, the judge's work included; run with OPENBLAS_NUM_THREADS=1. `--scip` compares on small classifiers, iris
4-8-3 and wine (its first eight features) 8-10-3, and leaves out the settings. The packages foolbox,
adversarial-robustness-toolbox and pyscipopt are needed only for what is asked. The numbers of one run stand in
docs/measurements/radii.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.networks import Classifier
from marginflow.robustness import Radius, check_certificate, exact_radius

Attack = Callable[[FloatArray, IntArray], FloatArray]
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


def fitted(X: FloatArray, y: IntArray, width: int, rounds: int) -> Classifier:
    from sklearn.neural_network import MLPClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPClassifier((width,), max_iter=rounds, random_state=0).fit(X, y)
    (W, V), (b, c) = model.coefs_, model.intercepts_
    return Classifier(W=W.T, b=b, V=V.T, c=c)


def as_module(network: Classifier) -> Any:
    import torch

    torch.set_num_threads(1)
    layers = torch.nn.Sequential(
        torch.nn.Linear(network.dimension, network.width),
        torch.nn.ReLU(),
        torch.nn.Linear(network.width, network.n_classes),
    ).double()
    layers.load_state_dict({name: torch.tensor(array) for name, array in network.state_dict().items()})
    return layers.eval()


def by_foolbox(network: Classifier) -> dict[str, Attack]:
    """foolbox's DDN and FMN with 1000 steps, and DeepFool."""
    import foolbox
    import torch

    model = foolbox.PyTorchModel(as_module(network), bounds=(-20.0, 20.0))
    attacks = {
        "foolbox DDN, 1000 steps": foolbox.attacks.DDNAttack(steps=1000),
        "foolbox FMN, 1000 steps": foolbox.attacks.L2FMNAttack(steps=1000),
        "foolbox DeepFool": foolbox.attacks.L2DeepFoolAttack(),
    }

    def runner(attack: Any) -> Attack:
        return lambda X, y: attack(model, torch.tensor(X), torch.tensor(y), epsilons=None)[1].numpy()

    return {name: runner(attack) for name, attack in attacks.items()}


def by_art(network: Classifier) -> dict[str, Attack]:
    """ART's DeepFool, and Carlini and Wagner's l2 attack with its 10 steps and with 100.

    DeepFool multiplies its steps by the range of the clip values, so it gets none; Carlini's gets wide ones.
    """
    import torch
    from art.attacks.evasion import CarliniL2Method, DeepFool
    from art.estimators.classification import PyTorchClassifier

    def model(clip: tuple[float, float] | None) -> Any:
        loss, shape, K = torch.nn.CrossEntropyLoss(), (network.dimension,), network.n_classes
        return PyTorchClassifier(as_module(network).float(), loss, shape, K, clip_values=clip, device_type="cpu")

    def runner(attack: Any) -> Attack:
        return lambda X, y: attack.generate(X.astype(np.float32), np.eye(network.n_classes)[y]).astype(np.float64)

    wide = model((-2.0, 3.0))
    return {
        "ART DeepFool": runner(DeepFool(model(None), nb_grads=network.n_classes, verbose=False)),
        "ART Carlini l2": runner(CarliniL2Method(wide, batch_size=128, verbose=False)),
        "ART Carlini l2, 100 steps": runner(CarliniL2Method(wide, max_iter=100, batch_size=128, verbose=False)),
    }


def compare(network: Classifier, X: FloatArray, y: IntArray, radii: list[Radius], attacks: dict[str, Attack]) -> None:
    """How often each attack is too long, and whether it is ever below a proved bound."""
    lower, upper = np.array([r.lower for r in radii]), np.array([r.upper for r in radii])
    for name, attack in attacks.items():
        begin = time.process_time()
        moved = attack(X, y)
        each = (time.process_time() - begin) / len(X)
        flipped = network.predict(moved) != y
        ratio = np.linalg.norm(moved - X, axis=1) / upper
        below = int((flipped & (ratio * upper < lower * (1 - 1e-9))).sum())
        ratio = ratio[flipped]
        print(
            f"  {name}: changes {flipped.sum()}/{len(X)}, {below} below a proved bound; more than 0.1 % too long "
            f"{np.mean(ratio > 1.001):.0%}, median {np.median(ratio):.5f}, worst {ratio.max():.3f}; "
            f"{1e3 * each:.1f} ms a point",
            flush=True,
        )


def against_scip(points: int) -> None:
    """Small classifiers: the least over rivals of what SCIP finds, against the exact radius."""
    from radius import by_scip
    from sklearn.datasets import load_iris, load_wine

    for name, load, features, width in (("iris 4-8-3", load_iris, 4, 8), ("wine 8-10-3", load_wine, 8, 10)):
        X, y = load(return_X_y=True)
        X = X[:, :features]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        network = fitted(X, y, width, 400)
        chosen = np.random.default_rng(0).permutation(len(X))[:points]
        apart, ours, theirs, done = [], [], [], 0
        for x in X[chosen]:
            begin = time.process_time()
            radius = exact_radius(network, x)
            ours.append(time.process_time() - begin)
            assert radius.status == "proved", radius
            own = int(radius.label)
            answers = [
                by_scip(difference, x, 1.0, 2.0 * radius.upper, 60.0, level)
                for difference, level in (network.difference(own, t) for t in range(3) if t != own)
            ]
            theirs.append(sum(seconds for _, seconds, _ in answers))
            found = min(value for value, _, _ in answers)
            done += all(finished or value == np.inf for value, _, finished in answers)
            apart.append(abs(found / radius.upper - 1.0))
        print(
            f"SCIP, {name}: {done}/{len(apart)} finished; values differ by at most {max(apart):.1e}; median "
            f"{1e3 * np.median(theirs):.0f} ms, ours {1e3 * np.median(ours):.1f} ms",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--setting", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    for name in ("--foolbox", "--art", "--scip"):
        parser.add_argument(name, action="store_true")
    options = parser.parse_args()
    if options.scip:
        against_scip(options.points)
        return
    for setting in options.setting:
        X, y = data_of(setting)
        network = fitted(X, y, SETTINGS[setting], 40)
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
            compare(network, points, own, radii, by_foolbox(network))
        if options.art:
            compare(network, points, own, radii, by_art(network))


if __name__ == "__main__":
    main()
