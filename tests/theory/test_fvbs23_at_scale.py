"""FVBS23 at the size of its own tables: Theorem 3.1 over many draws of preset B, Theorem 2.1 far along a flow on A."""

from __future__ import annotations

import numpy as np

import marginflow as mf
from marginflow.data import Dataset, in_span
from marginflow.flow import GradientFlow, LossBelow, Recording
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer, initialisation
from marginflow.theory.fvbs23.presets import A, B, law_of
from marginflow.theory.instance import Instance
from marginflow.theory.probability import clopper_pearson

EPSILON = DELTA = 0.05


def test_every_one_of_sixty_draws_of_preset_b_generalises_to_a_thousand_fresh_points():
    """By upper ends of one-sided 95 % intervals: the error of each draw, and the share of bad draws."""
    d, k, sigma, n = B
    bad = 0
    for draw in range(60):
        law = law_of(d, k, sigma)
        data, test = law.sample(n, seed=2 * draw), law.sample(1000, seed=2 * draw + 1)
        point = convex_pair(data)
        wrong = int((test.y * point.network(test.X) <= 0).sum())
        bad += clopper_pearson(wrong, 1000, confidence=0.9).high > EPSILON
    assert clopper_pearson(bad, 60, confidence=0.9).high <= DELTA


def test_far_along_the_flow_on_preset_a_the_kkt_residual_is_below_a_thousandth():
    """It falls like the root of 1 / ln(1 / L): a loss of e^-60000 is what that takes."""
    d, k, sigma, n = A
    law = law_of(d, k, sigma)
    data = law.sample(n, seed=0)
    data = Dataset(X=in_span(data.X)[0], y=data.y)
    start = TwoLayer.initialise(6, data.dimension, law=initialisation.Balanced(), scale=0.05, seed=0)
    plan = GradientFlow(angle=0.02, decrease=2.0, stop=[LossBelow(log_value=-6e4)])
    run = mf.train(start, data, plan, recording=Recording(ratio=2.0, networks=True))
    path = run.trajectory
    residuals = [mf.certify(network, data).total for network in path.networks[-6:]]
    assert residuals[-1] < 1e-3
    assert np.all(np.diff(residuals) < 0)
    verdict = mf.theory.statement("FVBS23/Thm2.1").judge_instance(Instance(name="A", data=data, run=run))
    assert verdict.outcome == "holds", str(verdict)
