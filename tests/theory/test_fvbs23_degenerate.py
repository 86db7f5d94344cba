"""Laws with nothing to them, one cluster or one label: statements of [FVBS23] end in a verdict or a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow import InputError, theory
from marginflow.data import Clusters
from marginflow.networks import TwoLayer
from marginflow.theory import Instance
from marginflow.theory.outcomes import OUTCOMES

LAWS = {
    "one cluster": Clusters(dimension=3, n_clusters=1, sigma=0.0, mean_labels=(1.0,)),
    "one loud cluster": Clusters(dimension=3, n_clusters=1, sigma=1.0, mean_labels=(1.0,)),
    "one label": Clusters(dimension=3, n_clusters=2, sigma=0.0, mean_labels=(1.0, 1.0)),
    "no room": Clusters(dimension=3, n_clusters=2, sigma=0.0, mean_labels=(1.0, -1.0)),
    "a third": Clusters(dimension=5, n_clusters=2, sigma=0.0, mean_labels=(1.0, -1.0)),
}
STATEMENTS = [known for known in theory.statements("FVBS23") if "law" in known.needs and "run" not in known.needs]


@pytest.mark.parametrize("size", [0.0, 1.0])
@pytest.mark.parametrize("law", LAWS)
def test_every_statement_about_a_law_ends_in_a_verdict_or_a_sentence(law: str, size: float) -> None:
    data = LAWS[law].sample(5)
    rng = np.random.default_rng(0)
    weights = (rng.standard_normal(shape) for shape in ((3, data.dimension), 3, 3))
    W, b, v = (size * weight for weight in weights)
    network = TwoLayer(W=W, b=b, v=v)
    test = LAWS[law].fresh(7, train=data)
    judged = 0
    for statement in STATEMENTS:
        try:
            verdict = statement.judge_instance(
                Instance(network=network, networks=(network,), data=data, test=test, law=LAWS[law])
            )
        except InputError:
            continue
        assert verdict.outcome in OUTCOMES
        assert str(verdict)
        judged += 1
    assert judged > len(STATEMENTS) / 3
