"""Networks and samples with nothing to them: every statement that takes both still ends in a verdict or a sentence."""

import numpy as np
import pytest

import marginflow as mf
from marginflow import theory
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.outcomes import OUTCOMES

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 3))
Y = np.array([1.0, -1.0, 1.0, -1.0])
W, B, V = RNG.standard_normal((4, 3)), RNG.standard_normal(4), np.array([1.0, -1.0, 1.0, -1.0])
SAMPLES = {
    "zero": Dataset(X=np.zeros_like(X), y=Y),
    "one": Dataset(X=X[:1], y=Y[:1]),
    "copies": Dataset(X=np.tile(X[:1], (4, 1)), y=Y),
    "opposite": Dataset(X=np.vstack([X[:2], -X[:2]]), y=Y),
    "one label": Dataset(X=X, y=np.ones(4)),
}
NETWORKS = {
    "ordinary": TwoLayer(W=W, b=B, v=V),
    "silent": TwoLayer(W=W, b=B, v=np.zeros(4)),
    "dead": TwoLayer(W=W, b=np.full(4, -1e3), v=V, outputs="frozen"),
    "one neuron": TwoLayer(W=W[:1], b=None, v=V[:1]),
    "zero weights": TwoLayer(W=np.zeros_like(W), b=B, v=V),
    "copies": TwoLayer(W=np.tile(W[:1], (4, 1)), b=None, v=V, outputs="frozen"),
}
STATEMENTS = [given for given in theory.statements() if set(given.needs) <= {"network", "data"}]


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_statement_about_a_network_and_data_ends_in_a_verdict_or_a_sentence(network, samples):
    judged = 0
    for statement in STATEMENTS:
        try:
            verdict = statement.check(NETWORKS[network], SAMPLES[samples])
        except mf.InputError:
            continue
        assert verdict.outcome in OUTCOMES
        assert str(verdict)
        judged += 1
    assert judged > len(STATEMENTS) / 2  # most have something to say: a hypothesis that fails


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("network", NETWORKS)
def test_an_audit_of_them_ends_in_a_headline_or_a_sentence(network, samples):
    data = SAMPLES[samples]
    try:
        audited = mf.audit(NETWORKS[network], data.X, data.y)
    except mf.InputError:
        return
    assert audited.headline
