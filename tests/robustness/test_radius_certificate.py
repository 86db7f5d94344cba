"""Certificates: they hold, they survive plain values, and broken ones are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import least_distance
from marginflow.robustness.radius import ProofStep, RadiusCertificate, check_certificate, exact_radius, quadratic
from marginflow.robustness.radius.result import Radius


def branching_network() -> tuple[TwoLayer, np.ndarray]:
    """A network and a point whose tree has several leaves."""
    rng = np.random.default_rng(33)
    return TwoLayer(W=rng.standard_normal((30, 4)), b=rng.standard_normal(30), v=rng.standard_normal(30)), np.zeros(4)


def dense_network() -> tuple[TwoLayer, np.ndarray]:
    """Many more neurons than dimensions: chords prove little, parabolas are needed."""
    return TwoLayer.initialise(width=80, dimension=20, seed=0), 2.0 * np.random.default_rng(0).standard_normal(20)


@pytest.fixture(scope="module")
def branched() -> tuple[Radius, TwoLayer]:
    network, x = branching_network()
    radius = exact_radius(network, x)
    assert radius.status == "proved"
    assert radius.nodes >= 5
    return radius, network


@pytest.fixture(scope="module")
def curved() -> tuple[Radius, TwoLayer]:
    network, x = dense_network()
    radius = exact_radius(network, x)
    assert radius.status == "proved"
    steps = [step for node in radius.certificate.nodes for step in node.steps]
    assert any(step.curvatures is not None for step in steps)
    return radius, network


def test_certificates_hold_and_say_the_bounds(branched, curved):
    for radius, network in (branched, curved):
        judgement = check_certificate(radius.certificate, network)
        assert judgement.holds
        assert judgement.reason == ""
        assert judgement.lower == radius.lower
        assert judgement.upper == pytest.approx(radius.upper, rel=1e-15)


def test_certificates_survive_json(branched, curved):
    for radius, network in (branched, curved):
        text = json.dumps(radius.certificate.to_dict(), allow_nan=False)
        again = RadiusCertificate.from_plain(json.loads(text))
        assert check_certificate(again, network).holds
        assert again.to_dict() == radius.certificate.to_dict()


def test_infinite_bound_survives_json():
    network = TwoLayer(W=[[1.0], [0.0]], b=[0.0, 1.0], v=[1.0, 1.0])
    radius = exact_radius(network, [0.5])
    assert radius.lower == np.inf
    again = RadiusCertificate.from_plain(json.loads(json.dumps(radius.certificate.to_dict(), allow_nan=False)))
    assert check_certificate(again, network).holds


def test_larger_lower_bound_is_refused(branched, curved):
    for radius, network in (branched, curved):
        raised = replace(radius.certificate, lower=radius.lower * (1 + 1e-5))
        assert not check_certificate(raised, network).holds
        beyond = replace(raised, witness=None)  # without a witness nothing contradicts, but the leaves do not prove it
        assert "exclude" in check_certificate(beyond, network).reason


def test_wrong_witness_is_refused(branched):
    radius, network = branched
    x = radius.point
    near = x + 0.999 * (radius.witness - x)
    assert "above the level" in check_certificate(replace(radius.certificate, witness=near), network).reason
    nowhere = np.full_like(x, np.nan)
    assert not check_certificate(replace(radius.certificate, witness=nowhere), network).holds
    short = replace(radius.certificate, lower=2.0 * radius.upper)
    assert "exceeds" in check_certificate(short, network).reason


def leaves(certificate: RadiusCertificate) -> list[int]:
    return [i for i, node in enumerate(certificate.nodes) if node.split < 0]


def with_node(certificate: RadiusCertificate, index: int, **changes) -> RadiusCertificate:
    nodes = list(certificate.nodes)
    nodes[index] = replace(nodes[index], **changes)
    return replace(certificate, nodes=tuple(nodes))


def test_dropped_leaves_are_noticed(branched):
    radius, network = branched
    certificate = radius.certificate
    for leaf in leaves(certificate):
        parent = next(i for i, node in enumerate(certificate.nodes) if leaf in node.children)
        other = next(child for child in certificate.nodes[parent].children if child != leaf)
        for children in ((other, other), (other, -1), (other, len(certificate.nodes)), (other, 0)):
            broken = with_node(certificate, parent, children=children)
            judgement = check_certificate(broken, network)
            assert not judgement.holds
            assert "missing or occurs twice" in judgement.reason or "exclude" in judgement.reason


def test_leaf_without_its_steps_proves_nothing(branched):
    radius, network = branched
    for leaf in leaves(radius.certificate):
        broken = with_node(radius.certificate, leaf, steps=())
        assert "exclude" in check_certificate(broken, network).reason


def test_changed_multipliers_never_prove_more_and_mostly_less(branched, curved):
    # Any numbers are sound, so a mutation may only weaken; most mutations of the last step must break the proof.
    rng = np.random.default_rng(0)
    refused = tried = 0
    for radius, network in (branched, curved):
        certificate = radius.certificate
        for leaf in leaves(certificate):
            steps = certificate.nodes[leaf].steps
            if not steps:
                continue
            last = steps[-1]
            for _ in range(3):
                noise = 1.0 + 0.2 * rng.standard_normal(last.slopes.size)
                mutated = replace(last, slopes=last.slopes * noise)
                broken = with_node(certificate, leaf, steps=(*steps[:-1], mutated))
                tried += 1
                refused += not check_certificate(broken, network).holds
    assert tried >= 10
    assert refused >= 0.5 * tried


def test_steps_with_foreign_numbers_prove_nothing(branched):
    radius, network = branched
    leaf = leaves(radius.certificate)[0]
    k = radius.certificate.nodes[leaf].steps[-1].slopes.size
    foreign = (
        ProofStep(scale=1.0, slopes=np.full(k, np.nan)),
        ProofStep(scale=-1.0, slopes=np.zeros(k)),
        ProofStep(scale=np.inf, slopes=np.zeros(k)),
        ProofStep(scale=1.0, slopes=np.zeros(k + 1)),
        ProofStep(scale=1.0, slopes=np.full(k, 1e300)),
        ProofStep(scale=1.0, slopes=np.zeros(k), curvatures=np.full(k, np.inf)),
        ProofStep(scale=1.0, slopes=np.zeros(k), curvatures=np.full(k, np.nan)),
        ProofStep(scale=1e300, slopes=np.zeros(k), curvatures=np.full(k, -1e200)),
        *(
            replace(radius.certificate.nodes[leaf].steps[-1], taus=taus)
            for taus in ((), (-1.0, np.nan), (np.inf, 1e308))
        ),
    )
    for step in foreign:
        broken = with_node(radius.certificate, leaf, steps=(step,))
        assert "exclude" in check_certificate(broken, network).reason


def test_curvature_that_is_not_convex_proves_nothing(curved):
    radius, network = curved
    certificate = radius.certificate
    k = certificate.nodes[0].steps[0].slopes.size
    step = ProofStep(scale=1.0, slopes=np.zeros(k), curvatures=np.full(k, -1e3))
    broken = replace(certificate, nodes=(replace(certificate.nodes[0], steps=(step,), split=-1),))
    assert not check_certificate(broken, network).holds


def test_certificate_of_another_network_is_refused(branched):
    radius, network = branched
    # A neuron that is dead in the whole ball does not matter, so take the one that says most at the point.
    j = int(np.argmax(np.maximum(network.preactivations(radius.point[None, :])[0], 0.0) * np.abs(network.v)))
    changed = TwoLayer(W=network.W, b=network.b, v=np.where(np.arange(30) == j, -network.v, network.v))
    assert not check_certificate(radius.certificate, changed).holds
    slightly = TwoLayer(W=network.W * (1 + 1e-3), b=network.b, v=network.v)
    assert not check_certificate(radius.certificate, slightly).holds
    assert "shape" in check_certificate(radius.certificate, TwoLayer(W=np.eye(4), v=np.ones(4))).reason


def test_wrong_grouping_of_neurons_is_refused(branched):
    radius, network = branched
    certificate = radius.certificate
    groups = certificate.groups.copy()
    groups[groups == 1] = 0  # neurons that are not parallel
    assert not check_certificate(replace(certificate, groups=groups), network).holds
    assert not check_certificate(replace(certificate, groups=np.full_like(groups, -1)), network).holds
    assert not check_certificate(replace(certificate, groups=groups[::-1]), network).holds
    # Only which neurons share a group counts, not what the groups are called.
    assert check_certificate(replace(certificate, groups=3 * certificate.groups + 5), network).holds


def test_other_forms_are_bad_input(branched):
    plain = branched[0].certificate.to_dict()
    with pytest.raises(InputError, match="format"):
        RadiusCertificate.from_plain({**plain, "format": "something else"})
    for key in ("point", "nodes", "witness"):
        with pytest.raises(InputError):
            RadiusCertificate.from_plain({k: v for k, v in plain.items() if k != key})
    with pytest.raises(InputError):
        RadiusCertificate.from_plain({**plain, "nodes": [{"steps": 3}]})
    for key, value in (("units", []), ("units", [1e400, 0]), ("groups", [2**70]), ("label", 10**400)):
        with pytest.raises(InputError, match="not of the expected form"):
            RadiusCertificate.from_plain({**plain, key: value})


def garbage(rng: np.random.Generator):
    def multipliers(gram: np.ndarray, h: np.ndarray, start: np.ndarray, **_: float) -> np.ndarray:
        return np.where(rng.random(h.size) < 0.2, np.nan, 1e3 * rng.standard_normal(h.size))

    return multipliers


def test_quadratic_program_that_returns_garbage_cannot_prove_anything_false(branched, monkeypatch):
    radius, network = branched
    monkeypatch.setattr(least_distance, "active_set", garbage(np.random.default_rng(0)))
    broken = exact_radius(network, radius.point, max_nodes=60)
    assert broken.lower <= radius.upper * (1 + 1e-9)
    assert broken.upper >= radius.lower * (1 - 1e-9)
    assert check_certificate(broken.certificate, network).holds


def test_newton_steps_that_are_garbage_cannot_prove_anything_false(curved, monkeypatch):
    radius, network = curved
    rng = np.random.default_rng(0)

    def direction(node, at, T, nu, damping):
        return rng.standard_normal(), rng.standard_normal(at.A.size), rng.standard_normal(at.q.size)

    monkeypatch.setattr(quadratic, "_direction", direction)
    broken = exact_radius(network, radius.point, max_nodes=30)
    assert broken.lower <= radius.upper * (1 + 1e-9)
    assert check_certificate(broken.certificate, network).holds


def test_unfinished_searches_have_certificates_too():
    network, x = branching_network()
    full = exact_radius(network, x)
    for nodes in (1, 2, 4):
        part = exact_radius(network, x, max_nodes=nodes)
        assert part.lower <= full.upper
        assert part.upper >= full.lower
        judgement = check_certificate(part.certificate, network)
        assert judgement.holds
        assert judgement.lower == part.lower
