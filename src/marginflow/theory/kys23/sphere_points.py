"""KKT points on the noisy sphere that the statements of [KYS23, Section 4] are shown on; made once and kept."""

from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.data import Dataset, GramReduction, NoisySphere
from marginflow.limit import convex_pair, kkt_point
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.theory.frame import Instance
from marginflow.theory.instances import at_limit, at_point, frozen_limit


@cache
def noisy_data(m: int, k: int, d: int, seed: int = 0) -> tuple[GramReduction, Dataset]:
    """m samples of the noisy sphere, exactly k of them negative, in reduced coordinates; and their law."""
    law = GramReduction(NoisySphere(dimension=d, p=k / m, count="exact"))
    return law, law.sample(m, seed=seed)


@cache
def pair_point(m: int, k: int, d: int, seed: int = 0) -> Instance:
    """The exact pair: one positive and one negative neuron, outputs trained."""
    law, data = noisy_data(m, k, d, seed)
    return at_point(convex_pair(data), f"the exact pair on {m} samples, {k} negative, d = {d:.3g}", law=law)


def near_pair(data: Dataset, width: int, *, seed: int = 0) -> TwoLayer:
    r"""Neurons with frozen outputs +1 and -1 near the closed form on orthonormal samples.

    .. math:: (w, b)_\pm \propto \sum_{I_\pm} (1 + |I_\mp|) \tilde x_i - \sum_{I_\mp} |I_\pm| \tilde x_i

    Training from small random weights kills the negative neurons in the first steps and never fits the noisy samples;
    a start that is aligned does not.
    """
    rng = np.random.default_rng(seed)
    plus = data.y > 0
    q, k = int(plus.sum()), int((~plus).sum())
    T = augmented_samples(data.X, bias=True)
    up = np.where(plus, 1 + k, -q) @ T / (1 + q + k)
    down = np.where(plus, -k, 1 + q) @ T / (1 + q + k)
    v = np.repeat([1.0, -1.0], width // 2)
    A = np.where(v[:, None] > 0, up, down)
    W = A[:, :-1] + 0.01 * rng.standard_normal((v.size, data.dimension))
    return TwoLayer(W=W, b=A[:, -1], v=v, outputs="frozen")


@cache
def frozen_point(m: int, n: int, k: int, d: int, seed: int = 0) -> Instance:
    """A KKT point with n frozen outputs +1 and -1, half of each, on m samples of which k are negative."""
    law, data = noisy_data(m, k, d, seed)
    limit = kkt_point(data, start=near_pair(data, n, seed=seed))
    return at_limit(limit, data, f"{n} frozen outputs, {m} samples, {k} negative, d = {d:.3g}", law=law)


@cache
def frozen_low() -> Instance:
    """A KKT point with 20 frozen outputs on 12 samples in dimension 3, far from orthogonal."""
    law = NoisySphere(dimension=3, p=0.25, count="exact")
    data = law.sample(12)
    small = TwoLayer.initialise(20, 3, scale=0.01, outputs="frozen", seed=0)
    limit = kkt_point(data, start=replace(small, v=np.repeat([1.0, -1.0], 10)))
    return at_limit(limit, data, "20 frozen outputs on 12 samples in dimension 3", law=law)


@cache
def frozen_close() -> Instance:
    """A KKT point with two frozen outputs on two opposite samples at an angle of 0.1: lambda is about 1/0.1^2."""
    law = NoisySphere(dimension=2, p=0.4)
    data = Dataset(X=np.array([[1.0, 0.0], [np.cos(0.1), np.sin(0.1)]]), y=np.array([1.0, -1.0]))
    return at_limit(frozen_limit(data), data, "two opposite samples at an angle of 0.1", law=law)


@cache
def trained_point(m: int, k: int, d: int, width: int, seed: int = 0, *, bias: bool = True) -> Instance:
    """A KKT point near which gradient flow from small weights goes, outputs trained."""
    law, data = noisy_data(m, k, d, seed)
    limit = kkt_point(data, width=width, bias=bias, seed=seed)
    neurons = f"{width} neurons (seed {seed})" if bias else f"{width} neurons without bias"
    return at_limit(limit, data, f"{neurons}, {m} samples, {k} negative, d = {d:.3g}", law=law)
