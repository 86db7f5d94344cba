"""Classifiers: logits, margins, differences, files."""

from dataclasses import replace

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer


@pytest.fixture
def network() -> Classifier:
    rng = np.random.default_rng(0)
    return Classifier(
        W=rng.standard_normal((5, 3)), b=rng.standard_normal(5), V=rng.standard_normal((4, 5)), c=rng.standard_normal(4)
    )


def test_logits_are_the_formula(network):
    X = np.random.default_rng(1).standard_normal((6, 3))
    expected = [network.V @ np.maximum(network.W @ x + network.b, 0.0) + network.c for x in X]
    assert np.allclose(network(X), expected)
    assert (network.predict(X) == np.argmax(expected, axis=1)).all()


def test_margin_is_the_least_difference_and_positive_exactly_where_the_class_is_right(network):
    X = np.random.default_rng(1).standard_normal((20, 3))
    y = np.arange(20) % 4
    margins = network.margins(X, y)
    assert ((margins > 0) == (network.predict(X) == y)).all()
    for own in range(4):
        for rival in range(4):
            if rival != own:
                pair, level = network.difference(own, rival)
                assert np.allclose(pair(X) - level, network(X)[:, own] - network(X)[:, rival])


def test_files_come_back_bit_for_bit_and_torch_names_are_used(network, tmp_path):
    for given in (network, replace(network, c=None), replace(network, b=None)):
        again = Classifier.load(given.save(tmp_path / "net.safetensors"))
        assert again.state_dict().keys() == given.state_dict().keys()
        assert all((array == given.state_dict()[name]).all() for name, array in again.state_dict().items())
    assert set(network.state_dict()) == {"0.weight", "0.bias", "2.weight", "2.bias"}


def test_two_classes_are_the_network_with_one_output():
    rng = np.random.default_rng(0)
    binary = TwoLayer(W=rng.standard_normal((5, 3)), b=rng.standard_normal(5), v=rng.standard_normal(5))
    two, X = Classifier.of_two(binary), rng.standard_normal((7, 3))
    logits = two(X)
    assert np.allclose(logits[:, 1] - logits[:, 0], binary(X))
    assert two.norm_squared() == pytest.approx(binary.norm_squared() / np.sqrt(2.0))


def test_arrays_are_read_only_and_scaling_squares(network):
    with pytest.raises(ValueError, match="read-only"):
        network.V[0, 0] = 1.0
    X = np.ones((1, 3))
    homogeneous = replace(network, c=None)
    assert homogeneous.homogeneous
    assert not network.homogeneous
    assert np.allclose(homogeneous.scaled(3.0)(X), 9.0 * homogeneous(X))
    assert Classifier.initialise(5, 3, 4, seed=1).V.shape == (4, 5)
    assert repr(network) == "Classifier(4 classes, width=5, dimension=3, with bias, with output bias)"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"V": np.ones((4, 3))}, "V has 3 columns"),
        ({"V": np.ones((1, 5))}, "at least two classes"),
        ({"c": np.ones(3)}, "c has 3 entries"),
        ({"b": np.ones(2)}, "b has 2 entries"),
        ({"W": [[np.nan]]}, "finite"),
    ],
)
def test_shapes_that_do_not_fit_are_named(network, change, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(network, **change)
    with pytest.raises(InputError, match="classes are whole numbers from 0 to 3"):
        network.margins(np.ones((1, 3)), [4])
