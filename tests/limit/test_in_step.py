"""Several runs of ADMM in one set of arrays beside each by itself."""

import numpy as np
import pytest

from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.settings import FEW_PAIRS, REFRESH_EVERY
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.in_step import run_in_step


def run_of(n: int, d: int, k: int, *, precision: str = "double", seed: int = 0) -> Admm:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    problem = Problem.of((rng.standard_normal((n, d)) + y[:, None]) / 4.0, y, bias=True, penalty=1.0)
    s = np.where(np.arange(k) < (k + 1) // 2, 1.0, -1.0)
    return Admm(problem, Neurons(rng.standard_normal((k, problem.X.shape[1])), s), precision=precision)


SIZES = [(30, 3, 4), (50, 6, 7), (20, 2, 3)]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_every_run_goes_where_it_goes_by_itself(precision):
    together = [run_of(*size, precision=precision, seed=seed) for seed, size in enumerate(SIZES)]
    alone = [run_of(*size, precision=precision, seed=seed) for seed, size in enumerate(SIZES)]
    for _ in range(3):
        run_in_step(together)
        for run in alone:
            run.run(REFRESH_EVERY)
    atol = 1e-3 if precision == "single" else 1e-10
    for one, other in zip(together, alone, strict=True):
        assert one.iterations == other.iterations == 3 * REFRESH_EVERY
        assert one.U.dtype == other.U.dtype
        np.testing.assert_array_equal(one.idle, other.idle)
        for name in ("U", "t", "Z", "Y", "tau"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol, err_msg=name)


def test_runs_of_both_precisions_and_one_of_many_pairs_go_on_together():
    many = run_of(FEW_PAIRS // 5, 3, 10, seed=5)
    runs = [run_of(30, 3, 4, precision="single"), run_of(30, 3, 4), many]
    before = [run.objective for run in runs]
    run_in_step(runs)
    assert many.A.size > FEW_PAIRS
    assert [run.iterations for run in runs] == 3 * [REFRESH_EVERY]
    assert all(run.objective != value for run, value in zip(runs, before, strict=True))
    assert runs[0].objective == pytest.approx(runs[1].objective, rel=1e-3)


def test_neurons_with_weights_of_their_own_go_where_they_go_by_themselves():
    """Where samples are many, a run has another weight for every neuron: `balance.uneven`."""
    together, alone = ([run_of(30 * d, d, 4, seed=d) for d in (2, 3)] for _ in range(2))
    for run in [*together, *alone]:
        run.run(REFRESH_EVERY)
        run.scales = np.geomspace(0.5, 3.0, len(run.s))
        run._pattern_changed()
    run_in_step(together)
    for run, other in zip(together, alone, strict=True):
        other.run(REFRESH_EVERY)
        assert not np.allclose(run.scales, 1.0)
        for name in ("U", "t", "Z", "Y", "tau"):
            np.testing.assert_allclose(getattr(run, name), getattr(other, name), atol=1e-10, err_msg=name)


@pytest.mark.parametrize("kind", ["frozen", "anchored"])
def test_steps_that_the_common_arrays_do_not_have_are_made_by_the_run_itself(kind):
    def runs() -> list[Admm]:
        found = [run_of(*size, seed=seed) for seed, size in enumerate(SIZES)]
        problem, neurons = found[0].problem, Neurons(found[0].U, found[0].s)
        if kind == "frozen":
            found[0] = Admm(problem, Neurons(neurons.U, neurons.s, np.linspace(0.5, 2.0, len(neurons.s))))
        else:
            found[0] = Admm(problem, neurons, anchor_weight=3.0)
        return found

    together, alone = runs(), runs()
    for _ in range(2):
        run_in_step(together)
    for run, other in zip(together, alone, strict=True):
        other.run(2 * REFRESH_EVERY)
        assert run.iterations == other.iterations
        np.testing.assert_allclose(run.U, other.U, atol=1e-10)
