"""Audit of a network: each finding against the room it comes from, closed forms, and what must be noticed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marginflow import certify, kkt_point
from marginflow.audits import audit
from marginflow.audits.drawn import drawn_samples
from marginflow.cli.output import write_page
from marginflow.data import Clusters, Dataset, Orthogonal, Sphere
from marginflow.errors import InputError
from marginflow.flow import GradientFlow, LossBelow, train
from marginflow.networks import TwoLayer

BY_HAND = Dataset(X=np.eye(2), y=[1, -1])
KKT = TwoLayer(W=3.0 * np.eye(2), v=[3.0, -3.0])


def trained(data: Dataset) -> tuple[TwoLayer, TwoLayer]:
    start = TwoLayer.initialise(width=20, dimension=data.dimension, scale=0.1, seed=0)
    return start, train(start, data, GradientFlow(stop=[LossBelow(1e-4)])).network


def test_kkt_point_by_hand_is_recognised_with_its_closed_forms() -> None:
    found = audit(KKT, BY_HAND, points=2)
    assert found.is_kkt_point
    assert found.wrong == 0
    # N(x) = 9 (relu(x_1) - relu(x_2)): the boundary x_1 = x_2 is 1 / sqrt(2) from both samples, along (1, -1).
    bounds = [bound for radius in found.radii for bound in (radius.lower, radius.upper)]
    assert bounds == pytest.approx([0.5**0.5] * 4, rel=1e-6)
    assert found.universal.upper == pytest.approx(0.5**0.5, rel=1e-6)
    assert found.flips[0].all == pytest.approx(0.5**0.5)
    assert found.outside == 0.0
    assert found.contradicted == ()
    assert found.verdict.startswith("The network is a KKT point")


def test_findings_are_those_of_the_rooms_they_come_from() -> None:
    data = Sphere(dimension=30).sample(12, seed=0)
    start, network = trained(data)
    found = audit(network, data, start=start, points=3)
    certificate = certify(network, data, start=start)
    assert found.certificate.total == certificate.total
    assert found.certificate.floor == certificate.floor
    assert not found.is_kkt_point
    assert "not at a KKT point" in found.verdict
    assert found.point is not None
    assert found.point.exact
    assert certify(found.point.network, data).holds(1e-8)
    for radius in found.radii:
        assert radius.settled
        assert radius.lower <= radius.upper <= radius.lower * (1 + 1e-5)
        # What flips all samples flips each: no radius exceeds the size of the universal vector.
        assert radius.lower <= found.universal.upper
    assert found.universal.upper <= min(flip.all for flip in found.flips) * (1 + 1e-9)
    assert found.universal.vector is not None
    moved = data.X - data.y[:, None] * found.universal.vector
    assert (data.y * network(moved) <= 0).all()


def test_floor_is_below_the_residual_and_its_source_is_not_moved_by_training() -> None:
    data = Sphere(dimension=30).sample(12, seed=0)
    start, network = trained(data)
    found = audit(network, data, start=start, points=0)
    floor = found.certificate.floor
    assert floor is not None
    assert 0 < floor <= found.certificate.stationarity
    assert found.outside == pytest.approx(floor, rel=1e-9)
    assert found.outside_changed == pytest.approx(0.0, abs=1e-9)
    decayed = TwoLayer(W=network.W - 0.5 * start.W, b=network.b, v=network.v)
    changed = audit(decayed, data, start=start, points=0).outside_changed
    assert changed == pytest.approx(0.5, rel=1e-6)


def test_without_the_start_the_floor_is_unknown() -> None:
    found = audit(KKT, BY_HAND, points=0)
    assert found.certificate.floor is None
    assert found.outside_changed is None
    assert found.radii == ()


def test_a_network_that_does_not_separate_is_said_to_be_wrong() -> None:
    found = audit(TwoLayer(W=np.eye(2), v=[-1.0, 1.0]), BY_HAND, points=2)
    assert found.wrong == 2
    assert found.point is None
    assert not found.is_kkt_point
    assert [radius.status for radius in found.radii] == ["misclassified"] * 2
    assert found.verdict.startswith("The network gets 2 of 2 samples wrong")


def test_theorems_apply_to_a_kkt_point_on_orthogonal_data_and_none_is_violated() -> None:
    data = Orthogonal(dimension=60).sample(12, seed=0)
    point = kkt_point(data, width=30, seed=0).network
    found = audit(point, data, points=1)
    assert found.contradicted == ()
    outcomes = {judged.id: judged.outcome for judged in found.statements}
    assert outcomes["VYS22/A.KKT"] == "holds"
    perturbed = TwoLayer(W=point.W + 0.05, b=point.b, v=point.v)
    again = {judged.id: judged.outcome for judged in audit(perturbed, data, points=0).statements}
    assert again["VYS22/A.KKT"] == "violated"
    assert len(audit(perturbed, data, points=0).applying) < len(found.applying)


def test_cluster_means_give_one_more_direction() -> None:
    data = Clusters(dimension=40, n_clusters=2).sample(16, seed=0)
    found = audit(kkt_point(data, width=20, seed=0).network, data, points=0)
    assert "means" in {flip.name for flip in found.flips}
    assert "sum of the cluster means by their labels" in str(found.to_dict()["flips"])


def test_plain_values_survive_json() -> None:
    found = audit(KKT, BY_HAND, points=1)
    record = found.to_dict()
    assert json.loads(json.dumps(record))["universal"]["upper"] == found.universal.upper
    assert record["verdict"] == found.verdict


def test_the_verdict_counts_the_statements_that_apply_in_words() -> None:
    found = audit(KKT, BY_HAND, points=0)
    whole = replace(found.applying[0], outcome="holds")
    broken = replace(whole, id="KYS23/Sec4.Display", outcome="violated")
    for statements, words in (
        ((), "and no statement of the papers applies."),
        ((whole,), f"and one statement of the papers applies, {whole.id}, which is not violated."),
        (
            (broken,),
            f"and one statement of the papers applies, {broken.id}, which is violated and known to be false as printed",
        ),
        ((whole, whole), "and 2 statements of the papers apply, none of which is violated."),
    ):
        assert words in replace(found, statements=statements).verdict


def test_same_seed_same_samples() -> None:
    data = Sphere(dimension=5).sample(20, seed=1)
    network = TwoLayer.initialise(width=4, dimension=5, seed=0)
    first, second, other = (audit(network, data, points=4, seed=seed) for seed in (3, 3, 4))
    assert [r.sample for r in first.radii] == [r.sample for r in second.radii] != [r.sample for r in other.radii]


def test_progress_moves_forward() -> None:
    seen: list[float] = []
    audit(KKT, BY_HAND, progress=lambda share, _: seen.append(share))
    assert seen == sorted(seen)
    assert 0.0 <= seen[0] <= seen[-1] <= 1.0


@pytest.mark.parametrize(
    ("network", "data", "options", "sentence"),
    [
        (KKT, Dataset(X=np.eye(2), y=[1, 1]), {}, r"labels are \+1"),
        (KKT, Dataset(X=np.eye(3), y=[1, -1, 1]), {}, "dimension 2"),
        (KKT, BY_HAND, {"points": -1}, "points is -1"),
        (KKT, BY_HAND, {"tolerance": 0.0}, "tolerance is 0"),
        (KKT, BY_HAND, {"time_limit": math.inf}, "time_limit is inf"),
        (TwoLayer(W=np.zeros((1, 2)), v=[0.0]), BY_HAND, {}, "is zero"),
    ],
)
def test_bad_input_is_one_sentence(network: TwoLayer, data: Dataset, options: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        audit(network, data, **options)


def test_two_classes_are_called_by_their_names_on_the_page(tmp_path: Path) -> None:
    named = Dataset(X=np.eye(16)[:2], y=["cat", "dog"])
    network = TwoLayer(W=np.eye(16)[:2], v=[-1.0, 1.0])
    found = audit(network, named, points=2)
    assert found.to_dict()["classes"] == ["cat", "dog"]
    assert found.headline.endswith("at this KKT point 2 of 2 neurons remain.")
    page = write_page(found.to_dict(), tmp_path / "page.html", title="A").read_text()
    assert "subtracted from samples of class dog and added to samples of class cat" in page
    assert "read as dog" in page
    signed = audit(network, Dataset(X=named.X, y=[-1, 1]), points=2)
    other = write_page(signed.to_dict(), tmp_path / "signed.html", title="A").read_text()
    assert "subtracted from the positive samples and added to the negative samples" in other
    assert "read as +1" in other


def test_an_audit_draws_more_samples_of_a_small_network() -> None:
    assert drawn_samples(None, n_weights=20_000, n_samples=357, seed=0).size == 100
    assert drawn_samples(None, n_weights=20_001, n_samples=357, seed=0).size == 10
    assert drawn_samples(None, n_weights=4, n_samples=3, seed=0).tolist() == [0, 1, 2]
    assert drawn_samples(5, n_weights=4, n_samples=3, seed=1).tolist() == [0, 1, 2]
