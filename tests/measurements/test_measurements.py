"""Named directions, flips and checked radii: closed forms, and the one rule by which a radius loses the word proved."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace

import numpy as np
import pytest

from marginflow.certificates import certify
from marginflow.data import Clusters, Dataset, Sphere
from marginflow.errors import InputError
from marginflow.limit import kkt_point
from marginflow.measurements import (
    DIRECTIONS,
    checked_radii,
    flip,
    named_direction,
    named_directions,
    portrait,
    summarise_radii,
)
from marginflow.measurements.class_changes import class_changes
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness import RadiusCertificate, check_certificate, exact_radii, minimal_step
from marginflow.robustness.accuracy import accuracy_of_radii
from marginflow.robustness.radius.claims import status_of

DATA = Dataset(X=np.eye(2), y=[1, -1])
NETWORK = TwoLayer(W=np.eye(2), v=[1.0, -1.0])


@pytest.mark.parametrize("name", ["label-sum", "margin", "support", "dual"])
def test_every_direction_of_two_balanced_samples_is_the_antidiagonal(name: str) -> None:
    z = named_direction(NETWORK, DATA, name)
    assert z / np.linalg.norm(z) == pytest.approx([0.5**0.5, -(0.5**0.5)], abs=1e-9)


def test_a_certificate_that_is_carried_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = certify(NETWORK, DATA)
    monkeypatch.setattr("marginflow.measurements.directions.certify", None)
    assert named_direction(NETWORK, DATA, "dual", certificate) == pytest.approx(certificate.multipliers * [1, -1])


def test_unknown_and_absent_directions_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="direction is 'up'; one of label-sum"):
        named_direction(NETWORK, DATA, "up")
    with pytest.raises(InputError, match="no cluster means"):
        named_direction(NETWORK, DATA, "means")
    assert set(named_directions(NETWORK, DATA, certify(NETWORK, DATA))) == set(DIRECTIONS) - {"means"}


def test_the_sum_of_means_is_there_for_clusters() -> None:
    data = Clusters(dimension=20, n_clusters=2).sample(8, seed=0)
    network = kkt_point(data, width=10, seed=0).network
    assert "means" in named_directions(network, data, certify(network, data))


def test_the_flip_of_two_samples_has_its_closed_form() -> None:
    found = flip(NETWORK, DATA, np.array([1.0, -1.0]), name="z")
    summary = found.summary(dimension=2)
    assert found.all == pytest.approx(0.5**0.5)
    assert summary["norm_by_sqrt_dimension"] == pytest.approx(0.5)
    assert summary["never_flipped"] == 0
    assert found.curve()["at"][-1] == 1.0


def test_only_what_the_judge_confirms_is_called_proved() -> None:
    (radius,) = exact_radii(NETWORK, DATA.X[:1], y=DATA.y[:1], certificate=True)
    assert isinstance(radius.certificate, RadiusCertificate)
    assert status_of(check_certificate(radius.certificate, NETWORK), 1e-6) == radius.status == "proved"
    boast = replace(radius.certificate, lower=2 * radius.upper)
    assert not check_certificate(boast, NETWORK).holds
    loose = replace(radius.certificate, lower=0.5 * radius.upper)
    assert status_of(check_certificate(loose, NETWORK), 1e-6) == "bounded"


def test_the_judge_sees_each_proof_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    claims = importlib.import_module("marginflow.robustness.radius.claims")
    honest = claims.judged

    def counting(proof: RadiusCertificate, network: TwoLayer) -> object:
        seen.append(proof)
        return honest(proof, network)

    monkeypatch.setattr(claims, "judged", counting)
    found = checked_radii(NETWORK, DATA, [0, 1])
    assert [radius.status for radius in found] == ["proved", "proved"]
    assert len(seen) == 2
    proofs = [radius.radius.certificate for radius in found]
    assert all(proof is not None and check_certificate(proof, NETWORK).holds for proof in proofs)


def test_radii_are_kept_one_by_one_in_the_order_asked_for() -> None:
    data = Sphere(dimension=4).sample(6, seed=0)
    network = TwoLayer.initialise(5, 4, seed=0)
    kept: list[int] = []
    found = checked_radii(network, data, [4, 1], keep=lambda checked: kept.append(checked.sample))
    assert kept == [checked.sample for checked in found] == [4, 1]


def test_extremes_enclose_and_nothing_gives_no_number() -> None:
    found = checked_radii(NETWORK, DATA, [0, 1])
    summary = summarise_radii(found)
    assert summary.settled == summary.count == 2
    for low, high in summary.extremes.values():
        assert low <= 0.5**0.5 * (1 + 1e-9)
        assert high >= 0.5**0.5 * (1 - 1e-9)
    assert math.isnan(summarise_radii([]).median[0])
    assert summary.record(2)["curve"] == accuracy_of_radii([checked.radius for checked in found]).rows()
    assert summarise_radii([]).record(2)["curve"] is None


def test_one_walk_serves_every_convention_at_zero() -> None:
    z = np.array([0.5, -0.5])
    strict = flip(NETWORK, DATA, z, at_zero="keeps").steps
    assert (strict.at_zero, strict.all_at_once) == ("keeps", minimal_step(NETWORK, DATA.X, DATA.y, z).all_at_once)


def test_class_changes_of_three_symmetric_classes_are_their_closed_form() -> None:
    """Logits are x itself on the unit vectors; along e_2 the first two samples change at 1, the last never."""
    network = Classifier(W=np.eye(3), V=np.eye(3))
    (row,) = class_changes(network, np.eye(3), np.arange(3), [("z", np.array([0.0, 0.0, 2.0]))], 0.5)
    assert (row["norm"], row["smallest_first"], row["largest_first"]) == (1.0, 1.0, 1.0)
    assert (row["already_flipped"], row["never_flipped"], row["at_once"]) == (0, 1, None)


def test_a_portrait_makes_one_certificate_and_three_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginflow.measurements.directions.certify", None)
    records = portrait(NETWORK, DATA).records()
    assert set(records) == {"certificate", "flips", "radii"}
    assert records["radii"]["all_proved"] is True
    assert records["certificate"]["holds"] is True
