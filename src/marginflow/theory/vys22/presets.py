r"""Instances that the statements of [VYS22] share: what satisfies the hypotheses, and what must not."""

from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from marginflow.data import Dataset, Sphere
from marginflow.limit import ClosedForm, orthogonal
from marginflow.robustness import one_neuron_per_sample
from marginflow.theory.frame import Instance
from marginflow.theory.instances import at_point, changed, frozen_pair, gram_point, orthogonal_point, unbalanced

ORTHOGONAL: Final = (100, 32)
"""d and m of the preset on which most lemmas are shown: m <= (d + 1) / 3, 16 samples of each class."""


def orthogonal_preset(width: int = 2) -> Instance:
    """The closed form on 32 orthogonal samples in dimension 100."""
    return orthogonal_point(*ORTHOGONAL, width=width)


def gram_preset() -> Instance:
    """The exact pair on 10 samples in dimension 100 with all inner products 2."""
    return gram_point(100, 10, 2.0)


def random_samples(n_samples: int, dimension: int) -> Instance:
    """Samples drawn at random from the sphere, with both labels and without a network."""
    data = Sphere(dimension=dimension, labels="both").sample(n_samples)
    return Instance(name=f"{n_samples} random samples in dimension {dimension}", data=data)


@cache
def robust_control() -> Instance:
    """The robust network of Theorem 3.1 on the orthogonal preset: margins 1, robust, and not a KKT point."""
    data = orthogonal_preset().the_data()
    made = one_neuron_per_sample(data.X, data.y)
    return Instance(name="the robust network of Theorem 3.1", network=made.network, data=data)


def one_signed() -> Instance:
    """A network whose outputs are all positive cannot fit a negative label, whatever its weights."""
    name = "the orthogonal preset with positive outputs only"
    return changed(orthogonal_preset(), name, lambda network: replace(network, v=np.abs(network.v)))


@cache
def unbalanced_control() -> Instance:
    """The function of the orthogonal preset with v a tenth and (w, b) ten times as large: not a KKT point."""
    name = "the orthogonal preset with unbalanced neurons"
    return changed(orthogonal_preset(), name, lambda network: unbalanced(network, 0.1))


@cache
def frozen_orthogonal() -> Instance:
    r"""The closed form with frozen outputs v = +1, -1 on the samples of the orthogonal preset.

    .. math:: w_+ = a_+ \sum_{I_+} x_i - \beta_+ \sum_{I_-} x_i, \quad a_+ = \frac{d + n_-}{d(d + m)}, \quad
              \beta_+ = \frac{n_+}{d(d + m)}, \quad \lambda_i = a_{y_i}, \quad \sigma'_{i+} = \frac{n_+}{d + n_+}

    for i in I-: the directions u_j of the trained closed form, with multipliers and Clarke weights of their own.
    """
    data = orthogonal_preset().the_data()
    (d, m), plus = ORTHOGONAL, data.y > 0
    n_plus = int(plus.sum())
    n_minus = m - n_plus
    point = ClosedForm(
        network=frozen_pair(orthogonal(data).network),
        data=data,
        multipliers=np.where(plus, d + n_minus, d + n_plus) / (d * (d + m)),
        clarke=np.column_stack(
            [np.where(plus, 1.0, n_plus / (d + n_plus)), np.where(plus, n_minus / (d + n_minus), 1.0)]
        ),
        source="VYS22/X.orthKKT, outputs frozen",
    )
    return at_point(point, f"the closed form with outputs +1, -1 on {m} orthogonal samples in dimension {d}")


@cache
def frozen_robust() -> Instance:
    """The robust network of Theorem 3.1 with its outputs +1, -1 frozen: still not a KKT point."""
    name = "the robust network of Theorem 3.1, outputs frozen"
    return changed(robust_control(), name, lambda network: replace(network, outputs="frozen"))


@cache
def with_longer_samples(*factors: float) -> Instance:
    """The orthogonal preset with extra samples a x_i of the same label, a in `factors`: off the margin, lambda = 0.

    The multiples make clusters and other norms; y N(a x) = a - (a - 1) (m/2) / (d + m), 1.44 at a = 1.5 and 2.76 at 3.
    """
    point = orthogonal_preset()
    data = point.the_data()
    assert point.multipliers is not None
    lam, mu = (np.asarray(part) for part in point.multipliers)
    count = len(factors)
    chosen = np.arange(count) * (data.n_samples // max(count, 1)) % data.n_samples
    extra = np.asarray(factors)[:, None] * data.X[chosen]
    longer = Dataset(X=np.vstack([data.X, extra]), y=np.append(data.y, data.y[chosen]))
    multipliers = (np.append(lam, np.zeros(count)), np.vstack([mu, np.zeros((count, 2))]))
    named = ", ".join(f"{factor:g}" for factor in factors)
    name = f"the orthogonal preset with extra samples at {named} times others"
    return point.but(name=name, data=longer, multipliers=multipliers)
