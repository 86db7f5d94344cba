"""How long a certificate takes, and how a general interior-point method fares on the same convex problem.

    python benchmarks/certify.py [--large]

Three kinds of networks: KKT points of sphere data (a quarter of all pairs on kinks), the same widened to 1000 neurons,
and random networks far from any KKT point. With --large also 1000 samples in dimension 1000, whose KKT point takes the
limit solver most of a minute to find. Times are processor time; with OPENBLAS_NUM_THREADS=1 that is what one idle core
would take, however busy the machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import clarabel
import numpy as np
import scipy.sparse

from marginflow.certificates import certify, certify_exact, minimality, prove_kkt_point
from marginflow.certificates.kkt import stationarity_problem
from marginflow.certificates.multipliers.best import best_multipliers
from marginflow.certificates.multipliers.least_squares import StationarityProblem
from marginflow.certificates.pattern import KINK_TOLERANCE, recognise
from marginflow.data import Dataset, Sphere
from marginflow.limit import kkt_point
from marginflow.networks import TwoLayer


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """Processor time of one call, and what it returned."""
    start = time.process_time()
    value = call()
    return time.process_time() - start, value


def by_interior_points(problem: StationarityProblem) -> float:
    """The least residual by Clarabel, from the full matrix of lambda and mu; relative."""
    n, k = problem.active.shape
    rows, columns = np.nonzero(problem.kink)
    width = problem.T.shape[1]
    b = np.concatenate([problem.U.ravel(), problem.target, [-problem.omega0]])
    A = np.zeros((b.size, n + rows.size))
    signed = problem.y[:, None] * problem.T
    for j in range(k):
        A[j * width : (j + 1) * width, :n] = (problem.v[j] * problem.active[:, j][:, None] * signed).T
        for index in np.flatnonzero(columns == j):
            A[j * width : (j + 1) * width, n + index] = problem.v[j] * signed[rows[index]]
    A[k * width : k * width + problem.target.size, :n] = (problem.y[:, None] * problem.rho).T
    A[-1, :n] = problem.omega
    order = scipy.sparse.lil_matrix((rows.size, A.shape[1]))
    order[np.arange(rows.size), n + np.arange(rows.size)] = 1.0
    order[np.arange(rows.size), rows] = -1.0
    bounds = scipy.sparse.vstack([-scipy.sparse.eye(A.shape[1]), order]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(bounds.shape[0])]
    quadratic = scipy.sparse.csc_matrix(np.triu(A.T @ A))
    solver = clarabel.DefaultSolver(quadratic, -A.T @ b, bounds, np.zeros(bounds.shape[0]), cones, settings)
    x = np.array(solver.solve().x)
    return float(np.linalg.norm(b - A @ x)) / problem.norm()


def problem_of(network: TwoLayer, data: Dataset) -> StationarityProblem:
    """The convex problem behind the certificate of a network."""
    at_one = network.at_margin_one(data.X, data.y)
    pattern, Z = recognise(at_one, data.X, KINK_TOLERANCE)
    return stationarity_problem(at_one, data, pattern, Z, cap=np.inf, weight=1.0)


def kkt_points(sizes: list[tuple[int, int, int]]) -> None:
    """Certificates of KKT points, from nothing and from a candidate."""
    print("KKT points of sphere data")
    print("    n     d width   kinks  residual  certify candidate minimality")
    for n, d, width in sizes:
        data = Sphere(dimension=d).sample(n, seed=0)
        network = kkt_point(data, width=width, seed=0).network
        first, certificate = seconds(lambda network=network, data=data: certify(network, data))
        known = (certificate.multipliers, certificate.mu)
        second, _ = seconds(lambda network=network, data=data, known=known: certify(network, data, multipliers=known))
        third, _ = seconds(lambda network=network, data=data, c=certificate: minimality(network, data, certificate=c))
        print(
            f"{n:5d} {d:5d} {width:5d} {certificate.kink_report.count:7d} {certificate.total:9.1e} "
            f"{first:7.2f}s {second:8.2f}s {third:9.2f}s"
        )


def against_clarabel(sizes: list[tuple[int, int, int]]) -> None:
    """The same least-squares problem by the pivoting method and by interior points."""
    print("\nThe convex problem alone, against Clarabel (merged neurons)")
    print("    n     d unknowns     ours  residual  Clarabel  residual  ratio")
    for n, d, width in sizes:
        data = Sphere(dimension=d).sample(n, seed=0)
        problem = problem_of(kkt_point(data, width=width, seed=0).network.compact(tolerance=1e-9), data)
        ours, found = seconds(lambda problem=problem: best_multipliers(problem))
        theirs, reached = seconds(lambda problem=problem: by_interior_points(problem))
        unknowns = n + int(problem.kink.sum())
        print(
            f"{n:5d} {d:5d} {unknowns:8d} {ours:7.3f}s {found.size / problem.norm():9.1e} "
            f"{theirs:8.2f}s {reached:9.1e} {theirs / ours:5.0f}x"
        )


def far_from_kkt(sizes: list[tuple[int, int, int]]) -> None:
    """Random networks with their own labels."""
    print("\nRandom networks (no kinks; every sample may carry a multiplier)")
    print(f"{'n':>5} {'d':>5} {'width':>5} {'total':>8} {'gap':>8} {'certify':>8}")
    for n, d, width in sizes:
        network = TwoLayer.initialise(width, d, seed=0)
        X = np.random.default_rng(0).normal(size=(n, d))
        data = Dataset(X=X, y=np.where(network(X) > 0, 1.0, -1.0))
        time_taken, certificate = seconds(lambda network=network, data=data: certify(network, data))
        gap = certificate.total - certificate.total_lower_bound
        print(f"{n:5d} {d:5d} {width:5d} {certificate.total:8.4f} {gap:8.1e} {time_taken:7.2f}s")


def proofs(sizes: list[tuple[int, int, int]]) -> None:
    """Ball arithmetic and Krawczyk's test."""
    print("\nProofs")
    print(f"{'n':>5} {'d':>5} {'exact':>7} {'stationarity':>12} {'existence':>9} {'unknowns':>8} {'distance':>9}")
    for n, d, width in sizes:
        data = Sphere(dimension=d).sample(n, seed=0)
        network = kkt_point(data, width=width, seed=0).network.compact(tolerance=1e-9)
        certificate = certify(network, data)
        first, exact = seconds(lambda c=certificate, data=data: certify_exact(c, data))
        second, proof = seconds(lambda network=network, data=data: prove_kkt_point(network, data))
        print(
            f"{n:5d} {d:5d} {first:6.2f}s {exact.stationarity[1]:12.1e} {second:8.2f}s {proof.unknowns:8d} "
            f"{proof.distance if proof.proved else float('nan'):9.1e}"
        )


if __name__ == "__main__":
    large = "--large" in sys.argv
    kkt_points([(100, 100, 100), (100, 100, 1000), (300, 300, 1000), *([(1000, 1000, 1000)] if large else [])])
    against_clarabel([(20, 20, 50), (60, 60, 50), (100, 100, 100), (150, 150, 100)])
    far_from_kkt([(100, 100, 1000), (1000, 100, 1000), (1000, 1000, 1000)])
    proofs([(20, 20, 50), (40, 40, 50), (100, 100, 100)])
