"""The pieces of the search, one by one: each must be sound, and as strong as it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from marginflow.networks import TwoLayer
from marginflow.robustness.least_distance import active_set
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.cuts import Cuts, project
from marginflow.robustness.radius.minorant import Quadratic, distance, minorant
from marginflow.robustness.radius.parabola import best_curvature, derivatives, omega_and_slope
from marginflow.robustness.radius.quadratic import bound_by_parabolas, start_at
from marginflow.robustness.radius.reduction import RadiusProblem, reduce_network
from marginflow.robustness.radius.search import chords
from marginflow.robustness.radius.tightening import ball, tightened, useful_taus
from marginflow.robustness.radius.witness import Witness, _first_crossing

seeds = st.integers(0, 2**32 - 1)


def problem_of(seed: int) -> RadiusProblem:
    rng = np.random.default_rng(seed)
    width, dimension = int(rng.integers(2, 30)), int(rng.integers(1, 8))
    while True:
        network = TwoLayer(
            W=rng.standard_normal((width, dimension)), b=rng.standard_normal(width), v=rng.standard_normal(width)
        )
        x = rng.standard_normal(dimension)
        value = float(network(x[None, :])[0])
        if value != 0:
            return reduce_network(network).at(x, np.sign(value), 0.0)


# Reduction -----------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=seeds)
def test_reduction_does_not_change_the_function(seed: int):
    rng = np.random.default_rng(seed)
    width, dimension = int(rng.integers(1, 12)), int(rng.integers(1, 15))
    W, b, v = rng.standard_normal((width, dimension)), rng.standard_normal(width), rng.standard_normal(width)
    W[rng.random(width) < 0.2] = 0.0
    W, b = np.vstack([W, 3.0 * W[:2], W[:1]]), np.concatenate([b, 3.0 * b[:2], b[:1]])
    v = np.concatenate([v, rng.standard_normal(min(2, width)), -v[:1]])
    network = TwoLayer(W=W, b=b, v=v)
    reduction = reduce_network(network)
    x, label, level = rng.standard_normal(dimension), float(rng.choice([-1, 1])), float(rng.standard_normal())
    problem = reduction.at(x, label, level)
    assert problem.rank <= min(dimension, width)
    assert np.allclose(np.linalg.norm(problem.W, axis=1), 1.0)
    for _ in range(5):
        delta = rng.standard_normal(problem.rank)
        lifted = reduction.geometry.lift(delta)
        assert np.linalg.norm(lifted) == pytest.approx(np.linalg.norm(delta))
        value = problem.value(delta) * 2.0**reduction.outputs
        assert value == pytest.approx(label * network((x + lifted)[None, :])[0] - level, abs=1e-10)


def test_parallel_neurons_merge_and_opposite_ones_cancel():
    network = TwoLayer(W=[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [-1.0, 0.0]], v=[1.0, 1.0, 3.0, -1.0, 1.0])
    reduction = reduce_network(network)
    assert reduction.geometry.groups.tolist() == [0, 0, 1, 1, 2]
    assert (reduction.weights * 2.0**reduction.outputs).tolist() == [3.0, 0.0, 1.0]


# Least distance ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(seed=seeds)
def test_active_set_agrees_with_non_negative_least_squares(seed: int):
    rng = np.random.default_rng(seed)
    q, r = int(rng.integers(1, 12)), int(rng.integers(2, 8))
    G = rng.standard_normal((q, r))
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    inside = rng.standard_normal(r)
    h = G @ inside - rng.random(q)  # feasible
    mu = active_set(G @ G.T, h, np.zeros(q))
    delta = mu @ G
    assert (mu >= 0).all()
    assert (G @ delta >= h - 1e-9).all()
    u, _ = nnls(np.vstack([G.T, h]), np.append(np.zeros(r), 1.0))
    gap = 1.0 - h @ u
    assert np.allclose(delta, (u @ G) / gap, atol=1e-7)


def test_empty_polyhedron_shows_as_a_very_large_bound():
    G = np.array([[1.0, 0.0], [-1.0, 0.0]])
    h = np.array([1.0, 1.0])  # x >= 1 and x <= -1
    mu = active_set(G @ G.T, h, np.zeros(2))
    assert h @ mu > 1e9 * np.linalg.norm(mu @ G)


# Parabolas -----------------------------------------------------------------------------------------------------------

intervals = st.tuples(st.floats(0.01, 10.0), st.floats(0.01, 10.0))


@settings(max_examples=100)
@given(ends=intervals, curvature=st.floats(0.0, 30.0))
def test_parabola_lies_above_relu_and_touches_it(ends: tuple[float, float], curvature: float):
    low, high = np.array([-ends[0]]), np.array([ends[1]])
    z = np.linspace(low[0], high[0], 2001)
    unit = np.ones(z.size)
    height = -omega_and_slope(1.0, unit, curvature * unit, low[0] * unit, high[0] * unit, z)[0]
    gap = height - np.maximum(z, 0.0)
    assert gap.min() >= -1e-9
    assert gap.min() <= 1e-3 * (ends[0] + ends[1])
    # It is a parabola of that curvature.
    assert np.allclose(np.diff(height, 2), 2.0 * curvature * (z[1] - z[0]) ** 2, atol=1e-8)


def test_derivatives_of_omega_are_those_of_differences():
    rng = np.random.default_rng(0)
    n, s, step = 400, 1.3, 1e-6
    low, high = -rng.uniform(0.05, 1, n), rng.uniform(0.05, 1, n)
    c, A, z = rng.uniform(0.1, 2, n), rng.uniform(0, 8, n) ** 2 / 8, rng.uniform(low, high)
    c[:40], A[:40] = 0.0, -A[:40]

    def omega(s: float, A: np.ndarray, z: np.ndarray) -> dict[str, np.ndarray]:
        value, slope = omega_and_slope(s, c, A, low, high, z)
        return {"value": value, "z": slope, **derivatives(s, c, A, low, high, z)._asdict()}

    o = omega(s, A, z)

    def difference(name: str, ds: float = 0.0, dA: float = 0.0, dz: float = 0.0) -> np.ndarray:
        after, before = (omega(s + t * ds, A + t * dA, z + t * dz) for t in (step, -step))
        return (after[name] - before[name]) / (2 * step)

    for name, numeric in (
        ("z", difference("value", dz=1.0)),
        ("A", difference("value", dA=1.0)),
        ("s", difference("value", ds=1.0)),
        ("AA", difference("A", dA=1.0)),
        ("ss", difference("s", ds=1.0)),
        ("As", difference("A", ds=1.0)),
        ("Az", difference("z", dA=1.0)),
        ("zs", difference("z", ds=1.0)),
    ):
        error = np.abs(numeric - o[name]) / (1 + np.abs(numeric))
        assert np.quantile(error, 0.98) < 1e-6, name  # a few lie on a joint of two pieces


@settings(max_examples=60)
@given(ends=intervals, share=st.floats(0.02, 0.98), spread=st.floats(0.01, 0.95))
def test_best_curvature_is_best(ends: tuple[float, float], share: float, spread: float):
    low, high = np.array([-ends[0]]), np.array([ends[1]])
    z = low + share * (high - low)
    Z = z**2 + spread * (z - low) * (high - z)
    unit = np.ones(1)

    def height(kappa: np.ndarray) -> float:
        value, _ = omega_and_slope(1.0, unit, kappa, low, high, z)
        return float(-value[0] + kappa[0] * (Z - z**2)[0])

    best = best_curvature(z, Z, low, high)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert height(best) <= height(factor * best) + 1e-9


# Minorants and regions -----------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(seed=seeds)
def test_any_numbers_give_a_minorant(seed: int):
    rng = np.random.default_rng(seed)
    problem = problem_of(seed)
    radius = float(rng.uniform(0.1, 3.0))
    box = ball(problem, radius)
    k = problem.width
    step = ProofStep(
        scale=float(rng.exponential()),
        slopes=rng.standard_normal(k),
        curvatures=rng.standard_normal(k) if rng.random() < 0.7 else None,
    )
    psi = minorant(problem, step, box)
    for _ in range(20):
        delta = rng.standard_normal(problem.rank)
        delta *= radius * rng.random() / np.linalg.norm(delta)
        quadratic = psi.constant + psi.gradient @ delta + psi.eigenvalues @ (delta @ psi.axes) ** 2
        assert quadratic <= step.scale * problem.value(delta) + 1e-9


@settings(max_examples=60)
@given(seed=seeds)
def test_tightened_intervals_keep_every_point_of_the_region(seed: int):
    rng = np.random.default_rng(seed)
    problem = problem_of(seed)
    radius = float(rng.uniform(0.5, 4.0))
    box = ball(problem, radius)
    k = problem.width
    curved = rng.random() < 0.5
    step = ProofStep(
        scale=1.0,
        slopes=problem.c * rng.random(k),
        curvatures=0.05 * problem.c * rng.random(k) if curved else None,
    )
    psi = minorant(problem, step, box)
    lower = distance(psi)
    smaller = tightened(problem, box, psi, radius, useful_taus(psi, radius))
    for _ in range(60):
        delta = rng.standard_normal(problem.rank)
        delta *= radius * np.sqrt(rng.random()) / np.linalg.norm(delta)
        if psi.constant + psi.gradient @ delta + psi.eigenvalues @ (delta @ psi.axes) ** 2 <= 0:
            z = problem.a + problem.W @ delta
            assert np.linalg.norm(delta) >= lower - 1e-9
            assert (z >= smaller.low - 1e-9).all()
            assert (z <= smaller.high + 1e-9).all()


def test_curvature_that_is_singular_up_to_rounding_proves_nothing():
    # 1 - relu(z) >= 3/4 - z^2, so |z| >= sqrt(3)/2; with H = 0 up to rounding the checker could not follow.
    problem = RadiusProblem(W=np.array([[1.0, 0.0]]), a=np.zeros(1), c=-np.ones(1), constant=1.0, noise=1e-14)

    def proved(gap: float) -> float:
        step = ProofStep(scale=1.0, slopes=np.zeros(1), curvatures=np.array([gap - 1.0]))
        return distance(minorant(problem, step, ball(problem, 2.0)))

    assert proved(1e-9) == pytest.approx(np.sqrt(0.75), rel=1e-8)
    assert proved(1e-9) < np.sqrt(0.75)
    assert proved(1e-15) == 0.0


def test_balls_of_a_linear_minorant_are_nearly_as_good_as_its_cap():
    # The cap {||delta|| <= 2, delta_1 >= 1}. With angle phi to the axis the largest w . delta is 2 while the end of w
    # lies in the cap, and cos(phi) + sqrt(3) |sin(phi)| otherwise, on the rim.
    phi = np.linspace(0.0, 2.0 * np.pi, 721)
    W = np.column_stack([np.cos(phi), np.sin(phi)])
    problem = RadiusProblem(W=W, a=np.zeros(phi.size), c=np.ones(phi.size), constant=1.0)
    psi = Quadratic(constant=3.0, gradient=np.array([-3.0, 0.0]), eigenvalues=np.zeros(0), axes=np.zeros((2, 0)))
    most = np.where(np.cos(phi) >= 0.5, 2.0, np.cos(phi) + np.sqrt(3.0) * np.abs(np.sin(phi)))
    for taus, loose in ((useful_taus(psi, 2.0), 0.05), (tuple(np.geomspace(1e-4, 1e4, 20000)), 1e-3)):
        box = tightened(problem, ball(problem, 2.0), psi, 2.0, taus)
        assert (box.high >= most - 1e-12).all()
        assert (box.high <= most + loose).all()
        assert np.allclose(box.low, -box.high[(np.arange(721) + 360) % 720], atol=1e-9)
    across = tightened(problem, ball(problem, 2.0), psi, 2.0, useful_taus(psi, 2.0)).high[[180, 540]]
    assert np.allclose(across, np.sqrt(3.0), rtol=1e-14)  # exact where most neurons are, across the axis


def test_linear_minorant_excludes_exactly_what_its_half_space_does():
    problem = RadiusProblem(W=np.eye(2), a=np.zeros(2), c=np.ones(2), constant=1.0)
    for t in (1e-6, 1.0, 1e9):
        for size in (1e-5, 1.0, 1e5):
            psi = Quadratic(
                constant=t * size, gradient=np.array([size, 0.0]), eigenvalues=np.zeros(0), axes=np.zeros((2, 0))
            )
            assert distance(psi) == pytest.approx(t, rel=1e-15)
            for radius in (0.5 * t, 0.999999 * t, 1.000001 * t, 3.0 * t):
                box = tightened(problem, ball(problem, radius), psi, radius, useful_taus(psi, radius))
                assert box.empty == (radius < t)


@settings(max_examples=40)
@given(seed=seeds)
def test_first_crossing_is_the_first(seed: int):
    rng = np.random.default_rng(seed)
    problem = problem_of(seed)
    direction = rng.standard_normal(problem.rank)
    direction /= np.linalg.norm(direction)
    t = _first_crossing(problem.a, problem.W @ direction, problem.c, problem.constant, 50.0)
    before = np.linspace(0.0, min(t, 50.0), 400)[:-1]
    assert all(problem.value(s * direction) > -1e-9 for s in before)
    if np.isfinite(t):
        assert problem.value(t * direction) == pytest.approx(0.0, abs=1e-8)


@settings(max_examples=60)
@given(seed=seeds)
def test_first_crossing_of_one_neuron_is_where_its_flat_region_begins(seed: int):
    # c relu(a + w . delta), zero on a half space: along any direction the crossing is the edge of the half space.
    rng = np.random.default_rng(seed)
    unit = rng.standard_normal(5)
    unit /= np.linalg.norm(unit)
    a = float(rng.exponential()) + 1e-3
    problem = RadiusProblem(
        W=unit[None, :], a=np.array([a]), c=np.array([float(rng.exponential()) + 1e-3]), constant=0.0
    )
    direction = rng.standard_normal(5)
    direction /= np.linalg.norm(direction)
    speed = problem.W @ direction
    rounding = 1e-15 * problem.value(np.zeros(5))  # as the witness search does: zero up to rounding counts
    t = _first_crossing(problem.a, speed, problem.c, -rounding, 1e9)
    assert t == (pytest.approx(-a / speed[0], rel=1e-12) if speed[0] < 0 else np.inf)
    witness = Witness(problem)
    witness.explore(Cuts.none(problem))
    assert witness.upper == pytest.approx(a, rel=1e-12)


@settings(max_examples=60)
@given(seed=seeds)
def test_first_crossing_of_networks_with_flat_regions_is_the_first(seed: int):
    # Supporting neurons only: zero exactly on the intersection of half spaces, which a ray may or may not enter.
    rng = np.random.default_rng(seed)
    width, d = int(rng.integers(1, 4)), 5
    W = rng.standard_normal((width, d))
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    problem = RadiusProblem(W=W, a=rng.exponential(size=width), c=rng.exponential(size=width) + 0.1, constant=0.0)
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    speed = W @ direction
    with np.errstate(divide="ignore"):
        edges = np.where(speed < 0, -problem.a / speed, np.inf)  # beyond its edge a neuron is 0 along the ray
    t = _first_crossing(problem.a, speed, problem.c, -1e-15 * problem.value(np.zeros(d)), 1e9)
    assert t == (pytest.approx(edges.max(), rel=1e-9) if np.isfinite(edges).all() else np.inf)


# The strong relaxation -----------------------------------------------------------------------------------------------


def test_parabolas_prove_most_of_the_radius_where_chords_prove_nothing():
    network = TwoLayer.initialise(width=200, dimension=6, seed=21)
    x = 2.0 * np.random.default_rng(21).standard_normal(6)
    label = float(np.sign(network(x[None, :])[0]))
    problem = reduce_network(network).at(x, label, 0.0)
    witness = Witness(problem)
    witness.explore(Cuts.none(problem))
    box = ball(problem, witness.upper)
    signs = np.zeros(problem.width, dtype=np.int64)
    p, q = chords(problem, box)
    linear = project(problem, p, q, signs=signs, cuts=Cuts.none(problem), target=np.inf)
    start = start_at(problem, box, witness.delta, witness.upper)
    parabolas = bound_by_parabolas(problem, box, signs, start, radius=witness.upper, deadline=np.inf)
    proved = distance(minorant(problem, parabolas.step, box))
    # What the solver believes is what its numbers prove.
    assert proved == pytest.approx(parabolas.lower, rel=1e-9)
    assert proved <= witness.upper * (1 + 1e-9)
    assert proved >= 0.9 * witness.upper
    assert distance(minorant(problem, linear.step, box)) <= 0.6 * proved
