"""Steps along rays for K classes, and certified accuracy: against evaluation and against counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.networks import Classifier
from marginflow.robustness import exact_radii, minimal_step
from marginflow.robustness.accuracy import accuracy_of_radii, certified_accuracy
from marginflow.robustness.class_steps import class_steps
from marginflow.robustness.class_universal import universal_change


def case(seed: int) -> tuple[Classifier, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    K, width, d = int(rng.integers(2, 6)), int(rng.integers(1, 12)), int(rng.integers(1, 5))
    network = Classifier(
        W=rng.standard_normal((width, d)),
        b=rng.standard_normal(width),
        V=rng.standard_normal((K, width)),
        c=rng.standard_normal(K),
    )
    return network, rng.standard_normal((6, d)), rng.standard_normal(d)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_the_class_changes_at_the_step_and_not_before(seed: int):
    network, X, e = case(seed)
    own = network.predict(X)
    steps = class_steps(network, X, own, e)
    for x, y, first, rival in zip(X, own, steps.first, steps.rival, strict=True):
        reach = first if np.isfinite(first) else 1e4
        before = network(x + np.linspace(0.0, 1.0, 200)[:, None] * (reach * (1 - 1e-9)) * e)
        ahead = before[:, [y]] - np.delete(before, y, axis=1)
        assert ahead.min() >= -1e-9 * (1.0 + np.abs(before).max())
        if np.isfinite(first):
            at = network((x + first * e)[None, :])[0]
            assert at[rival] == pytest.approx(at[y], abs=1e-9 * (1.0 + np.abs(at).max()))
        else:
            assert rival == -1


def test_two_classes_are_the_signed_network():
    network, X, e = case(3)
    pair, _ = network.difference(0, 1)
    two = Classifier(W=network.W, b=network.b, V=np.stack([np.zeros(network.width), pair.v]))
    y = np.where(pair(X) > 0, 1.0, -1.0)
    expected = minimal_step(pair, X, y, e, signed=False).first
    assert np.allclose(class_steps(two, X, (y > 0).astype(int), e).first, expected)


def test_shares_grow_from_those_that_are_wrong_already():
    network, X, e = case(8)
    steps = class_steps(network, X, np.zeros(6), e)
    rows = steps.rows()
    assert rows[0] == {"size": 0.0, "share": float(steps.already.mean())}
    assert [row["share"] for row in rows] == sorted(row["share"] for row in rows)
    target = class_steps(network, X, None, e, towards=1)
    assert (target.first >= class_steps(network, X, None, e).first).all()


def test_certified_accuracy_counts_radii():
    network, X, _ = case(11)
    y = network.predict(X)
    y[0] = (y[0] + 1) % network.n_classes
    curve = certified_accuracy(network, X, y)
    radii = exact_radii(network, X, y)
    assert curve.accuracy == pytest.approx(5 / 6)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
        certified, possible = curve.at(epsilon)
        right = [radius for radius in radii if radius.status != "misclassified"]
        assert certified == sum(radius.lower >= epsilon for radius in right) / 6
        assert possible == sum(radius.upper >= epsilon for radius in right) / 6
    assert curve.to_csv().startswith("epsilon,certified,possible\n0.0,")
    assert accuracy_of_radii(radii).rows() == curve.rows()


def test_no_vector_is_needed_where_enough_is_wrong_already():
    network, X, _ = case(11)
    wrong = (network.predict(X) + 1) % network.n_classes
    own = np.where(np.arange(len(X)) < 3, wrong, network.predict(X))
    found = universal_change(network, X, own, share=0.5)
    assert not found.vector.any()
    assert (found.upper, found.lower, found.changed.sum()) == (0.0, 0.0, 3)
    assert set(found.shares) == {0.5}
    assert universal_change(network, X, own, share=0.6).upper > 0.0
    steps = class_steps(network, X, own, found.vector)
    np.testing.assert_array_equal(np.sort(steps.sizes), [0.0, 0.0, 0.0, np.inf, np.inf, np.inf])


@pytest.mark.parametrize("seed", [18, 21, 25, 26, 44])
def test_one_vector_for_a_share_is_kept_to_the_last_bit(seed: int):
    # At the border another rounding of the same vector changes one sample less, and the vector was given up.
    rng = np.random.default_rng(seed)
    network = Classifier(W=rng.standard_normal((6, 3)), V=rng.standard_normal((3, 6)))
    X = rng.standard_normal((8, 3))
    found = universal_change(network, X, share=0.25)
    assert found.upper < np.inf
    assert (network.predict(X + found.vector) != network.predict(X)).sum() >= 2


def test_radii_of_a_class_that_nothing_changes_are_infinite():
    network = Classifier(W=[[1.0, 0.0]], V=[[0.0], [0.0]], c=[2.0, 1.0])
    found = universal_change(network, np.eye(2), radii=[np.inf, 0.5])
    assert (found.upper, found.lower) == (np.inf, np.inf)
