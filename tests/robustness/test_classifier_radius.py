"""Radii of classifiers: brute force over patterns, separate radii of all rivals, two classes, attacks, forgeries."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness import Radius, check_certificate, exact_radii, exact_radius
from marginflow.robustness.radius import ClassifierCertificate

seeds = st.integers(0, 10**6)


def random_classifier(seed: int, width: int = 7, d: int = 2, n_classes: int = 3) -> tuple[Classifier, np.ndarray]:
    rng = np.random.default_rng(seed)
    network = Classifier(
        W=rng.standard_normal((width, d)),
        b=rng.standard_normal(width),
        V=rng.standard_normal((n_classes, width)),
        c=0.3 * rng.standard_normal(n_classes),
    )
    return network, rng.standard_normal(d)


@pytest.mark.parametrize("seed", range(16))
def test_radius_is_the_least_of_all_patterns_of_all_rivals(seed: int, least_over_all_subsets):
    network, x = random_classifier(seed, n_classes=3 + seed % 2)
    own = int(network.predict(x[None, :])[0])
    truths = {
        t: least_over_all_subsets(pair, x, 1.0, level)
        for t in range(network.n_classes)
        if t != own
        for pair, level in [network.difference(own, t)]
    }
    radius = exact_radius(network, x)
    truth = min(truths.values())
    assert check_certificate(radius.certificate, network).holds
    if np.isinf(truth):
        assert radius.upper == np.inf
        assert radius.rival is None
        return
    assert radius.status == "proved"
    assert radius.upper == pytest.approx(truth, rel=2e-6)
    assert radius.lower <= truth * (1 + 1e-8)
    assert truths[radius.rival] == pytest.approx(truth, rel=2e-6)
    logits = network(radius.witness[None, :])[0]
    assert logits[radius.rival] >= logits[own] - 1e-9


@settings(max_examples=25)
@given(seed=seeds)
def test_pruned_search_agrees_with_a_separate_radius_for_every_rival(seed: int):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 7))
    network, x = random_classifier(seed, width=int(rng.integers(1, 25)), d=int(rng.integers(1, 8)), n_classes=n_classes)
    radius = exact_radius(network, x)
    own = int(network.predict(x[None, :])[0])
    assert radius.label == own
    parts = [
        exact_radius(pair, x, label=1.0, level=level)
        for t in range(n_classes)
        if t != own
        for pair, level in [network.difference(own, t)]
    ]
    upper = min(part.upper for part in parts)
    assert radius.lower <= upper * (1 + 1e-9)
    assert radius.upper >= min(part.lower for part in parts) * (1 - 1e-9)
    if all(part.proved for part in parts):
        assert radius.upper == pytest.approx(upper, rel=2e-6)


@settings(max_examples=25)
@given(seed=seeds)
def test_two_classes_have_the_radii_of_the_network_with_one_output(seed: int):
    rng = np.random.default_rng(seed)
    binary = TwoLayer(W=rng.standard_normal((9, 3)), b=rng.standard_normal(9), v=rng.standard_normal(9))
    x = rng.standard_normal(3)
    first, two = exact_radius(binary, x), exact_radius(Classifier.of_two(binary), x)
    assert two.label == (1.0 if first.label > 0 else 0.0)
    assert two.status == first.status
    assert two.upper == pytest.approx(first.upper, rel=2e-6)


def test_point_of_another_class_has_radius_zero():
    network, x = random_classifier(3)
    own = int(network.predict(x[None, :])[0])
    wrong = exact_radius(network, x, label=(own + 1) % 3)
    assert (wrong.status, wrong.upper, wrong.lower) == ("misclassified", 0.0, 0.0)
    assert wrong.rival is not None
    assert check_certificate(wrong.certificate, network).holds


def test_random_steps_within_the_lower_bound_never_change_the_class():
    rng = np.random.default_rng(0)
    for seed in range(12):
        network, x = random_classifier(seed, width=20, d=4, n_classes=5)
        radius = exact_radius(network, x)
        reach = min(radius.lower, 1e3)
        steps = rng.standard_normal((400, 4))
        steps *= reach * (1 - 1e-9) / np.linalg.norm(steps, axis=1)[:, None]
        logits = network(x + steps)
        ahead = logits[:, [int(radius.label)]] - np.delete(logits, int(radius.label), axis=1)
        assert ahead.min() >= -1e-9


def test_batches_workers_and_plain_values_give_the_same(tmp_path):
    network, _ = random_classifier(1, width=15, d=3, n_classes=4)
    X = np.random.default_rng(0).standard_normal((4, 3))
    y = network.predict(X)
    serial = exact_radii(network, X, y, certificate=True)
    parallel = exact_radii(network, X, y, certificate=True, workers=2)
    for first, second, x in zip(serial, parallel, X, strict=True):
        assert (first.lower, first.upper, first.rival) == (second.lower, second.upper, second.rival)
        assert first.upper == exact_radius(network, x).upper
        again = Radius.from_plain(json.loads(json.dumps(first.to_dict(), allow_nan=False)))
        assert isinstance(again.certificate, ClassifierCertificate)
        assert check_certificate(again.certificate, network).holds


def test_forged_certificates_of_classifiers_are_refused():
    network, x = random_classifier(5, width=12, d=3, n_classes=4)
    radius = exact_radius(network, x)
    assert radius.status == "proved"
    proof = radius.certificate
    higher = {t: replace(part, lower=radius.upper * (1 + 1e-6), witness=None) for t, part in proof.proofs.items()}
    missing = {t: part for t, part in proof.proofs.items() if t != radius.rival}
    swapped = dict(zip(proof.proofs, list(proof.proofs.values())[1:] + list(proof.proofs.values())[:1], strict=True))
    own = {**proof.proofs, proof.label: proof.proofs[radius.rival]}
    moved = {**proof.proofs, radius.rival: replace(proof.proofs[radius.rival], point=x + 1.0)}
    for proofs in (higher, missing, swapped, own, moved):
        assert not check_certificate(ClassifierCertificate(label=proof.label, proofs=proofs), network).holds
    other = (proof.label + 1) % 4
    assert not check_certificate(replace(proof, label=other), network).holds
    assert not check_certificate(proof, network.difference(0, 1)[0]).holds
    assert not check_certificate(proof.proofs[radius.rival], network).holds


def test_equal_logits_and_scales_of_every_size():
    network, x = random_classifier(2, n_classes=4)
    plain = exact_radius(network, x)
    for power in (-250, 250):
        scaled = replace(network, V=np.ldexp(network.V, power), c=np.ldexp(network.c, power))
        assert exact_radius(scaled, x).upper == pytest.approx(plain.upper, rel=1e-9)
    same = Classifier(W=[[1.0]], V=[[1.0], [1.0], [0.0]])
    assert exact_radius(same, [1.0]).status == "misclassified"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"label": 3}, "0 to 2"), ({"label": 0.5}, "0.5"), ({"label": -1}, "-1"), ({"level": 1.0}, "level is 1")],
)
def test_bad_questions_are_named(options, sentence):
    network, x = random_classifier(0)
    with pytest.raises(InputError, match=sentence):
        exact_radius(network, x, **options)


@pytest.mark.parametrize(("share", "gap"), [(1e-2, 1e-6), (1e-3, 1e-6), (1e-5, 1e-4)])
def test_points_close_to_their_boundary_have_a_witness_and_bounds_that_meet(share, gap):
    """The witness is moved by a larger share of its short distance until float64 sees it cross.

    At a hundred-thousandth of the way rounding leaves more than the tolerance; bounds are finite and close even so.
    """
    network = Classifier.initialise(60, 30, 4, seed=3)
    for x in np.random.default_rng(3).standard_normal((5, 30)):
        far = exact_radius(network, x)
        near = exact_radius(network, far.witness + share * (x - far.witness), label=far.label)
        assert near.upper - near.lower <= gap * near.upper < np.inf
        assert near.status == "proved" or gap > 1e-6
        assert near.upper <= share * far.upper * (1 + 1e-4)
