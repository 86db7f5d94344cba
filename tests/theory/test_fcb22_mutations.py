"""[FCB22] Instances near which a judge is easily wrong: another spread, odd widths, other laws, more steps than T."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from marginflow import theory
from marginflow.data import Dataset, XorClusters
from marginflow.networks import TwoLayer
from marginflow.theory import Instance, Verdict
from marginflow.theory.fcb22 import recorded
from marginflow.theory.fcb22.path import path_of
from marginflow.theory.fcb22.thm_3_1.lem_4_4 import log_edge_tail
from marginflow.theory.fcb22.thm_3_1.lem_4_11 import moves


def judged(name: str, instance: Instance) -> Verdict:
    return theory.statement(f"FCB22/{name}").judge_instance(instance)


@pytest.mark.parametrize("factor", [0.01, 0.5, 0.9, 1.1, 1.5])
def test_clusters_of_another_spread_than_their_law_are_noticed(factor: float) -> None:
    good = recorded.c16()
    data = good.the_data()
    assert data.means is not None
    assert data.clusters is not None
    centres = data.means[data.clusters]
    moved = Instance(law=good.law, data=replace(data, X=centres + factor * (data.X - centres)))
    verdict = judged("Setting.Data", moved)
    assert verdict.outcome == "violated"
    assert "|tr Cov / (sigma^2 d) - 1|" in [check.name for check in verdict.failed_claims]


@pytest.mark.parametrize("dimension", [2, 30])
@pytest.mark.parametrize("word", ["laplace", "exponential", "radial-exponential", "simplex", "ball", "gumbel"])
def test_the_spread_of_every_law_is_accepted(word: str, dimension: int) -> None:
    law = XorClusters(dimension=dimension, sigma=0.1, cluster_law=word)
    for seed in range(5):
        assert judged("Setting.Data", Instance(law=law, data=law.sample(200, seed=seed))).holds


@pytest.mark.parametrize(("last", "outcome"), [(0.0, "holds"), (1.5, "violated")])
def test_the_last_output_of_an_odd_width_is_zero(last: float, outcome: str) -> None:
    network = TwoLayer(
        W=0.1 * np.array([[1, 0], [0, 1], [1, 1]]), v=np.array([1, -1, last]) / math.sqrt(3), outputs="frozen"
    )
    data = Dataset(X=np.eye(2), y=np.array([1.0, -1.0]))
    assert judged("Setting.Net", Instance(network=network, data=data)).outcome == outcome


def test_the_share_that_is_captured_is_claimed_for_gaussian_clusters_only() -> None:
    skewed = recorded.gd_run(2000, 2, 100, sd=math.sqrt(2), eta=0.0, omd=1 / 16, k=5, cluster_law="exponential")
    verdict = judged("Rem.Edge", skewed)
    assert verdict.outcome == "not applicable"
    assert verdict.failed_claims


def test_early_stopping_is_about_at_most_t_steps() -> None:
    assert judged("Rem.EarlyStop", recorded.c16(k=10)).holds
    verdict = judged("Rem.EarlyStop", recorded.figure(20, n=400, m=40))
    assert verdict["steps against T = 1 + 1/(4 alpha)"].state == "failed"
    assert verdict.outcome == "not applicable"


def test_moves_of_large_projections_are_vacuous_where_none_is_large() -> None:
    for instance in (recorded.tight(), recorded.planted()):
        _, normalised, outward = moves(path_of(instance))
        assert normalised.vacuous
        assert outward.vacuous
    verdict = judged("Lem4.11", recorded.tight())
    assert verdict.holds


def test_moves_of_large_projections_are_compared_where_some_are() -> None:
    _, normalised, outward = moves(path_of(recorded.gd_run(400, 2, 40, sd=0.2, eta=0.1, omd=2.0, k=5)))
    assert not normalised.vacuous
    assert not outward.vacuous
    assert math.isfinite(normalised.observed)


def test_the_control_of_the_literal_chain_breaks_its_conclusions() -> None:
    statement = theory.statement("FCB22/Thm3.1.det")
    verdict = statement.judge_instance(statement.control())
    assert verdict.outcome == "not applicable"
    assert not any(math.isnan(check.observed) for check in verdict.failed_claims)
    assert len(verdict.failed_claims) >= 3
    assert judged("Thm3.1.det", recorded.planted(k=2000, orthogonal=True)).outcome == "not applicable"


@pytest.mark.parametrize("C0", [100.0, 1e3, 1e4])
def test_the_edge_of_neurons_nearly_orthogonal_to_a_mean_needs_more_samples(C0: float) -> None:
    verdict = judged("Lem4.4", recorded.with_parameters(recorded.c16(), C0=C0))
    assert verdict.outcome == "not applicable"
    assert [check.name for check in verdict.hypotheses if check.state != "met"] == ["P(some edge < n/C2), by Chernoff"]
    assert verdict.failed_claims


def test_the_edge_is_violated_where_the_neurons_are_not_those_of_the_sample() -> None:
    good = recorded.c16()
    data = good.the_data()
    swapped = replace(data, clusters=np.array([1, 0, 3, 2])[data.clusters])
    assert judged("Lem4.4", replace(good, data=swapped)).outcome == "violated"


@pytest.mark.parametrize(("shift", "least"), [(2.7, 60.0), (0.5, 10.0), (0.1, -20.0)])
def test_chernoff_bounds_the_exact_tail_of_the_edge(shift: float, least: float) -> None:
    n, p = 400, stats.norm.cdf(shift) / 4
    q = 0.25 - p
    single = np.array([q, 0.75, p])  # -1, 0, 1
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, single)
    exact = law[np.arange(-n, n + 1) < least].sum()
    bound = math.exp(log_edge_tail(np.array([shift]), n, least)[0])
    assert exact <= bound <= 20 * exact


def test_a_good_run_is_judged_with_a_constant_that_does_not_come_from_it() -> None:
    good = recorded.c16()
    data = good.the_data()
    assert data.means is not None
    assert data.clusters is not None
    centres = data.means[data.clusters]
    wide = replace(good, data=replace(data, X=centres + 2.0 * (data.X - centres)))
    verdict = judged("Def4.5", wide)
    assert verdict.outcome == "violated"
    assert [check.name for check in verdict.failed_claims] == ["(b) C1 needed for |x - mu|^2"]
    assert judged("Def4.5", good).holds
    assert judged("Def4.5", recorded.with_parameters(good, C1=5.0)).outcome == "violated", "C1^2 sd <= 1 fails"


def test_neuron_sets_are_those_of_the_first_record() -> None:
    good = recorded.c16()
    assert good.start is not None
    other = TwoLayer(W=good.start.W[::-1].copy(), v=good.start.v, outputs="frozen")
    verdict = judged("Def.J", replace(good, start=other))
    assert verdict.outcome == "violated"
    assert verdict["entries that differ from the first record"].observed > 10
    flipped = TwoLayer(W=good.start.W, v=-good.start.v, outputs="frozen")
    assert judged("Def.J", replace(good, start=flipped)).outcome == "violated"


def test_no_bound_with_constants_of_the_run_itself_is_a_conclusion_about_the_test_error() -> None:
    names = [check.name for check in judged("Thm3.1.2", recorded.c16()).conclusions]
    assert names == ["test error, printed with the smallest C of (A7)", "test error, bound of the proof"]
