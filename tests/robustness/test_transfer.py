"""Transfer of perturbations between networks."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step, one_neuron_per_sample
from marginflow.robustness.explicit_vectors import vys22_vector
from marginflow.robustness.transfer import transfer


def random_networks(seed, d=3, count=3):
    rng = np.random.default_rng(seed)
    return {
        f"net {i}": TwoLayer(W=rng.normal(size=(6, d)), b=rng.normal(size=6), v=rng.normal(size=6))
        for i in range(count)
    }


@pytest.mark.parametrize("signed", [True, False])
def test_rates_are_shares_of_flipped_samples_counted_one_by_one(signed):
    rng = np.random.default_rng(0)
    nets, X, y = random_networks(1), rng.normal(size=(15, 3)), rng.choice([-1.0, 1.0], 15)
    vectors = {"a": rng.normal(size=3), "b": 2 * rng.normal(size=3)}
    found = transfer(nets, X, y, vectors, signed=signed)
    for p, z in enumerate(vectors.values()):
        for q, net in enumerate(nets.values()):
            flips = [yi * net([x + (-yi if signed else 1.0) * z])[0] <= 0 for x, yi in zip(X, y, strict=True)]
            assert found.rates[p, q] == pytest.approx(np.mean(flips))
    np.testing.assert_allclose(found.sizes, [np.linalg.norm(z) for z in vectors.values()])
    np.testing.assert_allclose(found.errors, [np.mean(y * net(X) <= 0) for net in nets.values()])
    assert len(found.rows()) == 6
    assert found.rows()[4]["network"] == "net 1"
    assert found.rows()[4]["flip_rate"] == found.rates[1, 1]


def test_the_vector_of_the_theorem_flips_kkt_networks_of_any_width_and_not_the_robust_one():
    """[VYS22, Sec. 4]: one z, many KKT networks. The closed form of width 2, split into other widths and rescaled."""
    half, d = 50, 400
    m = 2 * half
    X, y = np.sqrt(d) * np.eye(m, d), np.repeat([1.0, -1.0], half)
    lam, s = np.sqrt((half + d) / (half * d * (m + d))), half / (half + d)
    v = np.sqrt(lam * half) * np.array([1.0, -1.0])
    Xt = np.column_stack([X, np.ones(m)])
    up, um = Xt[:half].sum(axis=0), Xt[half:].sum(axis=0)
    W = np.array([v[0] * lam * (up - s * um), v[1] * lam * (s * up - um)])
    pair = TwoLayer(W=W[:, :-1], b=W[:, -1], v=v)
    nets = {
        "2": pair,
        "7": pair.widened(7),
        "30": pair.widened(30).scaled(3.0),
        "robust": one_neuron_per_sample(X, y).network,
    }
    z = vys22_vector(X, y, form="sharp")
    assert z.size < np.sqrt(d) / 2
    found = transfer(nets, X, y, {"z": z.vector})
    np.testing.assert_array_equal(found.rates, [[1.0, 1.0, 1.0, 0.0]])
    np.testing.assert_allclose(found.steps[0, :3] * z.size, np.sqrt(d / m), rtol=1e-9)
    assert found.steps[0, 3] == minimal_step(nets["robust"], X, y, z.vector).all_at_once


def test_the_convention_at_zero_is_followed():
    dead = {"dead": TwoLayer(W=[[1.0]], b=[-10.0], v=[1.0])}
    X, y, z = [[0.0], [1.0]], [1, -1], {"z": [1.0]}
    rates = {
        word: transfer(dead, X, y, z, at_zero=word).rates[0, 0] for word in ("flips", "keeps", "positive", "negative")
    }
    assert rates == {"flips": 1.0, "keeps": 0.0, "positive": 0.5, "negative": 0.5}


def test_bad_input_is_told_in_a_sentence():
    nets = random_networks(0)
    X, y = np.ones((2, 3)), [1, -1]
    with pytest.raises(InputError, match="perturbation 'z' has 2 entries; 3 are expected"):
        transfer(nets, X, y, {"z": [1.0, 2.0]})
    with pytest.raises(InputError, match="There are 0 networks"):
        transfer({}, X, y, {"z": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="direction is zero"):
        transfer(nets, X, y, {"z": np.zeros(3)})
