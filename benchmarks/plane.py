"""The global max-margin network in the plane: `python benchmarks/plane.py [--seeds N]`.

Moons, circles and spirals, hard and soft: seconds, linear programs, neurons, the proved gap and the stationarity of the
certificate. Absolute times depend on the machine.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import make_circles, make_moons

import marginflow as mf
from marginflow.limit import plane


def spirals(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    t, y = 3 * np.pi * np.sqrt(rng.random(n)), rng.choice([-1.0, 1.0], n)
    arm = y[:, None] * t[:, None] * np.column_stack([np.cos(t), np.sin(t)]) / (3 * np.pi)
    return arm + noise * rng.standard_normal((n, 2)), y


def samples(kind: str, n: int, noise: float, seed: int) -> mf.data.Dataset:
    if kind == "spirals":
        X, y = spirals(n, noise, seed)
    else:
        make = make_moons if kind == "moons" else make_circles
        X, y = make(n, noise=noise, random_state=seed)
        y = 2.0 * y - 1.0
    return mf.data.Dataset(X=X, y=y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    seeds = parser.parse_args().seeds
    cells = [("moons", 200, 0.15, None), ("moons", 200, 0.3, None)]
    for n in (400, 1000):
        for kind, noise in (("moons", 0.3), ("circles", 0.1), ("spirals", 0.02)):
            cells += [(kind, n, noise, penalty) for penalty in (None, 0.1, 1.0, 10.0, 100.0)]
    print(f"{'data':8} {'n':>5} {'noise':>5} {'penalty':>7} {'s':>6} {'LPs':>4} {'neurons':>7} {'gap':>8} {'KKT':>8}")
    for kind, n, noise, penalty in cells:
        for seed in range(seeds):
            data = samples(kind, n, noise, seed)
            began = time.perf_counter()
            best = plane.max_margin(data, penalty=penalty, time_limit=120)
            seconds = time.perf_counter() - began
            residual = float("nan")
            if best.clarke is not None:
                mu = best.multipliers[:, None] * best.clarke
                residual = mf.certify(
                    best.network, data, penalty=penalty, multipliers=(best.multipliers, mu)
                ).stationarity
            cost = "hard" if penalty is None else f"{penalty:g}"
            print(
                f"{kind:8} {n:5} {noise:5} {cost:>7} {seconds:6.2f} {best.rounds:4} {best.network.width:7} "
                f"{best.gap:8.1e} {residual:8.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
