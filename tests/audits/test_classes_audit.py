"""Audits of classifiers with more than two classes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import marginflow as mf
from marginflow.audits.classes import logit_numbers
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.plain import to_plain
from marginflow.report import write
from marginflow.report.results import NamedResult, page_of_results
from marginflow.report.results.kinds import kind_of, summarise
from marginflow.robustness.class_universal import universal_change


def kkt_point_of_three() -> tuple[Classifier, Dataset]:
    """Every neuron explains one sample."""
    V = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
    return Classifier(W=np.sqrt(6.0) * np.eye(3), V=V), Dataset(np.eye(3), ["a", "b", "c"])


def random_case(seed: int = 0, *, output_bias: bool = False) -> tuple[Classifier, Dataset]:
    rng = np.random.default_rng(seed)
    network = Classifier(
        W=rng.normal(size=(8, 3)),
        b=rng.normal(size=8),
        V=rng.normal(size=(4, 8)),
        c=rng.normal(size=4) if output_bias else None,
    )
    X = rng.normal(size=(30, 3))
    return network, Dataset(X, np.append(network.predict(X)[:-4], [0, 1, 2, 3]))


def test_a_kkt_point_is_called_one_and_its_radii_are_proved():
    network, data = kkt_point_of_three()
    found = mf.audit(network, data)
    assert found.is_kkt_point
    assert found.wrong == 0
    assert all(checked.settled for checked in found.radii)
    assert "is a KKT point of the multi-class max-margin problem" in found.verdict
    lowest = min(checked.upper for checked in found.radii)
    assert lowest == pytest.approx(np.sqrt(0.5), rel=1e-6)  # half way to another corner


def test_with_output_biases_there_are_no_kkt_conditions_and_the_rest_is_said():
    network, data = random_case(output_bias=True)
    found = mf.audit(network, data, points=3)
    assert found.certificate is None
    assert not found.is_kkt_point
    assert "has output biases, so that it is not homogeneous" in found.verdict
    assert len(found.radii) == 3


def test_the_certified_accuracy_counts_the_radii_drawn():
    network, data = random_case()
    found = mf.audit(network, data, points=12)
    radii = [checked.lower for checked in found.radii if checked.status != "misclassified"]
    assert found.accuracy is not None
    epsilon = float(np.median(radii))
    assert found.accuracy.at([epsilon])[0][0] == sum(r >= epsilon for r in radii) / 12


def test_the_page_has_the_sections_of_an_audit_of_classes(tmp_path):
    network, data = random_case()
    record = to_plain(mf.audit(network, data, points=2).to_dict())
    result = NamedResult(name="net", content=record)
    assert kind_of(result) == "audit of classes"
    page = page_of_results([result], title="Audit", command="", versions={})
    write(page, tmp_path / "audit.html")
    html = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "One vector for all samples" in html
    assert "Certified accuracy" in html


def test_the_drawn_accuracy_is_nowhere_more_than_the_certified():
    network, data = random_case()
    found = mf.audit(network, data, points=6)
    summary = summarise(NamedResult(name="net", content=to_plain(found.to_dict())))
    (chart,) = (chart for chart in summary.charts if chart.title == "Certified accuracy")
    corners = [row[:2] for row in chart.numbers.rows]
    inside = [((a + b) / 2, share) for (a, share), (b, other) in pairwise(corners) if share == other and a < b]
    sizes, shares = zip(*inside, strict=True)
    assert found.accuracy.at(sizes)[0].tolist() == list(shares)


def test_labels_are_matched_by_order_or_by_their_numbers():
    X = np.zeros((4, 2))
    assert logit_numbers(Dataset(X, ["x", "z", "y", "x"]), 3).tolist() == [0, 2, 1, 0]
    assert logit_numbers(Dataset(X, [3, 8, 3, 8]), 10).tolist() == [3, 8, 3, 8]
    with pytest.raises(InputError, match=r"2 classes 3, 80, but the network has 10 logits"):
        logit_numbers(Dataset(X, [3, 80, 3, 80]), 10)


def test_a_start_is_refused_with_more_than_two_classes():
    network, data = kkt_point_of_three()
    with pytest.raises(InputError, match="start is for two classes, but the network has 3"):
        mf.audit(network, data, start=TwoLayer(W=np.eye(3), v=np.ones(3)))


def test_one_vector_changes_all_samples_and_none_below_the_bound_does():
    network, _ = random_case()
    X = np.random.default_rng(5).normal(size=(20, 3))
    own = network.predict(X)
    radii = [radius.lower for radius in mf.robustness.exact_radii(network, X)]
    found = universal_change(network, X, share=0.5, radii=radii)
    assert found.vector is not None
    assert (network.predict(X + found.vector) != own).mean() >= 0.5
    assert found.lower == pytest.approx(np.sort(radii)[9])
    assert found.lower <= found.upper
    rng = np.random.default_rng(0)
    for _ in range(50):
        z = rng.normal(size=3)
        z *= 0.999 * found.lower / np.linalg.norm(z)
        assert (network.predict(X + z) != own).mean() < 0.5


def test_the_share_changed_at_a_size_is_what_the_multiple_changes():
    network, _ = random_case()
    X = np.random.default_rng(5).normal(size=(20, 3))
    own = network.predict(X)
    found = universal_change(network, X, share=0.5)
    assert found.vector is not None
    for size, share in zip(found.sizes, found.shares, strict=True):
        moved = X + size / found.upper * found.vector
        assert (network.predict(moved) != own).mean() == pytest.approx(share)


def test_the_page_begins_with_the_finding_that_one_would_forward():
    network, data = random_case(output_bias=True)
    found = mf.audit(network, data, points=3)
    page = page_of_results(
        [NamedResult(name="a", content=to_plain(found.to_dict()))], title="A", command="c", versions={}
    )
    assert page.verdict == found.headline
    assert "homogeneous" not in page.verdict
    assert "homogeneous" in page.remark
    assert f"{30 - found.wrong} of 30 samples right" in page.remark


def test_headline_says_the_least_and_the_median_of_the_distances_drawn():
    network, data = kkt_point_of_three()
    whole = mf.audit(network, data)
    found = replace(whole, universal=replace(whole.universal, vector=None, lower=0.5, upper=np.inf))
    sizes = sorted(checked.upper for checked in found.radii)
    assert f"shorter than {sizes[0]:.3g}; half of them lose it within {sizes[1]:.3g}." in found.headline
    assert "none shorter than 0.5 does" in found.standing


def test_a_network_that_is_wrong_everywhere_needs_no_vector(tmp_path):
    network, data = random_case()
    wrong = Dataset(data.X, (network.predict(data.X) + 1) % 4, classes=(0, 1, 2, 3))
    found = mf.audit(network, wrong, points=2)
    assert found.headline == "Every one of the 30 samples is on the wrong side already."
    assert (found.universal.upper, found.wrong) == (0.0, 30)
    result = NamedResult(name="audit", content=to_plain(found.to_dict()))
    write(page_of_results([result], title="Audit", command="", versions={}), tmp_path / "audit.html")
    assert "on the wrong side already" in (tmp_path / "audit.html").read_text(encoding="utf-8")
