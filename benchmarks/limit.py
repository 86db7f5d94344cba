"""How fast `kkt_point` is, side by side in one run: `python benchmarks/limit.py [PART ...]`.

speed     the published recipe of VYS22 in torch, steps timed in single and double precision and multiplied by the
          number it needs, against the whole of kkt_point; both certified.
growth    how time grows with m, d and width, and where it is spent.
conic     the last convex problem (C), by Clarabel and by ours.
fidelity  which KKT point: cosines between polishes after flows of different length and step.
reach     every row of the table of what kkt_point must reach.
zoo       random data sets of twenty kinds: share of exact points and time (`--sets`, `--seed`, `--only KIND`,
          `--keep FILE` to go on where it was interrupted).

Without a word: speed, growth, conic, fidelity. Absolute times depend on the machine; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from limit_stages import Stages
from limit_zoo import zoo

import marginflow as mf
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.solver.polish import polish

RECIPE_STEPS = 72_700  # measured 71,000 to 73,500 whatever the size [VYS22, X.iters]


def sphere(d: int, m: int, seed: int = 0) -> mf.data.Dataset:
    return mf.data.Sphere(dimension=d).sample(m, seed=seed)


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def torch_step(d: int, m: int, width: int, precision: str) -> Callable[[], object]:
    """One step of the recipe: exponential loss, plain gradient descent, autograd."""
    import torch

    data, real = sphere(d, m), getattr(torch, precision)
    X, y = torch.tensor(np.array(data.X), dtype=real), torch.tensor(np.array(data.y), dtype=real)
    hidden = torch.nn.Linear(d, width, dtype=real)
    out = torch.nn.Linear(width, 1, bias=False, dtype=real)
    parameters = [*hidden.parameters(), *out.parameters()]
    optimiser = torch.optim.SGD(parameters, lr=1e-5)

    def step() -> None:
        optimiser.zero_grad()
        loss = torch.exp(-y * out(torch.relu(hidden(X)))[:, 0]).sum()
        loss.backward()
        optimiser.step()
        float(loss.detach())  # the stop rule reads it

    return step


def recipe_residual(d: int, m: int, width: int) -> float:
    """Certified residual where the recipe ends; the growth of the rate is made 20 times faster (same end, VYS22.md)."""
    data = sphere(d, m)
    recipe = mf.flow.recipes.VYS22(every=5)
    start = mf.networks.TwoLayer.initialise(width, d, seed=0)
    return float(mf.certify(mf.train(start, data, recipe).network, data).stationarity)


def step_seconds(size: tuple[int, int, int], precision: str) -> float:
    step = torch_step(*size, precision)
    for _ in range(5):
        step()
    return median_seconds(step, 15 if max(size[:2]) > 500 else 200)


def speed() -> None:
    print("\nthe published recipe against kkt_point (sphere, random labels)")
    print(f"{'(d, m, width)':>20} {'recipe':>20} {'ours':>8} {'ratios':>14} {'goal':>5} residuals")
    for size, goal in (((100, 100, 1000), 250), ((300, 300, 1000), 250), ((1000, 1000, 1000), 200)):
        recipe = [RECIPE_STEPS * step_seconds(size, precision) for precision in ("float32", "float64")]
        limits = [mf.kkt_point(sphere(*size[:2]), width=size[2]) for _ in range(1 if size[0] > 500 else 5)]
        ours = statistics.median(limit.seconds for limit in limits)
        theirs = recipe_residual(*size)
        print(
            f"{size!s:>20} {recipe[0]:8.0f} and {recipe[1]:5.0f} s {ours:6.2f} s {recipe[0] / ours:5.0f} and "
            f"{recipe[1] / ours:4.0f} {goal:5d} {theirs:.2g} and {limits[0].certificate.stationarity:.0e}",
            flush=True,
        )
    limit = mf.kkt_point(sphere(100, 1000), width=1000)
    print(f"   (100, 1000, 1000) certified in {limit.seconds:.1f} s (goal 30 s): {limit.status}")


def growth() -> None:
    print("\nhow time grows, where it is spent, and what its matrix products alone take at full speed, in seconds")
    print(
        f"{'(d, m, width)':>20} {'flow':>6} {'ADMM':>6} {'Newton':>6} {'cert.':>6} {'all':>6} {'products':>9} neurons"
    )
    sizes = [(100, 100, w) for w in (100, 300, 1000, 3000)] + [(d, d, 1000) for d in (50, 200, 400, 800)]
    for size in [*sizes, *((100, m, 1000) for m in (200, 400, 800))]:
        stages = Stages()
        with stages.watched():
            limit = mf.kkt_point(sphere(*size[:2]), width=size[2])
        spent = " ".join(f"{stages.seconds[name]:6.2f}" for name in ("flow", "ADMM", "Newton", "certificate"))
        exact = "" if limit.exact else limit.status
        print(f"{size!s:>20} {spent} {limit.seconds:6.2f} {stages.products():9.2f} {limit.compact.width:7d} {exact}")


def by_clarabel(problem: Problem, U: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """Seconds and optimum of (C) with the pattern of the rows U: variables u, norms t, one z per opposite pair."""
    import clarabel
    from scipy import sparse

    X, y = problem.X, problem.y
    k, r = U.shape
    same = y[:, None] * s > 0
    A = (X @ U.T > 0) & same
    opposite = np.argwhere(~same)
    n_u, n_z, m = k * r, len(opposite), len(y)
    cost = np.concatenate([np.zeros(n_u), np.ones(k), np.zeros(n_z)])
    i, j = np.nonzero(A)
    entry = np.arange(r)
    margins = sparse.csc_matrix((-X[i].ravel(), (np.repeat(i, r), (j[:, None] * r + entry).ravel())), shape=(m, n_u))
    pays = sparse.csc_matrix((np.ones(n_z), (opposite[:, 0], np.arange(n_z))), shape=(m, n_z))
    hinges = sparse.csc_matrix(
        (X[opposite[:, 0]].ravel(), (np.repeat(np.arange(n_z), r), (opposite[:, 1, None] * r + entry).ravel())),
        shape=(n_z, n_u),
    )
    rows = np.arange(k)[:, None] * (r + 1)
    cone_rows = np.concatenate([rows[:, 0], (rows + 1 + entry).ravel()])
    cone_columns = np.concatenate([n_u + np.arange(k), np.arange(n_u)])
    norms = sparse.csc_matrix((-np.ones(len(cone_rows)), (cone_rows, cone_columns)), shape=(k * (r + 1), n_u + k + n_z))
    G = sparse.vstack(
        [
            sparse.hstack([margins, sparse.csc_matrix((m, k)), pays]),
            sparse.hstack([hinges, sparse.csc_matrix((n_z, k)), -sparse.eye(n_z)]),
            sparse.hstack([sparse.csc_matrix((n_z, n_u + k)), -sparse.eye(n_z)]),
            norms,
        ]
    ).tocsc()
    b = np.concatenate([-np.ones(m), np.zeros(2 * n_z + k * (r + 1))])
    cones = [clarabel.NonnegativeConeT(m + 2 * n_z), *(clarabel.SecondOrderConeT(r + 1) for _ in range(k))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    began = time.perf_counter()
    solution = clarabel.DefaultSolver(sparse.csc_matrix((n_u + k + n_z,) * 2), cost, G, b, cones, settings).solve()
    return time.perf_counter() - began, float(solution.obj_val)


def conic() -> None:
    print("\nproblem (C): Clarabel on the first one, ours on all of them up to the last; and both on the last")
    for d, m, width in ((20, 20, 50), (100, 100, 200)):
        data = sphere(d, m)
        start = mf.networks.TwoLayer.initialise(width, d, scale=0.01, seed=0)
        end = mf.flow.angle_flow(start.W, start.b, start.v, data.X, data.y, steps=150, angle=0.05)
        flowed = mf.networks.TwoLayer(W=end.W, b=end.b, v=end.v)
        problem = Problem.of(data.X, data.y, bias=True)
        neurons = Neurons(problem.reduced(flowed.directions) / float(end.margins.min()), flowed.signs)
        bundles = add_up(neurons, gather(neurons.U, neurons.s, 96))
        first_seconds, first = by_clarabel(problem, bundles.U, bundles.s)
        began = time.perf_counter()
        found = polish(problem, bundles)
        ours = time.perf_counter() - began
        last_seconds, last = by_clarabel(problem, found.U, found.s)
        objective = float(np.linalg.norm(found.U, axis=1).sum())
        print(
            f"  ({d}, {m}, {width}): first problem, {len(bundles.s)} neurons: Clarabel {first_seconds:.2f} s to "
            f"{first:.7f}; ours {ours:.3f} s to {objective:.9f} (ratio {first_seconds / ours:.0f}); last problem, "
            f"{len(found.s)} neurons: Clarabel {last_seconds:.2f} s, {last:.9f} "
            f"(differs by {abs(last / objective - 1):.0e})"
        )


def fidelity() -> None:
    print("\nwhich KKT point? cosines of outputs on 2000 fresh points (d = m = 100, width 200)")
    data = sphere(100, 100)
    fresh = mf.data.Sphere(dimension=100).sample(2000, seed=77).X
    rows = []
    for steps, angle in ((20_000, 0.002), (5000, 0.004), (2000, 0.01), (500, 0.02), (200, 0.05)):
        start = mf.networks.TwoLayer.initialise(200, 100, scale=0.01, seed=0)
        end = mf.flow.angle_flow(start.W, start.b, start.v, data.X, data.y, steps=steps, angle=angle)
        flowed = mf.networks.TwoLayer(W=end.W, b=end.b, v=end.v)
        limit = mf.kkt_point(data, start=flowed, flow_steps=0)
        rows.append((steps, angle, flowed(fresh), limit.network(fresh), limit.network.norm_squared()))

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    for steps, angle, flow, limit_values, norm in rows:
        print(
            f"  {steps:6d} steps of {angle:.3f}: polish to longest polish {cosine(limit_values, rows[0][3]):.4f}, "
            f"to its own "
            f"flow {cosine(limit_values, flow):.4f}, to the longest flow {cosine(limit_values, rows[0][2]):.4f}, "
            f"flow to the longest flow {cosine(flow, rows[0][2]):.4f}, ||theta||^2 {norm:.4f}"
        )


def images(n: int, seed: int = 0) -> mf.data.Dataset:
    """Digits, three times enlarged, moved by up to four pixels, with noise 0.1; odd against even."""
    from sklearn.datasets import load_digits

    rng, digits = np.random.default_rng(seed), load_digits()
    chosen = rng.integers(0, len(digits.target), n)
    pages = np.zeros((n, 28, 28))
    for page, image, i, j in zip(pages, digits.images[chosen], *rng.integers(0, 5, (2, n)), strict=True):
        page[i : i + 24, j : j + 24] = np.kron(image / 16.0, np.ones((3, 3)))
    X = pages.reshape(n, -1) + 0.1 * rng.standard_normal((n, 784))
    return mf.data.Dataset(X=X, y=np.where(digits.target[chosen] % 2, 1.0, -1.0))


def mixture(n: int, seed: int = 0) -> mf.data.Dataset:
    """Ten Gaussians in fifty dimensions, five of each label."""
    rng = np.random.default_rng(seed)
    means, own = rng.standard_normal((10, 50)), rng.integers(0, 10, n)
    return mf.data.Dataset(X=means[own] + 0.5 * rng.standard_normal((n, 50)), y=np.where(own % 2, 1.0, -1.0))


def reach() -> None:
    data = mf.data
    cases: list[tuple[str, mf.data.Dataset, int, dict[str, object]]] = [
        (f"sphere {(d, m, w)}", sphere(d, m), w, {})
        for d, m, w in ((100, 10, 1000), (100, 100, 200), (100, 100, 1000), (300, 300, 1000), (1000, 1000, 1000))
    ]
    for d, k, sigma, n in ((549, 2, 549**-0.5, 80), (957, 10, 0.01, 472), (3382, 10, 3382**-0.5, 661)):
        cases.append((f"clusters {(d, k, n)}", data.Clusters(dimension=d, n_clusters=k, sigma=sigma).sample(n), 60, {}))
    for outputs in ("trained", "frozen"):
        xor = data.XorClusters(dimension=20).sample(60)
        cases.append((f"XOR, outputs {outputs}", xor, 100, {"bias": False, "outputs": outputs}))
    for d in (20, 100, 1000):
        for p in (0.1, 0.3):
            cases.append((f"noisy sphere d={d} p={p}", data.NoisySphere(dimension=d, p=p).sample(100), 1000, {}))
    for m in (50, 100, 200):
        for p in (0.1, 0.2, 0.3):
            cases.append((f"interval m={m} p={p}", data.Interval(p=p).sample(m), 200, {}))
    cases.append(("digits 3 v 8", data.digits(3, 8, standardise=True), 100, {}))
    cases.append(("digits 0 v 1", data.digits(0, 1, standardise=True), 100, {}))
    cases.append(("breast cancer", data.breast_cancer(standardise=True), 100, {}))
    for d, m in ((100, 251), (100, 1000), (300, 1200), (300, 2400), (1000, 3981)):
        cases.append((f"sphere {(d, m, 1000)}", sphere(d, m), 1000, {}))
    for d, m in ((100, 2000), (300, 5196)):
        cases.append((f"sphere {(d, m, 1000)}", sphere(d, m), 1000, {"time_limit": 600.0}))
    cases.append(("mixture 50 x 30,000", mixture(30_000), 100, {}))
    cases.extend((f"images 784 x {n:,}", images(n), 500, {}) for n in (5000, 30_000))
    print(f"\n{'problem':>28} {'seconds':>8} {'station.':>9} {'1-margin':>9} {'compl.':>9} {'gap':>9} neurons  1e-9?")
    for name, sample, width, options in cases:
        limit = mf.kkt_point(sample, width=width, **options)  # type: ignore[arg-type]
        c = limit.certificate
        numbers = (c.stationarity, max(0.0, 1.0 - float(c.margins.min())), c.complementarity, limit.gap)
        reached = numbers[1] <= 1e-10 and all(number <= 1e-9 for number in numbers)
        print(
            f"{name:>28} {limit.seconds:8.2f} "
            + " ".join(f"{number:9.1e}" for number in numbers)
            + f" {limit.compact.width:7d}  {'yes' if reached else 'NO: ' + limit.status}",
            flush=True,
        )


PARTS = {"speed": speed, "growth": growth, "conic": conic, "fidelity": fidelity, "reach": reach, "zoo": zoo}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    for name in arguments.parts or ["speed", "growth", "conic", "fidelity"]:
        if name == "zoo":
            zoo(arguments.sets, arguments.seed, only=arguments.only, keep=arguments.keep)
        else:
            PARTS[name]()
