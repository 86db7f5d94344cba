"""The projection of few pairs is that of many: masks in place of blocks."""

import numpy as np
import pytest

from marginflow.data import Sphere
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.settings import FEW_PAIRS
from marginflow.limit.solver import admm as room
from marginflow.limit.solver.admm import Admm


def run(few: int, monkeypatch: pytest.MonkeyPatch, *, penalty: float, uneven: bool = False) -> Admm:
    monkeypatch.setattr(room, "FEW_PAIRS", few)
    rng = np.random.default_rng(0)
    data = Sphere(dimension=8).sample(60, seed=0)
    problem = Problem.of(data.X, data.y, bias=True, penalty=penalty)
    U = rng.standard_normal((10, problem.X.shape[1]))
    neurons = Neurons(U, np.where(np.arange(10) < 5, 1.0, -1.0))
    admm = Admm(problem, neurons, np.full(60, 0.05), precision="double")
    if uneven:
        admm.scales = rng.uniform(0.5, 2.0, len(admm.s))
        admm._pattern_changed()
    admm.run(7, refresh=False)
    return admm


@pytest.mark.parametrize("penalty", [np.inf, 0.3])
@pytest.mark.parametrize("uneven", [False, True])
def test_few_pairs_are_projected_as_many_are(penalty, uneven, monkeypatch):
    blocks = run(0, monkeypatch, penalty=penalty, uneven=uneven)
    masks = run(FEW_PAIRS, monkeypatch, penalty=penalty, uneven=uneven)
    assert blocks._few is None
    assert masks._few is not None
    for name in ("U", "Z", "Y", "tau"):
        np.testing.assert_allclose(getattr(masks, name), getattr(blocks, name), rtol=0.0, atol=1e-12)
    assert masks.primal_residual == pytest.approx(blocks.primal_residual, rel=1e-9)
    assert (masks.tau > 0).any()
