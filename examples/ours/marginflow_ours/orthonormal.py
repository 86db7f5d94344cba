r"""[OURS, Theorem 1]: KKT points with biases on orthonormal samples.

For a neuron with v_j > 0 let beta_j = b_j / v_j. Stationarity makes its pre-activation v_j (beta_j + lambda_i
sigma'_ij) on a positive sample and v_j (beta_j - lambda_r sigma'_rj) on a negative one. If beta_j < 0, no negative
sample is active and beta_j is a sum of non-negative terms; so beta_j >= 0, and = 0 only for a zero neuron. If beta_j
> 0, every positive sample is active and a negative one is active or on the kink: beta_j = sum_+ lambda_i - sum_-
min(beta_j, lambda_r), which has one solution. So all neurons of one sign are parallel, and the margins of a class are
increasing in their own multipliers, which are therefore equal. The two equations that are left give sum_j v_j b_j =
(q - k)/(1 + m).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from marginflow.data import Dataset
from marginflow.limit import convex_pair
from marginflow.theory.frame import Findings, Instance, at_least, equal, is_kkt_point, stated, undefined, value

_SAME = 1e-7


@cache
def _pair(positive: int, negative: int, cosine: float) -> Instance:
    """The best pair of neurons on unit samples with one cosine between any two, in dimension m."""
    m = positive + negative
    gram = (1 - cosine) * np.eye(m) + cosine
    X = np.linalg.cholesky(gram)
    y = np.where(np.arange(m) < positive, 1.0, -1.0)
    point = convex_pair(Dataset(X=X, y=y)).widened(6)
    name = f"a KKT point of width 6 on {positive} positive and {negative} negative unit samples at cosine {cosine:g}"
    mu = point.multipliers[:, None] * point.clarke
    return Instance(name=name, network=point.network, data=point.data, multipliers=(point.multipliers, mu))


@stated(
    id="OURS/Thm1",
    meaning="On orthonormal samples every KKT point with biases has sum v_j b_j = (q - k)/(1 + m), whatever its width.",
    formula=r"x_i \cdot x_j = \delta_{ij} \implies \sum_j v_j b_j = \frac{q - k}{1 + m}, \quad "
    r"\lambda_i = \lambda_{i'} \text{ where } y_i = y_{i'}, \quad \frac{(w_j, b_j)}{v_j} = \frac{(w_l, b_l)}{v_l} "
    r"\text{ where } v_j v_l > 0",
    needs=("network", "data"),
    example=lambda: _pair(6, 3, 0.0),
    control=lambda: _pair(6, 3, 0.3),
    control_shows="samples at a cosine of 0.3 have a KKT point with another sum of v_j b_j",
)
def theorem_1(instance: Instance) -> Findings:
    """The bias at the origin, the multipliers of each class, and the directions of the neurons of one sign."""
    data = instance.the_data()
    gram = data.X @ data.X.T
    hypotheses = (
        equal("<x_i, x_j> = 1 if i = j, else 0", gram, np.eye(data.n_samples), scale=1.0),
        at_least("both labels, samples of the rarer one", min((data.y > 0).sum(), (data.y < 0).sum()), 1),
        is_kkt_point(instance),
    )
    certificate = instance.certificate
    network = certificate.network
    if network.b is None or certificate.multipliers is None or certificate.multipliers.size != data.n_samples:
        return undefined(hypotheses, "a network with biases and multipliers is needed")
    q, k = int((data.y > 0).sum()), int((data.y < 0).sum())
    live = np.abs(network.v) > _SAME * np.abs(network.v).max()
    ratios = np.column_stack([network.W, network.b])[live] / network.v[live, None]
    apart = [np.ptp(ratios[network.v[live] * sign > 0], axis=0).max(initial=0.0) for sign in (1, -1)]
    spread = [np.ptp(certificate.multipliers[data.y == sign]) for sign in (1, -1) if (data.y == sign).any()]
    largest = float(certificate.multipliers.max())
    return Findings(
        hypotheses=hypotheses,
        constants=(value("positive samples q", q), value("negative samples k", k), value("live neurons", live.sum())),
        claims=(
            equal("sum v_j b_j", float(network.v @ network.b), (q - k) / (1 + q + k), scale=1.0, tolerance=_SAME),
            equal("spread of the multipliers of a class", spread, 0.0, scale=largest, tolerance=_SAME),
            equal("spread of (w_j, b_j)/v_j of one sign", apart, 0.0, scale=np.abs(ratios).max(), tolerance=_SAME),
        ),
    )
