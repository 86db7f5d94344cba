"""Ratios of the flow room, measured side by side in one run: `python benchmarks/flow.py [--threads N] [--quick]`.

Every line compares two ways of doing the same work, interleaved, median of several repeats. Ratios above 1 mean that
the library is faster than what it is compared with. Absolute times depend on the machine and on what else it is doing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
parser.add_argument("--quick", action="store_true", help="leave out the largest sizes and the memory line")
arguments = parser.parse_args()
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(arguments.threads)  # before numpy is imported

import numpy as np  # noqa: E402

from marginflow.data import Dataset, Sphere, XorClusters  # noqa: E402
from marginflow.flow import AngleBounded, Constant, Descent, Steps, angle_flow, recipes, train  # noqa: E402
from marginflow.flow.dense import DenseTwoLayer  # noqa: E402
from marginflow.flow.planar import PlanarTwoLayer  # noqa: E402
from marginflow.losses import Exponential, Logistic  # noqa: E402
from marginflow.networks import TwoLayer  # noqa: E402

SIZES = [(50, 1, 100), (100, 10, 200), (100, 100, 1000), (500, 300, 500), (1000, 1000, 1000), (5000, 1000, 1000)]
RATE = 1e-6


def medians(ways: dict[str, Callable[[], None]], flop: float) -> dict[str, float]:
    """Median seconds of each way, interleaved; each is repeated within a measurement until it takes some time."""
    inner = max(1, min(2000, int(4e8 / max(flop, 1.0))))
    repeats = 7 if flop > 1e9 else 15
    for way in ways.values():
        way()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            for _ in range(inner):
                way()
            times[name].append((time.perf_counter() - start) / inner)
    return {name: statistics.median(values) for name, values in times.items()}


def our_step(net: TwoLayer, X: np.ndarray, y: np.ndarray, *, reduce: bool = False) -> Callable[[], None]:
    """The gradient step of the training loop: ln L, its gradient, and the update into the other buffer."""
    model, loss = DenseTwoLayer(net, X, y, reduce=reduce), Exponential()
    theta, spare, descent = model.start(), model.vector(), model.vector()

    def step() -> None:
        model.evaluate(theta, loss, descent)
        np.multiply(descent.flat, RATE, out=spare.flat)
        np.add(theta.flat, spare.flat, out=spare.flat)

    return step


def bare_products(n: int, d: int, k: int) -> Callable[[], None]:
    """The two matrix products that a step cannot do without, on preallocated arrays."""
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((n, d + 1)), rng.standard_normal((k, d + 1))
    Z, D = np.empty((n, k)), np.empty((k, d + 1))

    def products() -> None:
        np.dot(X, A.T, out=Z)
        np.dot(Z.T, X, out=D)

    return products


def torch_step(net: TwoLayer, X: np.ndarray, y: np.ndarray) -> Callable[[], None] | None:
    """The same step by autograd in float64 with the same number of threads; None without torch."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(arguments.threads)
    W, b, v = (torch.tensor(a, requires_grad=True) for a in (net.W, net.b, net.v))
    points, labels = torch.tensor(X), torch.tensor(y)

    def step() -> None:
        loss = torch.exp(-labels * (torch.relu(torch.nn.functional.linear(points, W, b)) @ v)).sum()
        loss.backward()
        with torch.no_grad():
            for parameter in (W, b, v):
                parameter -= RATE * parameter.grad
                parameter.grad = None

    return step


def sphere(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X *= np.sqrt(d) / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def show(title: str, cells: list[str]) -> None:
    print(f"{title:<44}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def gradient_steps() -> None:
    show("full-batch step (n, d, width)", ["ours", "products", "torch", "products/ours", "torch/ours"])
    for n, d, k in SIZES[:-1] if arguments.quick else SIZES:
        X, y = sphere(n, d)
        net = TwoLayer.initialise(k, d, scale=0.1, seed=0)
        ways = {"ours": our_step(net, X, y), "products": bare_products(n, d, k)}
        autograd = torch_step(net, X, y)
        if autograd is not None:
            ways["torch"] = autograd
        t = medians(ways, 4.0 * n * d * k)
        torch_cells = (
            [f"{1e6 * t['torch']:.0f} us", f"{t['torch'] / t['ours']:.2f}"] if "torch" in t else ["not here", "-"]
        )
        ours = t["ours"]
        cells = [f"{1e6 * ours:.0f} us", f"{1e6 * t['products']:.0f} us", torch_cells[0]]
        show(f"({n}, {d}, {k})", [*cells, f"{t['products'] / ours:.2f}", torch_cells[1]])


def lean_flow() -> None:
    n, d, k = 100, 100, 1000
    X, y = sphere(n, d)
    net = TwoLayer.initialise(k, d, scale=0.01, seed=0)
    products = bare_products(n, d, k)

    def fifty() -> None:
        for _ in range(50):
            products()

    def lean() -> None:
        angle_flow(net.W, net.b, net.v, X, y, steps=50, angle=0.01)

    plan = Descent(loss=Exponential(), schedule=AngleBounded(0.01), stop=[Steps(50)])
    data = Dataset(X=X, y=y)
    t = medians({"ours": lean, "loop": lambda: train(net, data, plan) and None, "products": fifty}, 4e9)
    show("50 angle-bounded steps", ["angle_flow", "train", "products", "products/flow", "products/train"])
    show(
        f"({n}, {d}, {k})",
        [f"{1e3 * t[name]:.1f} ms" for name in ("ours", "loop", "products")]
        + [f"{t['products'] / t['ours']:.2f}", f"{t['products'] / t['loop']:.2f}"],
    )


def in_span() -> None:
    n, d, k = (500, 10_000, 200) if arguments.quick else (500, 10_000, 1000)
    X, y = sphere(n, d)
    net = TwoLayer.initialise(k, d, scale=0.1, seed=0)
    ways = {"span": our_step(net, X, y, reduce=True), "ambient": our_step(net, X, y)}
    t = medians(ways, 4.0 * n * d * k)
    show("in the span of the data", ["span", "ambient", "ambient/span"])
    cells = [f"{1e3 * t['span']:.1f} ms", f"{1e3 * t['ambient']:.1f} ms", f"{t['ambient'] / t['span']:.1f}"]
    show(f"({n}, {d}, {k})", cells)


def planar() -> None:
    data = XorClusters(dimension=2, sigma=0.02**0.5).sample(5000, seed=0)
    net = recipes.FCB22().network(500, 2, seed=0)
    loss = Logistic("mean")
    ways: dict[str, Callable[[], None]] = {}
    for name, model in (
        ("planar", PlanarTwoLayer(net, data.X, data.y)),
        ("dense", DenseTwoLayer(net, data.X, data.y, reduce=False)),
    ):
        theta, descent = model.start(), model.vector()
        ways[name] = lambda model=model, theta=theta, descent=descent: model.evaluate(theta, loss, descent) and None  # type: ignore[misc]
    t = medians(ways, 4e7)
    show("frozen outputs in the plane", ["planar", "dense", "dense/planar"])
    cells = [f"{1e6 * t['planar']:.0f} us", f"{1e6 * t['dense']:.0f} us", f"{t['dense'] / t['planar']:.1f}"]
    show("(5000, 2, 500)", cells)


def recipe() -> None:
    data = Sphere(dimension=50).sample(50, seed=0)
    vys22 = recipes.VYS22()
    run = train(vys22.network(50, 50, seed=0), data, vys22)
    show("VYS22 at d = n = width = 50", ["steps", "seconds", "us a step"])
    show(run.status, [str(run.steps), f"{run.seconds:.1f}", f"{1e6 * run.seconds / run.steps:.0f}"])


def memory() -> None:
    n, d, k = 31_622, 1000, 1000
    X, y = sphere(n, d)
    data = Dataset(X=X, y=y)
    del X
    net = TwoLayer.initialise(k, d, seed=0)
    show("memory beyond the data (31622, 1000, 1000)", ["peak GB", "seconds"])
    for name, batch in (("full batch, 2 steps", None), ("batches of 5000, 7 steps", 5000)):
        steps = 2 if batch is None else 7
        plan = Descent(loss=Exponential(), schedule=Constant(RATE), stop=[Steps(steps)], batch=batch)
        tracemalloc.start()
        run = train(net, data, plan)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        show(name, [f"{peak / 1e9:.2f}", f"{run.seconds:.1f}"])


def main() -> None:
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}, {arguments.threads} threads")
    for part in (gradient_steps, lean_flow, in_span, planar, recipe, *(() if arguments.quick else (memory,))):
        part()
        print()


if __name__ == "__main__":
    main()
