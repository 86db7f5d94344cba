"""Exact l2 radii: points proved, time and nodes by setting; SCIP's mixed-integer model on the smallest one.

    python benchmarks/radius.py [--points N] [--scip]

Every setting is measured on two networks. "KKT point" comes from the limit solver; its parallel neurons merge.
"trained" is the same data after gradient descent from small initialisation, where all neurons stay different.
Every certificate is checked. Times are processor time of one core; run with OPENBLAS_NUM_THREADS=1.

--scip also solves the points of the smallest setting as a mixed-integer quadratically constrained program with
PySCIPOpt (not a dependency; install it yourself), given twice the exact radius as its bound on the perturbation.

Noted once, on a busy machine, relative tolerance 1e-6 (points proved; median and largest milliseconds a point; nodes):
see NOTES at the end of this file.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import marginflow as mf
from marginflow.arrays import FloatArray
from marginflow.flow import AngleBounded, Descent, Steps
from marginflow.losses import Exponential
from marginflow.networks import TwoLayer
from marginflow.robustness import check_certificate, exact_radius

# Samples, dimension, width, steps of gradient descent.
SETTINGS = ((20, 20, 50, 3000), (100, 100, 200, 3000), (100, 784, 1000, 600), (400, 50, 300, 4000))
TIME_LIMIT = 60.0


def networks(m: int, d: int, k: int, steps: int) -> tuple[mf.data.Dataset, dict[str, TwoLayer]]:
    data = mf.data.Sphere(dimension=d).sample(m, seed=0)
    start = TwoLayer.initialise(width=k, dimension=d, scale=0.01, seed=0)
    plan = Descent(loss=Exponential(), schedule=AngleBounded(0.01), stop=[Steps(steps)])
    return data, {
        "KKT point": mf.kkt_point(data, width=k, seed=0).network,
        "trained": mf.train(start, data, plan).network,
    }


def measure(network: TwoLayer, X: FloatArray, y: FloatArray) -> tuple[str, list[float], list[float]]:
    """One row of the table, the radii and the seconds."""
    seconds, checks, radii = [], [], []
    proved = holding = 0
    nodes = []
    for x, label in zip(X, y, strict=True):
        begin = time.process_time()
        radius = exact_radius(network, x, label=label, time_limit=TIME_LIMIT)
        seconds.append(time.process_time() - begin)
        begin = time.process_time()
        assert radius.certificate is not None
        holding += check_certificate(radius.certificate, network).holds
        checks.append(time.process_time() - begin)
        proved += radius.status == "proved"
        nodes.append(radius.nodes)
        radii.append(radius.upper)
    row = (
        f"{proved:4d}/{len(X):<4d} {holding:4d}/{len(X):<4d} {1e3 * np.median(seconds):8.1f} {1e3 * max(seconds):9.1f} "
        f"{np.median(nodes):6.0f} {max(nodes):6d} {1e3 * np.median(checks):9.1f}"
    )
    return row, radii, seconds


def by_scip(network: TwoLayer, x: FloatArray, label: float, reach: float, limit: float) -> tuple[float, float, str]:
    """min ||delta||^2 as a mixed-integer program: binaries for the opposing neurons, |z| bounded by `reach`."""
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", 1e-6)
    model.setParam("parallel/maxnthreads", 1)
    compact = network.compact()
    size = np.linalg.norm(compact.W, axis=1)
    W = compact.W / size[:, None]
    a = W @ x + (0.0 if compact.b is None else compact.b / size)
    c = label * compact.v * size
    delta = [model.addVar(lb=-reach, ub=reach) for _ in range(x.size)]
    square = model.addVar(lb=0.0, ub=reach**2)
    model.addCons(quicksum(t * t for t in delta) <= square)
    outputs = []
    for j in range(c.size):
        z = float(a[j]) + quicksum(float(W[j, i]) * delta[i] for i in range(x.size))
        low, high = float(a[j]) - reach, float(a[j]) + reach
        out = model.addVar(lb=0.0, ub=max(high, 0.0))
        model.addCons(out >= z)
        if c[j] < 0 and low < 0 < high:
            on = model.addVar(vtype="B")
            model.addCons(out <= z - low * (1 - on))
            model.addCons(out <= high * on)
        elif c[j] < 0:
            model.addCons(out <= (z if low >= 0 else 0.0))
        outputs.append(float(c[j]) * out)
    model.addCons(quicksum(outputs) <= 0)
    model.setObjective(square, "minimize")
    begin = time.process_time()
    model.optimize()
    seconds = time.process_time() - begin
    value = float(np.sqrt(model.getPrimalbound())) if model.getNSols() else float("inf")
    return value, seconds, str(model.getStatus())


def against_scip(network: TwoLayer, X: FloatArray, y: FloatArray, radii: list[float], seconds: list[float]) -> None:
    values, times = [], []
    for x, label, radius in zip(X, y, radii, strict=True):
        value, spent, _ = by_scip(network, x, label, 2.0 * radius, 120.0)
        values.append(value)
        times.append(spent)
    worst = max(abs(value / radius - 1.0) for value, radius in zip(values, radii, strict=True))
    print(
        f"      SCIP: median {np.median(times):.2f} s, largest {max(times):.2f} s a point; "
        f"{np.median(np.array(times) / np.array(seconds)):.0f} times slower (median of the ratios); "
        f"values differ by at most {worst:.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=100, help="points of each setting")
    parser.add_argument("--scip", action="store_true", help="also solve the smallest setting with PySCIPOpt")
    arguments = parser.parse_args()
    print("(m, d, width)      network      proved    checked   median ms    max ms  nodes    max  check ms")
    for place, (m, d, k, steps) in enumerate(SETTINGS):
        data, nets = networks(m, d, k, steps)
        X, y = data.X[: arguments.points], data.y[: arguments.points]
        for name, network in nets.items():
            row, radii, seconds = measure(network, X, y)
            print(f"{(m, d, k)!s:18} {name:10} {row}", flush=True)
            if arguments.scip and place == 0:
                against_scip(network, X, y, radii, seconds)


if __name__ == "__main__":
    main()
