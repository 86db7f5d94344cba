"""foolbox adapter: two logits whose difference is N, and foolbox's attacks against ours on the same points."""

from __future__ import annotations

import numpy as np
import pytest
from rival_attacks import convex_concave

torch = pytest.importorskip("torch", reason="the foolbox adapter needs torch, which is not installed")

from marginflow.errors import InputError  # noqa: E402
from marginflow.interop.foolbox import perturbations, to_foolbox, to_inputs, to_logits  # noqa: E402
from marginflow.networks import TwoLayer  # noqa: E402
from marginflow.robustness.lower_bounds import parabola_bound  # noqa: E402


def case(seed=0):
    rng = np.random.default_rng(seed)
    net = TwoLayer(W=rng.normal(size=(20, 6)), b=rng.normal(size=20), v=rng.normal(size=20))
    X = rng.normal(size=(8, 6))
    return net, X, np.where(net(X) < 0, -1.0, 1.0)


def test_the_difference_of_the_logits_is_the_network_in_value_and_gradient():
    net, X, y = case()
    module = to_logits(net)
    points, classes = to_inputs(X, y)
    points.requires_grad_(True)
    out = module(points)
    assert out.shape == (8, 2)
    assert out.dtype == torch.float64
    difference = out[:, 1] - out[:, 0]
    np.testing.assert_allclose(difference.detach().numpy(), net(X), rtol=1e-13)
    difference.sum().backward()
    active = net.preactivations(X) > 0
    np.testing.assert_allclose(points.grad.numpy(), (active * net.v) @ net.W, rtol=1e-12)
    np.testing.assert_array_equal(out.argmax(dim=1).numpy(), classes.numpy())
    np.testing.assert_array_equal(classes.numpy(), (y > 0).astype(int))


def test_bad_input_is_told_in_a_sentence():
    net, X, _ = case()
    pytest.importorskip("foolbox", reason="foolbox is not installed")
    with pytest.raises(InputError, match=r"bounds is \(1, 0\)"):
        to_foolbox(net, bounds=(1.0, 0.0))
    with pytest.raises(InputError, match="The adversarials have shape"):
        perturbations(torch.zeros(2, 2), X)


@pytest.mark.filterwarnings("ignore")  # foolbox and eagerpy are not ours to keep quiet
def test_attacks_of_foolbox_flip_our_network_and_respect_our_bounds():
    foolbox = pytest.importorskip("foolbox", reason="foolbox is not installed")
    net, X, y = case()
    points, classes = to_inputs(X, y)
    ours, lower = convex_concave(net, X, y).sizes, parabola_bound(net, X, y).radii
    for attack in (foolbox.attacks.L2DeepFoolAttack(), foolbox.attacks.DDNAttack(steps=300)):
        _, moved, success = attack(to_foolbox(net), points, classes, epsilons=None)
        delta = perturbations(moved, X)
        flipped = np.asarray(success)
        assert flipped.any()
        assert (y * net(X + delta))[flipped].max() <= 1e-9
        sizes = np.linalg.norm(delta, axis=1)
        assert (sizes[flipped] >= lower[flipped] * (1 - 1e-9)).all()
        assert (ours[flipped] <= sizes[flipped] * 1.02).all()
