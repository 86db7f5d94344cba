"""Exact KKT points with K classes, judged by the certificates room and by equations written out here."""

import time

import numpy as np
import pytest

import marginflow as mf
from marginflow import certify
from marginflow.certificates import certify_classifier
from marginflow.certificates.classes.program import ClassesProgram
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.classes import kkt_point_of_classes
from marginflow.limit.classes.elimination import KKTSystem, Linearised
from marginflow.limit.classes.problem import ClassesProblem, ClassesSolution, Weights
from marginflow.networks import TwoLayer


def gaussian(n: int, d: int, n_classes: int, seed: int = 0) -> Dataset:
    return Dataset(np.random.default_rng(seed).standard_normal((n, d)), np.arange(n) % n_classes)


@pytest.mark.parametrize(("n", "d", "n_classes"), [(30, 10, 3), (40, 12, 5), (24, 30, 4)])
def test_the_point_is_exact_and_the_judge_finds_so_without_its_multipliers(n, d, n_classes):
    data = gaussian(n, d, n_classes)
    found = kkt_point_of_classes(data, width=20)
    assert found.exact
    assert found.status.startswith("Exact KKT point")
    assert certify_classifier(found.network, data.X, data.y).residual < 1e-6
    assert found.network.margins(data.X, data.y).min() == pytest.approx(1.0, abs=1e-12)


def test_the_equations_hold_written_out():
    """V = sum_i q_i relu(z_i)', 2 sum lambda = ||theta||^2, lambda >= 0, complementarity."""
    data = gaussian(30, 10, 3)
    found = kkt_point_of_classes(data, width=20)
    network, lam, y = found.network, found.certificate.multipliers, data.y.astype(int)
    q = -lam
    q[np.arange(30), y] += lam.sum(axis=1)
    hidden = np.maximum(data.X @ network.W.T + network.b, 0.0)
    np.testing.assert_allclose(network.V, q.T @ hidden, atol=1e-10)
    assert 2 * lam.sum() == pytest.approx(network.norm_squared(), rel=1e-10)
    assert lam.min() >= 0
    margins = network(data.X)[np.arange(30), y][:, None] - network(data.X)
    assert np.abs(lam * (margins - 1.0))[np.arange(3) != y[:, None]].max() < 1e-10


def test_two_classes_are_the_binary_problem_under_the_obvious_map():
    """f_1 - f_0 at a point of the two-class problem is a KKT point of the binary one, (W, b) and v scaled."""
    data = gaussian(30, 10, 2)
    found = kkt_point_of_classes(data, width=20)
    assert found.exact
    W, b, V = found.network.W, found.network.b, found.network.V
    np.testing.assert_allclose(V[0], -V[1], atol=1e-10)
    binary = TwoLayer(W=2**0.25 * W, b=2**0.25 * b, v=2**0.75 * V[1])
    np.testing.assert_allclose(binary(data.X), found.network(data.X)[:, 1] - found.network(data.X)[:, 0], atol=1e-10)
    assert certify(binary, data).holds(1e-9)


def test_and_the_other_way_a_binary_point_is_one_of_two_classes():
    data = gaussian(30, 10, 2)
    binary = mf.kkt_point(data, width=20).compact
    own = (data.y + 1) // 2
    assert certify_classifier(mf.networks.Classifier.of_two(binary), data.X, own).residual < 1e-8


def test_without_bias_the_network_has_none():
    found = kkt_point_of_classes(gaussian(24, 12, 3), width=20, bias=False)
    assert found.exact
    assert found.network.b is None


def test_same_seed_same_bits():
    first, second = (kkt_point_of_classes(gaussian(24, 12, 3), width=12, seed=4) for _ in range(2))
    assert first.network.W.tobytes() == second.network.W.tobytes()


def test_identical_samples_of_different_classes_are_named():
    with pytest.raises(InputError, match="Samples 1 and 3 are identical but have different classes"):
        kkt_point_of_classes(Dataset([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [1.0, 2.0]], [0, 1, 2, 0]))


def test_what_is_not_exact_says_how_far_it_came():
    """Random labels in the plane: margins are reached hardly ever with three neurons."""
    rng = np.random.default_rng(0)
    data = Dataset(rng.standard_normal((40, 2)), rng.permutation(np.arange(40) % 3))
    found = kkt_point_of_classes(data, width=3, budget=Budget(time_limit=1.0))
    assert not found.exact
    assert found.status.startswith(("Not exact", "Not separated", "Stopped early"))


def test_candidate_multipliers_are_judged_and_not_believed():
    data = gaussian(24, 12, 3)
    found = kkt_point_of_classes(data, width=12)
    n, K, k = 24, 3, found.network.width
    wrong = certify_classifier(found.network, data.X, data.y, multipliers=(np.full((n, K), 7.0), np.zeros((n, k))))
    assert wrong.residual < 1e-6  # better ones were computed instead
    with pytest.raises(InputError, match=r"multipliers\[1\] has shape"):
        certify_classifier(found.network, data.X, data.y, multipliers=(np.zeros((n, K)), np.zeros((n, k + 1))))


def test_the_door_for_two_classes_takes_more():
    data = gaussian(30, 10, 3)
    seen: list[mf.limit.Progress] = []
    found = mf.kkt_point(data, width=20, progress=seen.append)
    assert isinstance(found, mf.limit.ClassesLimit)
    assert found.exact
    assert isinstance(found.network, mf.networks.Classifier)
    assert tuple(seen) == found.history
    assert found.stopped_by is None
    assert "KKT certificate (max margin, 3 classes) holds" in found.describe()
    plain = found.to_dict()
    assert plain["n_classes"] == 3
    assert len(plain["certificate"]["multipliers"]) == 30


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"penalty": 1.0}, "penalty is for two"),
        ({"outputs": "frozen", "faithful": True}, "outputs, faithful are for two"),
    ],
)
def test_what_is_there_for_two_classes_only_is_refused_by_name(options, named):
    with pytest.raises(InputError, match=f"The data have 3 classes; {named} classes only"):
        mf.kkt_point(gaussian(12, 4, 3), **options)


def test_a_step_by_elimination_solves_the_linearised_equations():
    """Directional derivatives of what is left, along the step, equal minus what is left: by central differences."""
    rng = np.random.default_rng(3)
    n, r, K, k = 14, 6, 4, 5
    problem = ClassesProblem(rng.standard_normal((n, r)), np.arange(n) % K, K)
    weights = Weights(rng.standard_normal((k, r)), rng.standard_normal((K, k)))
    active = problem.T @ weights.U.T > 0
    active[:, 0] = True  # every pair has an equation of its own; the pattern need not be that of the weights
    kink = np.zeros((n, k), dtype=bool)
    kink[[0, 3, 5], [1, 1, 4]] = True
    on_margin = np.zeros((n, K), dtype=bool)
    on_margin[np.arange(n), (problem.own + 1) % K] = True
    on_margin[0, (problem.own[0] + 2) % K] = True
    system = KKTSystem(problem, on_margin, kink, active & ~kink)
    lam, mu = rng.random(system.i.size), rng.standard_normal(3)
    at = Linearised(system, ClassesSolution(weights, lam, mu))
    step = at.newton_step()
    assert step is not None

    def left(h: float) -> list[np.ndarray]:
        moved = Weights(weights.U + h * step.weights.U, weights.V + h * step.weights.V)
        there = Linearised(system, ClassesSolution(moved, lam + h * step.lam, mu + h * step.mu))
        return [there.left_u, there.left_v, there.left_margins, there.left_kinks]

    size = max(1.0, step.weights.norm, float(np.abs(step.lam).max()))
    h = 1e-4 / size
    for ahead, behind, here in zip(left(h), left(-h), left(0.0), strict=True):
        np.testing.assert_allclose((ahead - behind) / (2 * h), -here, atol=1e-5 * size)


def test_neurons_that_turn_into_each_other_leave_a_shortest_step():
    """Two copies of one neuron: the system is singular, and the step is finite all the same."""
    data = gaussian(20, 8, 3)
    found = kkt_point_of_classes(data, width=20)
    U, V = found.network.augmented, found.network.V
    twice = Weights(np.vstack([U, U[:1]]) * 1.0, np.column_stack([V, V[:, :1]]))
    twice.U[[0, -1]] /= 2**0.5
    twice.V[:, [0, -1]] /= 2**0.5
    problem = ClassesProblem(np.column_stack([data.X, np.ones(20)]), data.y.astype(int), 3)
    Z = problem.T @ twice.U.T
    kink = np.abs(Z) < 1e-9
    lam = found.certificate.multipliers
    system = KKTSystem(problem, lam > 0, kink, (Z > 0) & ~kink)
    step = Linearised(system, ClassesSolution(twice, lam[lam > 0] * 1.001, np.zeros(system.a.size))).newton_step()
    assert step is not None
    assert step.weights.norm < 10 * twice.norm


def test_after_the_time_limit_no_better_multipliers_are_sought(monkeypatch):
    """The clock stands still until the first stage is over; the point is judged with what there is by then."""
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.standard_normal((30, 6)), y=rng.integers(0, 3, 30))
    reported = []

    def monotonic() -> float:
        return 100.0 if reported else 0.0

    def forbidden(*_: object) -> None:
        raise AssertionError("multipliers were computed after the time limit")

    whole = mf.kkt_point(data, width=30, seed=0)
    assert whole.exact
    monkeypatch.setattr(ClassesProgram, "solve", forbidden)
    monkeypatch.setattr("marginflow.limit.classes.point.READ_FROM", 0.0)  # nothing is exact before the end
    monkeypatch.setattr(time, "monotonic", monotonic)
    found = mf.kkt_point(data, width=30, seed=0, time_limit=50.0, progress=reported.append)
    assert found.stopped_by == "time limit"
    assert not found.exact
    assert found.certificate.multipliers.shape == (30, 3)


@pytest.mark.parametrize("steps", [1, 7])
def test_the_first_stage_ends_with_the_time_and_what_it_has_is_the_point(monkeypatch, steps):
    """Of many samples and neurons a stage takes seconds: its descent looks at the clock in every step."""
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.standard_normal((30, 6)), y=rng.integers(0, 3, 30))
    evaluations = []
    original = ClassesProblem.votes

    def counted(self: ClassesProblem, pull: np.ndarray) -> np.ndarray:
        evaluations.append(pull)
        return original(self, pull)

    monkeypatch.setattr(ClassesProblem, "votes", counted)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0 if len(evaluations) > steps else 0.0)
    found = mf.kkt_point(data, width=30, seed=0, time_limit=50.0)
    assert found.stopped_by == "time limit"
    assert not found.exact
    assert len(evaluations) <= steps + 3


def test_an_interrupt_of_the_first_stage_returns_the_network_that_the_search_began_from(monkeypatch):
    def ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ClassesProblem, "votes", ctrl_c)
    found = mf.kkt_point(gaussian(30, 6, 3), width=30, seed=0)
    assert found.stopped_by == "interrupt"
    assert found.status.startswith("Stopped early by an interrupt")
    assert found.network.width == 30
