"""Exact influence measured: time, unlearning, planted label noise, digits.

    python benchmarks/influence.py [time] [unlearning] [noise] [digits]

makes the rows of each part that is named, all of them by default, prints them and keeps them in docs/influence.json.
Points of the digits are kept in the folder that --store names, so that the part can be stopped and continued. Absolute
times depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import marginflow as mf
from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.influences import fine_tuned, unlearning
from marginflow.storage import write_text

ROWS = Path(__file__).resolve().parents[1] / "docs" / "influence.json"
Row = dict[str, object]


def digits(positive: tuple[int, ...], negative: tuple[int, ...]) -> Dataset:
    from sklearn.datasets import load_digits

    found = load_digits()
    chosen = np.isin(found.target, positive + negative)
    return Dataset(X=found.data[chosen] / 16.0, y=np.where(np.isin(found.target[chosen], positive), 1.0, -1.0))


def timing() -> Iterator[Row]:
    """All leave-one-out points of a sphere in units of solutions from scratch."""
    data = mf.data.Sphere(dimension=100).sample(100, seed=0)
    began = time.process_time()
    for seed in range(3):
        limit = mf.kkt_point(data, width=1000, seed=seed)
    cold = (time.process_time() - began) / 3
    for mode in ("fast", "continuation"):
        began = time.process_time()
        found = mf.influence(limit, data, mode=mode)  # type: ignore[arg-type]
        seconds = time.process_time() - began
        ratios = found.drops / np.where(found.expected > 0, found.expected, np.nan)
        yield {
            "data": "sphere d = m = 100, width 1000",
            "mode": mode,
            "cold": cold,
            "seconds": seconds,
            "solutions": seconds / cold,
            "residual": float(found.residuals.max()),
            "jumped": int(found.jumped.sum()),
            "drop / expected": [float(np.nanquantile(ratios, share)) for share in (0.0, 0.5, 1.0)],
        }


def compare() -> Iterator[Row]:
    """One step of ascent and fine-tuning against the exact point: median sine of the angle between the outputs."""
    noisy = digits((3,), (8,))
    sets = {
        "sphere d = m = 60, seed 0": mf.data.Sphere(dimension=60).sample(60, seed=0),
        "sphere d = m = 60, seed 1": mf.data.Sphere(dimension=60).sample(60, seed=1),
        "digits 3 v 8, 80 samples": noisy.subset(np.random.default_rng(0).permutation(noisy.n_samples)[:80]),
    }
    for name, data in sets.items():
        found = mf.influence(mf.kkt_point(data, width=100, seed=0), data)
        points = data.X.mean(axis=0) + np.random.default_rng(0).standard_normal((500, data.dimension)) * data.X.std()
        moved = np.flatnonzero(found.multipliers > 0)
        step = unlearning(found, data, points)
        row: Row = {
            "data": name,
            "change anything": len(moved),
            "nothing": float(np.median(step.kept[moved])),
            "ascent step": float(np.median(step.unlearned[moved])),
            "ascent helps": step.helped,
        }
        for steps in (10, 100, 1000):
            tuned = [fine_tuned(found, data, g, steps) if g in moved else found.base for g in range(len(found.groups))]
            measured = unlearning(found, data, points, networks=tuned)
            row[f"{steps} steps"] = float(np.median(measured.unlearned[moved]))
        yield row


def noise() -> Iterator[Row]:
    """How many of ten planted label errors are among the ten samples that a score puts first."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    everything = digits((3,), (8,))
    table: dict[str, list[int]] = {}
    for draw in range(4):
        rng = np.random.default_rng(draw)
        chosen = rng.permutation(everything.n_samples)[:200]
        X, y = everything.X[chosen], everything.y[chosen].copy()
        wrong = rng.choice(200, 10, replace=False)
        y[wrong] = -y[wrong]
        data = Dataset(X=X, y=y)
        scores: dict[str, FloatArray] = {}
        for name, penalty in (("hard", None), ("soft", 0.1)):
            limit = mf.kkt_point(data, width=100, seed=0, penalty=penalty)
            found = mf.influence(limit, data, mode="fast")
            scores[f"exact leave-one-out margin, {name}"] = found.margins
            scores[f"own margin, {name}"] = limit.network.margins(X, y)
            scores[f"multiplier, {name}"] = -found.multipliers
        scores["RBF support vector machine, own margin"] = y * SVC(C=1.0).fit(X, y).decision_function(X)
        near = KNeighborsClassifier(6).fit(X, y).kneighbors(X, return_distance=False)[:, 1:]
        scores["five nearest neighbours"] = y * y[near].mean(axis=1)
        for name, score in scores.items():
            first = np.argsort(score, kind="stable")[:10]
            table.setdefault(name, []).append(int(np.isin(first, wrong).sum()))
    for name, found_wrong in table.items():
        yield {"score": name, "found of ten": found_wrong}


def all_digits(store: Path | None) -> Iterator[Row]:
    """Every leave-one-out point of the digits."""
    for name, data in (
        ("3 v 8", digits((3,), (8,))),
        ("odd v even", digits((1, 3, 5, 7, 9), (0, 2, 4, 6, 8))),
    ):
        began = time.process_time()
        limit = mf.kkt_point(data, width=100, seed=0)
        solved = time.process_time() - began
        for mode in ("fast", "continuation"):
            began, clock = time.process_time(), time.monotonic()
            file = None if store is None else store / f"{name.replace(' ', '-')}-{mode}.sqlite"
            found = mf.influence(limit, data, mode=mode, store=file)  # type: ignore[arg-type]
            yield {
                "data": f"digits {name}",
                "mode": mode,
                "samples": data.n_samples,
                "on the margin": int((found.multipliers > 0).sum()),
                "cold": solved,
                "seconds": time.process_time() - began,
                "wall": time.monotonic() - clock,
                "error": found.error,
                "residual": float(found.residuals.max()),
                "jumped": int(found.jumped.sum()),
                "ways": dict(Counter(found.ways)),
            }


def main() -> None:
    """Make the rows of the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["time", "unlearning", "noise", "digits"])
    parser.add_argument("--store", type=Path, help="folder for the points of the digits")
    options = parser.parse_args()
    makers = {"time": timing, "unlearning": compare, "noise": noise, "digits": lambda: all_digits(options.store)}
    for part in options.parts:
        kept = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
        made = []
        for row in makers[part]():
            made.append({"part": part, **row})
            print(made[-1], flush=True)
        write_text(ROWS, json.dumps([row for row in kept if row["part"] != part] + made, indent=1) + "\n")


if __name__ == "__main__":
    main()
