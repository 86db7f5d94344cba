r"""Derived: the exact reduction to the span of the samples."""

from functools import cache

import numpy as np

from marginflow.data import NoisySphere, in_span
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, above, equal, stated, value


@cache
def _ambient(keep: str) -> Instance:
    data = NoisySphere(dimension=200, p=0.3).sample(12)
    network = TwoLayer.initialise(7, 200, seed=0)
    return Instance(
        name=f"12 samples in dimension 200, reduced to {keep}", network=network, data=data, parameters={"keep": keep}
    )


@stated(
    id="KYS23/X.InSpan",
    kind="construction",
    number="Derived: training never leaves the span of the samples",
    meaning="Margins, gradients and hence training are the same in coordinates of the span, at the cost of m, not d.",
    formula=r"X = Z Q, \quad \nabla_{w_j} L \in \mathrm{span}(x_1, \dots, x_m), \quad "
    r"\nabla_{W} L(X) = \nabla_{W Q^\top} L(Z)\, Q",
    parameters={"keep": "span (the reduction) or coordinates (the first m of them, which is none)"},
    example=lambda: _ambient("span"),
    control=lambda: _ambient("coordinates"),
    control_shows="dropping all but m coordinates changes every inner product",
    control_outcome="violated",
)
def x_in_span(instance: Instance) -> Findings:
    """Gram matrix, margins, gradients and test values on reduced coordinates, against the ambient ones."""
    network, data = instance.the_network(), instance.the_data()
    keep = instance.word("keep", "span", ("span", "coordinates"))
    X, W = data.X, network.W
    m, d = X.shape
    Z, Q = in_span(X) if keep == "span" else (X[:, :m], np.eye(min(m, d), d))
    inside = W @ Q.T
    outside = W - inside @ Q
    reduced = TwoLayer(W=inside, b=network.b, v=network.v, outputs=network.outputs)
    weights = data.y * np.linspace(1.0, 2.0, data.n_samples)  # any weights of the samples: the loss plays no part
    ambient, small = network.gradient(X, weights), reduced.gradient(Z, weights)
    test = np.random.default_rng(instance.seed).standard_normal((20, X.shape[1]))
    test /= np.linalg.norm(test, axis=1, keepdims=True)
    pre = test @ Q.T @ inside.T + test @ outside.T + (0.0 if network.b is None else network.b)
    size = float(np.abs(X @ X.T).max())
    # On a kink the gradient is a set, and rounding decides which element either side takes: at KKT points it does.
    reach = np.linalg.norm(network.augmented, axis=1) * np.sqrt((X**2).sum(axis=1) + 1.0)[:, None]
    away = float(
        (np.abs(network.preactivations(X)) / np.where(reach > 0, reach, 1.0))[:, network.v != 0].min(initial=1.0)
    )
    return Findings(
        value("m", data.n_samples),
        value("d", X.shape[1]),
        value("||W|| outside the span", float(np.linalg.norm(outside)), "never moved by training"),
        hypotheses=(above("relative distance of the nearest kink", away, 1e-12),),
        claims=(
            equal("Z Z^T", Z @ Z.T, X @ X.T, scale=size),
            equal("margins on Z", reduced.margins(Z, data.y), network.margins(X, data.y), scale=1.0),
            equal("gradient by W, carried back", small.W @ Q, ambient.W, scale=float(np.abs(ambient.W).max())),
            equal("gradient by v", small.v, ambient.v, scale=float(np.abs(ambient.v).max())),
            equal(
                "N on test points, from both parts",
                np.maximum(pre, 0.0) @ network.v,
                network(test),
                scale=float(np.abs(network.v).sum()),
            ),
        ),
    )
