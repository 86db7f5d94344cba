r"""[FCB22, Proposition B.1] The Rademacher complexity of networks with bounded weights, against its exact value."""

import math
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from marginflow.data import UniformNoise, XorClusters
from marginflow.generalisation.rademacher import Complexity, rademacher_complexity
from marginflow.networks import TwoLayer
from marginflow.networks.initialisation import unit_outputs
from marginflow.theory.fcb22.measures import quotient
from marginflow.theory.frame import Check, Erratum, Findings, Instance, above, equal, stated, value

_ASCENT_STEPS: Final = 20


def _lower_bound(X: np.ndarray, a: np.ndarray, R: float, draws: int, seed: int) -> float:
    """Any W gives a lower bound: a few steps of w <- normalised gradient, from every sample's direction, per side."""
    rng = np.random.default_rng(seed)
    A = np.array([(a[a > 0] ** 2).sum(), (a[a < 0] ** 2).sum()])
    total = 0.0
    for _ in range(draws):
        eps = rng.choice([1.0, -1.0], size=X.shape[0])
        best = np.zeros(2)
        for side, sign in enumerate((1.0, -1.0)):
            w = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
            for _ in range(_ASCENT_STEPS):
                U = w @ X.T
                best[side] = max(best[side], float((sign * np.maximum(U, 0.0) @ eps).max()))
                g = ((U > 0) * (sign * eps)) @ X
                norms = np.linalg.norm(g, axis=1, keepdims=True)
                w = np.where(norms > 0, g / np.maximum(norms, 1e-300), w)
        total += math.sqrt(float((best**2 * A).sum()))
    return float(R / X.shape[0] * total / draws)


@cache
def plane_instance(n: int = 10, *, factor: float = 1.0, dimension: int = 2) -> Instance:
    """XOR clusters in the plane and eight neurons with outputs +-factor/sqrt(8)."""
    law = XorClusters(dimension=dimension, sigma=0.2 / math.sqrt(dimension), noise=UniformNoise(rate=0.15))
    network = TwoLayer(W=np.zeros((8, dimension)), v=factor * unit_outputs(8), outputs="frozen")
    return Instance(name=f"{n} samples in dimension {dimension}", network=network, data=law.sample(n))


@stated(
    id="FCB22/PropB.1",
    meaning="Networks with ||W||_F <= R have Rademacher complexity at most 2 R sqrt(E|x|^2 / n); exact in the plane.",
    formula=r"\mathfrak{R}(\mathcal{F}_R) \le \frac{2 R \sqrt{E \|x\|^2}}{\sqrt{n}}, \quad "
    r"\hat{\mathfrak{R}} = \frac{R}{n} E_\varepsilon \sqrt{\tfrac12 (G_+^2 + G_-^2)}, \; "
    r"G_\pm = \sup_{\|w\| \le 1} \pm \sum_i \varepsilon_i \phi(\langle w, x_i \rangle)",
    parameters={"R": "radius, 1 by default", "draws": "sign vectors beyond 12 samples, 400 by default"},
    example=plane_instance,
    control=lambda: replace(plane_instance(factor=8.0), name="outputs eight times as large"),
    control_shows="outputs of +-8/sqrt(m): the class is eight times as large, and the bound fails",
    sharp=r"\hat{\mathfrak{R}} \approx 0.3 \cdot \frac{2 R \sqrt{E \|x\|^2}}{\sqrt{n}} \text{ on XOR clusters}",
    remark="Beyond the plane only a lower bound is known.",
    errata=Erratum.slip(
        "Outputs are random signs there and fixed, balanced ones in the paper (any |a_j| = 1/sqrt(m) will "
        "do); an inner sum to n should be to m, and s is written for epsilon."
    ),
)
def proposition_b_1(instance: Instance) -> Findings:
    """Conditional on the sample, which is stronger: 2 R sqrt(sum |x_i|^2) / n."""
    X, a = instance.the_data().X, instance.the_network().v
    R = instance.number("R", 1.0)
    n = X.shape[0]
    m = a.size
    bound = 2 * R * math.sqrt(float((X**2).sum())) / n
    if X.shape[1] == 2:
        found = rademacher_complexity(X, a, R, draws=instance.whole("draws", 400), seed=instance.seed)
        how = "exact: all sign vectors" if found.exact else f"exact for each of {found.draws} sign vectors"
    else:
        low = _lower_bound(X, a, R, 20, instance.seed)
        # Nothing better than |sum eps_i phi| <= sum |x_i| is certain beyond the plane: the check stays undecided.
        most = R / n * math.sqrt(float((a**2).sum())) * float(np.linalg.norm(X, axis=1).sum())
        found = Complexity(value=low, low=low, high=max(low, most), draws=20, exact=False)
        how = "a lower bound by ascent"
    check = Check(
        "empirical Rademacher complexity",
        found.value,
        "<=",
        bound,
        tolerance=1e-12 * bound,
        interval=None if found.exact else (found.low, found.high),
        note=how,
    )
    return Findings(
        value("value / bound", quotient(found.value, bound)),
        value("sqrt(mean |x|^2)", math.sqrt(float((X**2).sum(axis=1).mean()))),
        value("value sqrt(n) / R", found.value * math.sqrt(n) / R),
        hypotheses=(above("R", R, 0.0), equal("|a_j| sqrt(m)", np.abs(a) * math.sqrt(m), 1.0)),
        claims=(check,),
    )
