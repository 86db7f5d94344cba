r"""Transfer: what a perturbation made for one network (or for none) does to others.

[VYS22, Sec. 4] and [FVBS23, Sec. 4]: the z of the theorems depends on the data alone, so one z flips every KKT point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, labels, matrix, read_only, vector
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.rays import AtZero, minimal_step, zero_flips


@dataclass(frozen=True, eq=False, kw_only=True)
class Transfer:
    """Flip rates of several perturbations against several networks on the same samples.

    Parameters
    ----------
    perturbations, networks : tuples of str
        Names of the rows and of the columns.
    rates : array, shape (p, q)
        Share of the samples that perturbation p flips in network q, at its own length.
    steps : array, shape (p, q)
        The multiple of the perturbation at which all samples of the network are flipped at once; infinity if none is.
    errors : array, shape (q,)
        Share of the samples that each network has wrong without any perturbation.
    sizes : array, shape (p,)
        Norms of the perturbations.
    signed : bool
        Whether they act as x_i - y_i z (True) or x_i + z (False).
    at_zero : str
        What N = 0 counts as; see `zero_flips`.
    """

    perturbations: tuple[str, ...]
    networks: tuple[str, ...]
    rates: FloatArray
    steps: FloatArray
    errors: FloatArray
    sizes: FloatArray
    signed: bool
    at_zero: AtZero

    def rows(self) -> list[dict[str, object]]:
        """One plain row per pair of perturbation and network."""
        return [
            {
                "perturbation": name,
                "network": network,
                "signed": self.signed,
                "size": float(self.sizes[p]),
                "flip_rate": float(self.rates[p, q]),
                "error_without": float(self.errors[q]),
                "step_that_flips_all": float(self.steps[p, q]),
            }
            for p, name in enumerate(self.perturbations)
            for q, network in enumerate(self.networks)
        ]


def transfer(
    networks: Mapping[str, TwoLayer],
    X: ArrayLike,
    y: ArrayLike,
    perturbations: Mapping[str, ArrayLike],
    *,
    signed: bool = True,
    at_zero: AtZero = "flips",
) -> Transfer:
    """Apply every perturbation to every network on the same samples.

    Parameters
    ----------
    networks : mapping of names to TwoLayer
    X : array, shape (n, d)
    y : array, shape (n,)
    perturbations : mapping of names to arrays, shape (d,)
        At the length at which they are to act.
    signed : bool
        True for x_i - y_i z, False for x_i + z; the two are never mixed in one matrix.
    at_zero : str
        What N = 0 counts as.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.transfer import transfer
    >>> linear, shifted = TwoLayer(W=[[2.0], [-2.0]], v=[1, -1]), TwoLayer(W=[[1.0], [-1.0]], b=[9, 0], v=[1, -1])
    >>> transfer({"linear": linear, "shifted": shifted}, [[1.0], [-1.0]], [1, -1], {"z": [1.5]}).rates
    array([[1. , 0.5]])
    """
    points = matrix("X", X)
    signs = labels("y", y, points.shape[0])
    if not networks or not perturbations:
        raise InputError(f"There are {len(networks)} networks and {len(perturbations)} perturbations; both are needed.")
    vectors = {name: vector(f"perturbation {name!r}", z, points.shape[1]) for name, z in perturbations.items()}
    zeros = zero_flips(signs, at_zero)
    sigma = -signs if signed else np.ones(signs.size)
    rates = np.zeros((len(vectors), len(networks)))
    steps = np.zeros_like(rates)
    errors = np.zeros(len(networks))
    for q, network in enumerate(networks.values()):
        errors[q] = _share(signs * network(points), zeros)
        for p, z in enumerate(vectors.values()):
            rates[p, q] = _share(signs * network(points + sigma[:, None] * z), zeros)
            steps[p, q] = minimal_step(network, points, signs, z, signed=signed, at_zero=at_zero).all_at_once
    return Transfer(
        perturbations=tuple(vectors),
        networks=tuple(networks),
        rates=read_only(rates),
        steps=read_only(steps),
        errors=read_only(errors),
        sizes=read_only(np.array([np.linalg.norm(z) for z in vectors.values()])),
        signed=signed,
        at_zero=at_zero,
    )


def _share(values: FloatArray, zeros: BoolArray) -> float:
    return float(((values < 0) | ((values == 0) & zeros)).mean())
