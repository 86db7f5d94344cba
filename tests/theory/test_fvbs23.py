"""[FVBS23]: every lemma on every preset, and mutations that must be noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marginflow import InputError, theory
from marginflow.data import Clusters, GramReduction, Sphere
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer
from marginflow.theory import Instance
from marginflow.theory.fvbs23 import presets
from marginflow.theory.fvbs23.presets import A, B, C, E, F, W, cluster_point, law_of, preset
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting
from marginflow.theory.instances import at_point
from marginflow.theory.verdict import Verdict

DETERMINISTIC = ["A.10", "A.11", "A.12", "D.2", "D.3", "D.4", "D.6", "D.7", "D.8"]
THEOREMS = ["Thm3.1", "ThmA.1", "Thm4.1", "ThmD.1", "Thm4.2"]


def judged(name: str, instance: Instance) -> Verdict:
    return theory.statement(f"FVBS23/{name}").judge_instance(instance)


INSTANCES = {
    "A": lambda: preset(A),
    "A, width 9": lambda: preset(A, width=9),
    "B": lambda: preset(B),
    "C": lambda: preset(C),
    "E": lambda: preset(E),
    "F": lambda: preset(F),
    "W": lambda: preset(W),
    "100 clusters": presets.many_clusters,
    "means correlated to the limit": lambda: cluster_point(4000, 3, 0.001, 30, correlation=0.0315, stratified=True),
    "means anticorrelated": lambda: cluster_point(4000, 3, 0.001, 30, correlation=-0.0315, stratified=True),
}


@pytest.mark.parametrize("lemma", DETERMINISTIC)
@pytest.mark.parametrize("name", INSTANCES)
def test_every_deterministic_lemma_holds_on_every_preset(name: str, lemma: str) -> None:
    verdict = judged(f"Lem{lemma}", INSTANCES[name]())
    assert verdict.outcome == "holds", str(verdict)


@pytest.mark.parametrize("numbers", [A, B, C, E, F, W], ids=["A", "B", "C", "E", "F", "W"])
def test_the_theorems_hold_where_their_window_is_open(numbers: tuple[int, int, float, int]) -> None:
    for name in THEOREMS:
        instance = preset(numbers)
        if numbers == W and name in ("Thm3.1", "Thm4.2"):
            instance = replace(instance, parameters={"epsilon": 0.1, "delta": 0.1})
        verdict = judged(name, instance)
        # With so few clusters the printed z is longer than the data: what it flips says nothing.
        assert verdict.outcome == ("vacuous" if name in ("ThmD.1", "Thm4.2") else "holds"), str(verdict)


def test_the_printed_vector_says_something_from_hundreds_of_clusters_on() -> None:
    verdict = judged("Thm4.2", presets.hundreds_of_clusters())
    assert verdict.outcome == "holds"
    assert not any(check.vacuous for check in verdict.claims)
    assert verdict["||z|| / sqrt(d), literal"].observed < 1


def test_the_contrast_does_not_bite_with_64_clusters_or_fewer() -> None:
    verdict = judged("Cor-Both", preset(A))
    assert verdict.outcome == "not applicable"
    assert verdict.deciding is not None
    assert verdict.deciding.name == "k"


def test_correlated_means_are_at_the_limit_of_the_assumption() -> None:
    """The two correlated instances stress p: their slack is almost nothing."""
    s = ClusterSetting.of(INSTANCES["means correlated to the limit"]())
    assert 0.09 < s.c_prime <= 0.1


# Mutations: each must be noticed ----------------------------------------------------------------------


@pytest.mark.parametrize(("numbers", "factor"), [(A, 100.0), (B, 1000.0), (F, 1.5)], ids=["A", "B", "F"])
def test_one_flipped_label_breaks_the_upper_bound_on_weights(
    numbers: tuple[int, int, float, int], factor: float
) -> None:
    verdict = judged("LemA.10", presets.flipped_label(numbers))
    assert verdict.outcome == "not applicable"
    assert "labels are those of the clusters" in verdict.reason
    assert verdict["largest value over bound"].observed > factor


ROLES = {
    "VYS22/LemC.5": {"claim": ["d - m p"], "proof step": ["d - m p, as proved"], "derived": ["d - m p, sharper"]},
    "FVBS23/LemD.2": {"claim": ["|N(x)|, as printed"], "derived": []},
    "FVBS23/LemD.5": {"claim": ["- D_u"], "proof step": ["D_u, as proved"], "derived": ["D_u, explicit"]},
    "FVBS23/LemD.7": {"claim": ["y N(x - y z)"], "derived": ["y N(x - y z), with the 3/2 of Lemma D.2"]},
    "FVBS23/LemD.8": {"claim": ["y N(x - y z)"], "derived": ["y N(x - y z), with the 3/2 of Lemma D.2"]},
}


@pytest.mark.parametrize("id", ROLES)
def test_what_the_print_concludes_proves_and_leaves_to_us_are_told_apart(id: str) -> None:
    statement = theory.statement(id)
    verdict = statement.judge_instance(statement.example())
    assert verdict.outcome == "holds", str(verdict)
    for role, names in ROLES[id].items():
        assert [check.name for check in verdict.conclusions if check.role == role] == names


def test_a_sign_that_was_wrong_before_does_not_count_as_flipped() -> None:
    """Theorem D.1 claims that z changes the sign; a neuron that only one test point wakes makes it wrong before z."""
    good = preset(A)
    test, data, network = good.the_test(), good.the_data(), good.the_network()
    points = np.vstack([data.X, test.X[:1]])
    w_b = np.linalg.lstsq(np.hstack([points, np.ones((len(points), 1))]), np.eye(len(points))[-1], rcond=None)[0]
    wrong = TwoLayer(
        W=np.vstack([network.W, w_b[:-1]]),
        b=np.append(network.b, w_b[-1]),
        v=np.append(network.v, -10.0 * test.y[0]),
    )
    np.testing.assert_allclose(wrong(data.X), network(data.X), atol=1e-9)
    assert judged("ThmD.1", good)["y N(x), the sign before"].state == "met"
    fooled = judged("ThmD.1", replace(good, networks=(*good.networks, wrong)))
    assert fooled["y N(x), the sign before"].state == "failed"


def test_half_the_step_flips_nobody() -> None:
    instance = preset(B)
    sample = ClusterSample.of(instance)
    test = instance.the_test()
    s = sample.setting
    outputs = test.y * instance.the_network()(test.X - test.y[:, None] * (0.5 / s.k) * sample.u)
    assert outputs.min() > 0
    assert judged("LemD.6", replace(instance, parameters={"times": 0.5})).outcome == "not applicable"


def test_a_network_without_bias_is_no_kkt_point() -> None:
    good = preset(A)
    network = good.the_network()
    bare = TwoLayer(W=network.W, b=np.zeros(network.width), v=network.v)
    verdict = judged("KKT", replace(good, network=bare, multipliers=None))
    assert verdict.outcome == "violated"
    assert verdict["||b - v sum lambda y phi'|| / ||theta||"].state == "failed"


def test_scaling_theta_changes_no_verdict_and_scaling_one_layer_does() -> None:
    good = preset(A)
    scaled = replace(good, network=good.the_network().scaled(1.1))
    assert judged("LemA.10", scaled)["largest value over bound"].observed == pytest.approx(
        judged("LemA.10", good)["largest value over bound"].observed, rel=1e-9
    )
    for name in ("LemA.10", "LemA.11", "LemD.7"):
        assert judged(name, presets.scaled_neurons(A, 1.1)).outcome == "not applicable"
    literally = {"scale": "as given"}
    assert judged("KKT", replace(good, parameters=literally)).outcome == "holds"
    verdict = judged("KKT", replace(scaled, parameters=literally))
    assert verdict.outcome == "violated"
    assert verdict["least margin of theta as given"].observed == pytest.approx(1.21)


def test_close_means_and_loud_noise_fail_the_assumption() -> None:
    noisier = presets.cluster_point(A[0], A[1], 10.0 * A[0] ** -0.5, A[3])
    for instance in (presets.close_means(), noisier):
        verdict = judged("Asm2.2", Instance(law=instance.law))
        assert verdict.outcome == "violated"
        assert verdict["k (p + Delta + 1)"].state == "failed"


def test_a_missing_cluster_is_noticed_by_everything_that_needs_it() -> None:
    bad = presets.missing_cluster()
    assert judged("P6", bad).outcome == "violated"
    for name in ("LemA.10", "LemA.11", "LemA.12", "LemD.2", "LemD.7", "ThmA.1", "ThmD.1"):
        assert judged(name, bad).outcome == "not applicable", name
    assert judged("LemA.11", bad)["S_q of the own sign"].state == "failed"


def test_other_laws_and_data_without_clusters_are_refused() -> None:
    with pytest.raises(InputError, match="Clusters"):
        judged("Asm2.2", Instance(law=Sphere(dimension=10)))
    with pytest.raises(InputError, match="know no clusters"):
        judged("P1", Instance(law=law_of(10, 2), data=Sphere(dimension=10, labels="both").sample(4)))
    with pytest.raises(InputError, match="of dimension"):
        judged("P1", Instance(law=law_of(548, 2), data=preset(A).data))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "k", "size", "exact"),
    [
        (Clusters(dimension=10**9, n_clusters=400, allocation="stratified"), 400, 0.90, 0.05),
        (
            Clusters(dimension=10**12, n_clusters=800, sigma=1.0, means="sphere", allocation="stratified"),
            800,
            0.798,
            0.035,
        ),
    ],
    ids=["H", "X"],
)
def test_literal_z_is_shorter_than_the_data_with_hundreds_of_clusters(
    law: Clusters, k: int, size: float, exact: float
) -> None:
    reduced = GramReduction(law)
    data = reduced.sample(k)
    instance = at_point(convex_pair(data), "", law=reduced, test=reduced.fresh(100, train=data))
    for lemma in DETERMINISTIC:
        assert judged(f"Lem{lemma}", instance).holds, lemma
    verdict = judged("Rem-Universal", instance)
    assert verdict.holds, str(verdict)
    assert not verdict["largest y N(x - y z) over networks, literal z"].vacuous
    literal = judged("LemD.7", instance)["||z|| / sqrt(d)"].observed
    assert literal == pytest.approx(size, abs=0.01)
    assert verdict["network 1: ||z|| / sqrt(d), exact"].observed == pytest.approx(exact, abs=0.002)


def test_every_id_of_the_catalogue_is_there() -> None:
    assert all(row.implemented for row in theory.coverage("FVBS23", run=False))


@pytest.mark.parametrize(
    "name", ["LemA.12", "LemA.13", "LemD.1", "LemD.7", "ThmA.1", "Thm3.1", "Thm4.1", "ThmD.1", "Thm4.2"]
)
def test_test_points_that_are_not_of_the_law_are_refused(name: str) -> None:
    """Flipped labels, wider noise or other means: nothing is judged on points of another law."""
    good = preset(A)
    test = good.the_test()
    assert test.means is not None
    assert test.clusters is not None
    centres = test.means[test.clusters]
    strangers = {
        "the label": replace(test, y=-test.y, mean_labels=None, clean_labels=None),
        "standard deviation of": replace(test, X=centres + 20.0 * (test.X - centres)),
        "other cluster means": replace(test, X=test.X + 1.0, means=test.means + 1.0),
    }
    for sentence, stranger in strangers.items():
        with pytest.raises(InputError, match=sentence):
            judged(name, replace(good, test=stranger))


@pytest.mark.parametrize("factor", [1e3, -1e3])
def test_the_loss_is_judged_where_it_is_below_or_beyond_every_double(factor: float) -> None:
    """Networks at the end of training have losses such as e^-2000; those that are wrong everywhere, e^2000."""
    statement = theory.statement("FVBS23/Def-Loss")
    instance = statement.example()
    network = instance.the_network()
    size = abs(factor) ** 0.5
    scaled = TwoLayer(
        W=network.W * size, b=None if network.b is None else network.b * size, v=network.v * factor / size
    )
    assert statement.check(scaled, instance.the_data()).outcome == "holds"
