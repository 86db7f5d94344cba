"""Exact l2 radii: points proved, time and nodes by setting; against SCIP and against attacks.

    python benchmarks/radius.py [--setting 0 1 2 3] [--points N] [--scip N] [--attacks]

Every setting is measured on two networks. "KKT point" comes from the limit solver; its parallel neurons merge.
"trained" is the same data after gradient descent from small initialisation, where all neurons stay different.
Every certificate is checked, with the clock stopped. Times are processor time of one core, with wall time beside it
where it says so; run with OPENBLAS_NUM_THREADS=1. Fewer points than samples are drawn at random with a fixed seed.

--scip N also solves N points of width 50 as mixed-integer quadratically constrained programs with PySCIPOpt, given
twice the exact radius as its bound on the perturbation. --attacks runs our attacks, the rivals that the tests have
(`tests/oracles/rival_attacks.py`), and those of foolbox if it can be imported, on the points of setting 1. Neither
package is a dependency. The numbers of one run stand in docs/measurements/radii.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import marginflow as mf
from marginflow.arrays import FloatArray
from marginflow.flow import AngleBounded, Descent, Steps
from marginflow.losses import Exponential
from marginflow.networks import TwoLayer
from marginflow.robustness import Radius, check_certificate, exact_radius, lower_bounds

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "oracles"))

from rival_attacks import ATTACKS

# Samples, dimension, width, steps of gradient descent.
SETTINGS = ((20, 20, 50, 3000), (100, 100, 200, 3000), (100, 784, 1000, 600), (400, 50, 300, 4000))
# Proved counts up to this processor time; the limit given to the search is wall time, larger for busy machines.
TIME_LIMIT, WALL_LIMIT, SCIP_LIMIT = 60.0, 300.0, 60.0


@dataclass(frozen=True)
class Measured:
    """Radii of one network, and the seconds that each took: processor, wall, and the checker's."""

    radii: list[Radius]
    seconds: FloatArray
    wall: FloatArray
    checks: FloatArray
    holding: int

    def row(self) -> str:
        n, nodes = len(self.radii), [radius.nodes for radius in self.radii]
        in_time = self.seconds <= TIME_LIMIT
        proved = sum(r.status == "proved" and bool(ok) for r, ok in zip(self.radii, in_time, strict=True))
        milliseconds, wall = 1e3 * self.seconds, 1e3 * self.wall
        return (
            f"{proved:4d}/{n:<4d} {self.holding:4d}/{n:<4d} {np.median(milliseconds):9.1f} {milliseconds.mean():9.1f} "
            f"{milliseconds.max():9.1f} {np.median(wall):9.1f} {np.median(nodes):6.0f} {max(nodes):6d} "
            f"{1e3 * np.median(self.checks):9.1f}"
        )


def networks(m: int, d: int, k: int, steps: int) -> tuple[mf.data.Dataset, dict[str, TwoLayer]]:
    data = mf.data.Sphere(dimension=d).sample(m, seed=0)
    start = TwoLayer.initialise(width=k, dimension=d, scale=0.01, seed=0)
    plan = Descent(loss=Exponential(), schedule=AngleBounded(0.01), stop=[Steps(steps)])
    return data, {
        "KKT point": mf.kkt_point(data, width=k, seed=0).network,
        "trained": mf.train(start, data, plan).network,
    }


def measure(network: TwoLayer, X: FloatArray, y: FloatArray) -> Measured:
    exact_radius(network, X[0], label=y[0], time_limit=WALL_LIMIT)  # the network is reduced once, and caches are warm
    radii, seconds, wall, checks, holding = [], [], [], [], 0
    for x, label in zip(X, y, strict=True):
        begin, began = time.process_time(), time.perf_counter()
        radius = exact_radius(network, x, label=label, time_limit=WALL_LIMIT)
        seconds.append(time.process_time() - begin)
        wall.append(time.perf_counter() - began)
        begin = time.process_time()
        assert radius.certificate is not None
        holding += check_certificate(radius.certificate, network).holds
        checks.append(time.process_time() - begin)
        radii.append(radius)
    return Measured(radii, np.array(seconds), np.array(wall), np.array(checks), holding)


def by_scip(
    network: TwoLayer, x: FloatArray, label: float, reach: float, limit: float, level: float = 0.0
) -> tuple[float, float, bool]:
    """min ||delta||^2 as a mixed-integer program: binaries for the opposing neurons, |z| bounded by `reach`."""
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", 1e-7)
    model.setParam("numerics/feastol", 1e-8)
    model.setParam("parallel/maxnthreads", 1)
    size = np.linalg.norm(network.W, axis=1)
    W = network.W / size[:, None]
    a = W @ x + (0.0 if network.b is None else network.b / size)
    c = label * network.v * size
    value = float(c @ np.maximum(a, 0.0)) - level
    c, level = c / value, level / value  # the value at the point becomes 1, which SCIP's tolerances are made for
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
    model.addCons(quicksum(outputs) <= level)
    model.setObjective(square, "minimize")
    begin = time.process_time()
    try:
        model.optimize()
    except Exception:  # SCIP gives up with "error in LP solver" on some points, and has no class for it
        return float("inf"), time.process_time() - begin, False
    seconds = time.process_time() - begin
    found = float(np.sqrt(model.getPrimalbound())) if model.getNSols() else float("inf")
    return found, seconds, model.getStatus() in ("optimal", "gaplimit")


def against_scip(name: str, network: TwoLayer, X: FloatArray, y: FloatArray, measured: Measured) -> None:
    n = len(X)
    answers = [
        by_scip(network, x, label, 2.0 * r.upper, SCIP_LIMIT)
        for x, label, r in zip(X, y, measured.radii[:n], strict=True)
    ]
    times = np.array([seconds for _, seconds, _ in answers])
    apart = [abs(v / r.upper - 1.0) for (v, _, done), r in zip(answers, measured.radii[:n], strict=True) if done]
    ratio = times / measured.seconds[:n]
    print(
        f"      SCIP, {name} ({network.width} neurons): {len(apart)}/{n} finished, median {np.median(times):.2f} s, "
        f"largest {times.max():.2f} s a point; slower by {np.median(ratio):.0f} (median), {ratio.min():.0f} (least); "
        f"values differ by at most {max(apart, default=np.nan):.1e}",
        flush=True,
    )


def attacks_of_foolbox(network: TwoLayer) -> dict[str, Callable[[FloatArray, FloatArray], FloatArray]]:
    """Name to a function from points and labels to distances, by foolbox's own attacks at the settings named."""
    try:
        import foolbox
    except ImportError:
        print("      foolbox cannot be imported; its attacks are left out")
        return {}
    import torch

    from marginflow.interop.foolbox import to_foolbox, to_inputs

    torch.set_num_threads(1)

    def runner(attack: object, bounds: tuple[float, float]) -> Callable[[FloatArray, FloatArray], FloatArray]:
        def run(X: FloatArray, y: FloatArray) -> FloatArray:
            inputs, classes = to_inputs(X, y)
            _, moved, flipped = attack(to_foolbox(network, bounds=bounds), inputs, classes, epsilons=None)  # type: ignore[operator]
            away = np.linalg.norm(moved.detach().numpy() - X, axis=1)
            return np.where(flipped.numpy(), away, np.inf)

        return run

    f = foolbox.attacks
    near = (-20.0, 20.0)  # far outside the data; some of the attacks measure their steps in widths of the box
    return {
        "foolbox DeepFool, 50 steps": runner(f.L2DeepFoolAttack(), near),
        "foolbox DDN, 1000 steps": runner(f.DDNAttack(steps=1000), near),
        "foolbox FMN, 100 steps": runner(f.L2FMNAttack(), near),
        "foolbox FMN, 1000 steps": runner(f.L2FMNAttack(steps=1000), near),
        "foolbox C&W, 9 x 1000 steps": runner(f.L2CarliniWagnerAttack(binary_search_steps=9, steps=1000), near),
    }


def against_attacks(network: TwoLayer, X: FloatArray, y: FloatArray, measured: Measured) -> None:
    exact = np.array([radius.upper for radius in measured.radii])
    lower = np.array([radius.lower for radius in measured.radii])
    ours = {
        f"our {name}": (lambda X, y, attack=attack: attack(network, X, y).sizes)  # type: ignore[misc]
        for name, attack in ATTACKS.items()
    }
    print("      distance / exact               flipped      median      mean     worst   ms a point")
    for name, run in {**ours, **attacks_of_foolbox(network)}.items():
        begin = time.process_time()
        sizes = run(X, y)
        spent = time.process_time() - begin
        assert (sizes >= lower * (1.0 - 1e-9)).all(), f"{name} is below a proved lower bound"
        ratio = (sizes / exact)[np.isfinite(sizes)]
        print(
            f"      {name:28} {ratio.size:4d}/{len(X):<4d} {ratio_row(ratio, ratio.max(), spent / len(X))}", flush=True
        )
    for bound in (lower_bounds.lipschitz_bound, lower_bounds.local_lipschitz_bound, lower_bounds.chord_bound):
        begin = time.process_time()
        found = bound(network, X, y)
        spent = time.process_time() - begin
        ratio = found.radii / exact
        print(f"      {'bound ' + found.name:38} {ratio_row(ratio, ratio.min(), spent / len(X))}", flush=True)


def ratio_row(ratio: FloatArray, worst: float, seconds: float) -> str:
    return f"{np.median(ratio):9.5f} {ratio.mean():9.5f} {worst:9.5f} {1e3 * seconds:10.1f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--setting", type=int, nargs="+", default=range(len(SETTINGS)), help="rows of SETTINGS")
    parser.add_argument("--points", type=int, default=400, help="at most so many points of each setting")
    parser.add_argument("--scip", type=int, default=0, help="so many points of setting 0 are also solved by PySCIPOpt")
    parser.add_argument("--attacks", action="store_true", help="also attack the points of setting 1")
    arguments = parser.parse_args()
    print(" " * 29 + "proved    checked   median ms   mean ms    max ms   wall ms  nodes    max  check ms")
    for index in arguments.setting:
        m, d, k, steps = SETTINGS[index]
        data, nets = networks(m, d, k, steps)
        chosen = np.random.default_rng(0).permutation(m)[: arguments.points]
        X, y = data.X[chosen], data.y[chosen]
        for name, network in nets.items():
            measured = measure(network, X, y)
            print(f"{(m, d, k)!s:16} {name:10} {measured.row()}", flush=True)
            if arguments.scip and index == 0:
                few = slice(arguments.scip)
                against_scip("the network as it is", network, X[few], y[few], measured)
                if network.compact().width < network.width:
                    against_scip("parallel neurons merged for it", network.compact(), X[few], y[few], measured)
            if arguments.attacks and index == 1:
                against_attacks(network, X, y, measured)


if __name__ == "__main__":
    main()
