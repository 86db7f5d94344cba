"""What `kkt_point` must reach, row by row on any seed, each claim judged by an evaluator of its own.

    python benchmarks/limit_table.py plane --seed 7       moons, circles, spirals near the flow
    python benchmarks/limit_table.py global --seed 7      the same with optimum="global" and its proof
    python benchmarks/limit_table.py few raw large many   few dimensions, raw tables, spheres, mixtures

Seconds are those of the processor and, after a slash, of the clock; memory is the largest the process has held so far,
so a row that is to be weighed is run alone (`--only WORD`). `--keep FILE` appends a line of JSON for every row.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from limit_judge import judge, supremum

import marginflow as mf

Dataset = mf.data.Dataset
Row = tuple[str, Dataset, dict[str, Any]]
PENALTIES = (None, 0.1, 1.0, 10.0, 100.0)


def planar(seed: int) -> Iterator[Row]:
    for noise in (0.15, 0.3):
        yield f"moons 200 noise {noise} hard", mf.data.moons(200, noise=noise, seed=seed), {"width": 200}
    for n in (400, 1000):
        for kind, noise in (("moons", 0.2), ("circles", 0.05), ("spirals", 0.05)):
            data = getattr(mf.data, kind)(n, noise=noise, seed=seed)
            for penalty in PENALTIES:
                cost = "hard" if penalty is None else f"C = {penalty:g}"
                yield f"{kind} {n} {cost}", data, {"width": 200 if n == 400 else 300, "penalty": penalty}


def planar_global(seed: int) -> Iterator[Row]:
    for name, data, options in planar(seed):
        yield name + " global", data, {**options, "optimum": "global"}


def sphere(d: int, m: int, seed: int) -> Dataset:
    return mf.data.Sphere(dimension=d).sample(m, seed=seed)


def few(seed: int) -> Iterator[Row]:
    for d, m in ((2, 50), (3, 50), (5, 50), (2, 200), (3, 200), (5, 200), (10, 200), (10, 400)):
        for one in range(seed, seed + 10):
            yield f"sphere {d} x {m}, draw {one}", sphere(d, m, one), {"width": 200}


def large(seed: int) -> Iterator[Row]:
    for d, m in ((30, 600), (100, 2000), (300, 2400), (1000, 3981), (300, 5196)):
        yield f"sphere {d} x {m}", sphere(d, m, seed), {"width": 1000}


def mixture(d: int, n: int, seed: int, noise: float = 0.5) -> Dataset:
    """Ten Gaussians, five of each label."""
    rng = np.random.default_rng(seed)
    means, own = rng.standard_normal((10, d)), rng.integers(0, 10, n)
    return Dataset(X=means[own] + noise * rng.standard_normal((n, d)), y=np.where(own % 2, 1.0, -1.0))


def many(seed: int) -> Iterator[Row]:
    yield "mixture 50 x 30,000", mixture(50, 30_000, seed), {"width": 100}
    yield "mixture 40 x 20,000, limit 60", mixture(40, 20_000, seed), {"width": 1000, "time_limit": 60.0}
    yield "mixture 40 x 20,000, noise 1, limit 60", mixture(40, 20_000, seed, 1.0), {"width": 1000, "time_limit": 60.0}


def labelled(X: np.ndarray, rng: np.random.Generator) -> Dataset:
    y = rng.choice([-1.0, 1.0], len(X))
    y[:2] = 1.0, -1.0
    return Dataset(X=X, y=y)


def raw(seed: int) -> Iterator[Row]:
    rng = np.random.default_rng((seed, 15))
    for classes in ((0, 1), (0, 2), (1, 2)):
        yield f"wine, raw, {classes[0]} v {classes[1]}", mf.data.wine(*classes), {"seed": seed}
    yield "breast cancer, raw", mf.data.breast_cancer(), {"seed": seed}
    for draw in range(3):
        yield f"Cauchy 20 x 100, draw {draw}", labelled(rng.standard_cauchy((100, 20)), rng), {}
        for distance in (1e-3, 1e-6):
            X, y = rng.standard_normal((40, 5)), rng.choice([-1.0, 1.0], 40)
            near = X[:1] + distance * rng.standard_normal((1, 5)) / np.sqrt(5)
            pair = Dataset(X=np.vstack([X, near]), y=np.append(y, -y[0]))
            yield f"opposite labels {distance:.0e} apart, draw {draw}", pair, {}
        X, y = rng.standard_normal((50, 5)), rng.choice([-1.0, 1.0], 50)
        y[:2] = 1.0, -1.0
        for offset in (1e2, 1e3, 1e4):
            yield f"offset {offset:.0e}, draw {draw}", Dataset(X=X + offset, y=y), {}
        for factor in (1e-6, 1e6, 1e15):
            yield f"scale {factor:.0e}, draw {draw}", Dataset(X=X * factor, y=y), {}
        line = np.sort(rng.uniform(0, 1, 15))[:, None]
        yield f"line 15, frozen outputs, draw {draw}", labelled(line, rng), {"outputs": "frozen"}
        yield (
            f"mixture 10 x 300, noise 1, C = 100, draw {draw}",
            mixture(10, 300, seed + draw, 1.0),
            {"penalty": 100.0},
        )
        noisy = mf.data.NoisySphere(dimension=20, p=0.2).sample(200, seed=seed + draw)
        yield f"noisy sphere 20 x 200, C = 100, draw {draw}", noisy, {"penalty": 100.0}


PARTS = {"plane": planar, "global": planar_global, "few": few, "large": large, "many": many, "raw": raw}


def measured(name: str, data: Dataset, options: dict[str, Any]) -> dict[str, Any]:
    began, clock = time.process_time(), time.perf_counter()
    limit = mf.kkt_point(data, **options)
    row: dict[str, Any] = {"row": name, "cpu": time.process_time() - began, "clock": time.perf_counter() - clock}
    row["GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row |= {"exact": limit.exact, "status": limit.status, "stationarity": limit.certificate.stationarity}
    network, c = limit.network, limit.certificate
    verdict = judge(
        *(network.W, network.b, network.v, data.X, data.y, c.multipliers, c.clarke),
        penalty=options.get("penalty"),
        frozen=options.get("outputs") == "frozen",
    )
    row |= {
        "judged": verdict.worst,
        "inside": verdict.inside,
        "verdict": verdict._asdict(),
        "neurons": limit.compact.width,
    }
    row["objective"] = float(network.norm_squared() / 2)
    if options.get("optimum") == "global":
        row["gap"] = limit.gap
        if data.n_samples <= 400:
            row["sup - 1"] = supremum(data.X, data.y, c.multipliers) - 1.0
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    print(f"{'row':>42} {'CPU s':>7} {'clock':>7} {'GB':>5} {'judged':>8} {'kinks':>8} neurons")
    for part in arguments.parts:
        for name, data, options in PARTS[part](arguments.seed):
            if arguments.only not in name:
                continue
            row = {"part": part, "seed": arguments.seed, **measured(name, data, options)}
            proof = (
                f" gap {row['gap']:.0e}" + (f", sup - 1 {row['sup - 1']:.0e}" if "sup - 1" in row else "")
                if ("gap" in row)
                else ""
            )
            said = "" if row["exact"] and ("gap" not in row or "global" in row["status"].lower()) else row["status"]
            print(
                f"{name:>42} {row['cpu']:7.2f} {row['clock']:7.2f} {row['GB']:5.2f} {row['judged']:8.0e} "
                f"{row['inside']:8.0e} {row['neurons']:5d}{proof} {said}",
                flush=True,
            )
            if arguments.keep:
                with Path(arguments.keep).open("a") as file:
                    file.write(json.dumps(row, default=float) + "\n")


if __name__ == "__main__":
    main()
