"""Random data sets of twenty kinds for `benchmarks/limit.py zoo`: how many end at an exact point, and how soon."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from limit_judge import judge

import marginflow as mf

Case = tuple[mf.data.Dataset, dict[str, object]]
Kind = Callable[[np.random.Generator], Case]
Row = dict[str, Any]


def labelled(X: np.ndarray, y: np.ndarray, **options: object) -> Case:
    """The case; where all labels agree the first is turned."""
    y = np.where(np.asarray(y) > 0, 1.0, -1.0)
    if (y == y[0]).all():
        y[0] = -y[0]
    return mf.data.Dataset(X=X, y=y), {"width": 100, **options}


def sphere(rng: np.random.Generator, d: int, m: int, **options: object) -> Case:
    X = rng.standard_normal((m, d))
    return labelled(X / np.linalg.norm(X, axis=1)[:, None] * np.sqrt(d), rng.choice([-1.0, 1.0], m), **options)


def moons(rng: np.random.Generator, n: int, noise: float, **options: object) -> Case:
    angle, half = rng.uniform(0, np.pi, n), np.arange(n) % 2
    X = np.column_stack([np.where(half, 1 - np.cos(angle), np.cos(angle)), np.where(half, 0.5, 0) + np.sin(angle)])
    X[:, 1] = np.where(half, 0.5 - np.sin(angle), np.sin(angle))
    return labelled(X + noise * rng.standard_normal((n, 2)), 2 * half - 1, **options)


def circles(rng: np.random.Generator, n: int, **options: object) -> Case:
    angle, inner = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    X = np.where(inner, 0.5, 1.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return labelled(X + 0.05 * rng.standard_normal((n, 2)), 2 * inner - 1, **options)


def mixture(rng: np.random.Generator, d: int, n: int, noise: float = 0.5, **options: object) -> Case:
    means, own = rng.standard_normal((6, d)), rng.integers(0, 6, n)
    return labelled(means[own] + noise * rng.standard_normal((n, d)), np.where(own % 2, 1, -1), **options)


def near_pairs(rng: np.random.Generator, distance: float) -> Case:
    X = rng.standard_normal((10, 5))
    near = X + distance * rng.standard_normal((10, 5)) / np.sqrt(5)
    return labelled(np.vstack([X, near]), np.repeat([1.0, -1.0], 10))


def table(rng: np.random.Generator, d: int, n: int) -> Case:
    """Columns of the most different sizes and offsets, as raw tables have them; a linear rule with some noise."""
    Z = rng.standard_normal((n, d))
    y = Z @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
    return labelled(Z * 10 ** rng.uniform(-2, 2.5, d) + 10 ** rng.uniform(-1, 2.5, d), y)


def moved(case: Case, *, factor: float = 1.0, offset: float = 0.0) -> Case:
    data, options = case
    return mf.data.Dataset(X=factor * data.X + offset, y=data.y), options


def cauchy(rng: np.random.Generator) -> Case:
    return labelled(rng.standard_cauchy((100, 20)), rng.choice([-1.0, 1.0], 100))


def line(rng: np.random.Generator, **options: object) -> Case:
    return labelled(np.sort(rng.uniform(0, 1, 12))[:, None], rng.choice([-1.0, 1.0], 12), **options)


def xor(rng: np.random.Generator, **options: object) -> Case:
    X = rng.standard_normal((60, 4))
    return labelled(X, X[:, 0] * X[:, 1], **options)


def real(rng: np.random.Generator, name: str) -> Case:
    """A random half of a bundled data set, not standardised."""
    from sklearn import datasets

    full = getattr(datasets, f"load_{name}")()
    rows = rng.choice(len(full.data), len(full.data) // 2, replace=False)
    return labelled(full.data[rows], np.where(full.target[rows] == 0, 1.0, -1.0))


KINDS: dict[str, Kind] = {
    "sphere, m <= d": lambda rng: sphere(rng, int(rng.integers(20, 80)), int(rng.integers(10, 20))),
    "sphere, m = 3 d": lambda rng: sphere(rng, 20, 60),
    "sphere 2 x 50, 3 x 50": lambda rng: sphere(rng, int(rng.integers(2, 4)), 50),
    "sphere 5 x 100": lambda rng: sphere(rng, 5, 100),
    "sphere 10 x 200": lambda rng: sphere(rng, 10, 200),
    "sphere, no bias": lambda rng: sphere(rng, 10, 40, bias=False),
    "sphere, frozen outputs": lambda rng: sphere(rng, 20, 30, outputs="frozen"),
    "moons, hard": lambda rng: moons(rng, 100, float(rng.uniform(0.05, 0.3))),
    "moons, penalty 0.1 to 100": lambda rng: moons(rng, 200, 0.25, penalty=float(10 ** rng.uniform(-1, 2))),
    "circles": lambda rng: circles(rng, 200),
    "mixture": lambda rng: mixture(rng, 10, 200),
    "mixture, penalty 100": lambda rng: mixture(rng, 10, 200, 1.0, penalty=100.0),
    "opposite labels 1e-3 apart": lambda rng: near_pairs(rng, 1e-3),
    "raw table": lambda rng: table(rng, 8, 100),
    "raw wine, breast cancer": lambda rng: real(rng, str(rng.choice(["wine", "breast_cancer"]))),
    "offset 100, 1000": lambda rng: moved(sphere(rng, 5, 30), offset=float(rng.choice([1e2, 1e3]))),
    "scale 1e-6 to 1e15": lambda rng: moved(sphere(rng, 10, 30), factor=float(rng.choice([1e-6, 1e-4, 1e6, 1e15]))),
    "Cauchy": cauchy,
    "line, frozen outputs": lambda rng: line(rng, outputs="frozen"),
    "XOR, soft": lambda rng: xor(rng, penalty=1.0),
}


def _row(name: str, seed: int, number: int, time_limit: float) -> Row:
    """One data set: the certificate's number, that of an evaluator of its own, and what was said if it is not exact."""
    data, options = KINDS[name](np.random.default_rng((seed, list(KINDS).index(name), number)))
    began = time.process_time()
    try:
        limit = mf.kkt_point(data, seed=number, time_limit=time_limit, **options)  # type: ignore[arg-type]
        said, stationarity = ("" if limit.exact else limit.status), limit.certificate.stationarity
        seconds = time.process_time() - began
        net, c = limit.network, limit.certificate
        judged = judge(
            *(net.W, net.b, net.v, data.X, data.y, c.multipliers, c.clarke),
            penalty=c.penalty,
            frozen=net.outputs == "frozen",
        ).worst
    except mf.InputError as error:
        said, stationarity, judged, seconds = str(error), np.inf, np.inf, time.process_time() - began
    return {
        "kind": name,
        "seed": seed,
        "number": number,
        "seconds": seconds,
        "said": said,
        "stationarity": stationarity,
        "judged": judged,
    }


def zoo(sets: int = 500, seed: int = 0, time_limit: float = 600.0, only: str = "", keep: str = "") -> None:
    """Print the share of exact points and the CPU seconds of every kind, and what the others said.

    With `keep`, a file of JSON lines, rows are kept as they come and those that are there are not made again.
    """
    numbers = range(max(1, sets // len(KINDS)))
    kinds = [name for name in KINDS if only in name]
    kept = Path(keep).read_text().splitlines() if keep and Path(keep).exists() else []
    rows: list[Row] = [json.loads(line) for line in kept]
    known = {(row["kind"], row["seed"], row["number"]) for row in rows}
    for number in numbers:
        for name in kinds:
            if (name, seed, number) not in known:
                rows.append(_row(name, seed, number, time_limit))
                if keep:
                    with Path(keep).open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    print(f"\n{'kind':>28} {'exact':>7} {'median s':>9} {'most s':>7} {'worst station.':>15} {'judged':>9}")
    for name in kinds:
        own = [row for row in rows if row["kind"] == name and row["seed"] == seed and row["number"] in numbers]
        seconds = [float(row["seconds"]) for row in own]
        exact = [float(row["stationarity"]) for row in own if not row["said"]]
        judged = [float(row["judged"]) for row in own if not row["said"] and "judged" in row]
        print(
            f"{name:>28} {len(exact):3d}/{len(own):3d} {np.median(seconds):9.2f} {max(seconds):7.2f} "
            f"{max(exact, default=np.nan):15.1e} {max(judged, default=np.nan):9.1e}",
            flush=True,
        )
        for row in [row for row in own if row["said"]][:3]:
            print(f"{'':>30}{row['number']}: {row['said']}")
