r"""The proof that goes with a radius, in plain values.

It says: N(witness) is on the other side, and no perturbation shorter than `lower` reaches the other side. The second
half is a tree. Every node holds steps (s, pi, kappa, tau), each of which gives a minorant of the network on the region
of the node and thereby a smaller region; an inner node is split by the sign of one neuron; at a leaf nothing is left
of the region. See `checker` for what is verified, which is everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from marginflow.arrays import FloatArray, IntArray, read_only, vector
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.plain import Plain


@dataclass(frozen=True, eq=False, kw_only=True)
class ProofStep:
    """The numbers (s, pi, kappa) of one minorant: s c_j relu(z) >= kappa_j z^2 + pi_j z + theta_j on an interval.

    Summed over the unit neurons that is psi(delta) <= s g(delta), and a witness satisfies psi(delta) <= 0.

    Parameters
    ----------
    scale : float
        s >= 0.
    slopes : array, shape (k,)
        pi.
    curvatures : array, shape (k,), or None
        kappa; None for a linear minorant.
    taus : tuple of float
        The tau >= 0 whose regions ||delta||^2 + tau psi(delta) < lower^2 are looked at.
    """

    scale: float
    slopes: FloatArray
    curvatures: FloatArray | None = None
    taus: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, eq=False, kw_only=True)
class ProofNode:
    """One region: its steps, and the neuron that splits it.

    Parameters
    ----------
    steps : tuple of Step
        In the order in which they shrink the region.
    split : int
        Merged neuron whose sign splits the region, -1 at a leaf.
    children : pair of int
        Nodes of the halves z >= 0 and z <= 0; (-1, -1) at a leaf.
    """

    steps: tuple[ProofStep, ...]
    split: int = -1
    children: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, eq=False, kw_only=True)
class RadiusCertificate(Brief, Plain):
    """A proof of `lower` <= radius <= ||witness - point||.

    Parameters
    ----------
    point, label, level
        The question: the least ||delta|| with label N(point + delta) <= level.
    lower : float
        No shorter perturbation does it.
    witness : array, shape (d,), or None
        A point that does it; None if none is known.
    groups : integer array, shape (k,)
        Which neurons of the network are parallel and count as one; -1 for neurons with w = 0 or v = 0.
    nodes : tuple of ProofNode
        The tree, root first.
    units : pair of int
        Exponents: the steps speak of distances divided by 2^units[0] and outputs divided by 2^units[1]. Everything
        else is as it was asked.
    """

    plain_names = ("format", "point", "label", "level", "lower", "units", "witness", "groups", "nodes")
    format: ClassVar = "marginflow.radius.3"

    point: FloatArray
    label: float
    level: float
    lower: float
    witness: FloatArray | None
    groups: IntArray
    nodes: tuple[ProofNode, ...]
    units: tuple[int, int] = (0, 0)

    def claiming(self, lower: float, *, witness: bool = True) -> RadiusCertificate:
        """The same tree for another bound, with the witness or without."""
        return replace(self, lower=lower, witness=self.witness if witness else None)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> RadiusCertificate:
        """The inverse of `to_dict`; what does not have its form is refused."""
        if plain.get("format") != cls.format:
            raise InputError(f"The format is {plain.get('format')!r}; {cls.format!r} is expected.")
        with _expected_form():
            return cls(
                point=read_only(vector("point", plain["point"])),
                label=float(plain["label"]),
                level=float(plain["level"]),
                lower=float("inf") if plain["lower"] is None else float(plain["lower"]),
                units=(int(plain["units"][0]), int(plain["units"][1])),
                witness=None if plain["witness"] is None else read_only(vector("witness", plain["witness"])),
                groups=read_only(np.asarray(plain["groups"], dtype=np.int64)),
                nodes=tuple(_node(entry) for entry in plain["nodes"]),
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierCertificate(Plain):
    """A proof for a classifier: for every rival t, that for the difference f_label - f_t with level -(c_label - c_t).

    Parameters
    ----------
    label : int
        The class whose boundary is asked for.
    proofs : mapping of int to RadiusCertificate
        For every other class, with label +1. Each says that this rival is no nearer than `lower`.
    """

    plain_names = ("format", "label", "proofs")
    format: ClassVar = "marginflow.radius.classes.1"

    label: int
    proofs: Mapping[int, RadiusCertificate]

    @property
    def lower(self) -> float:
        """No shorter perturbation makes any rival as large."""
        return min((proof.lower for proof in self.proofs.values()), default=0.0)

    @property
    def point(self) -> FloatArray:
        """The point that all proofs are about."""
        return next(proof.point for proof in self.proofs.values())

    @property
    def witness(self) -> FloatArray | None:
        """The witness of the nearest rival, None if none is known."""
        return next((proof.witness for proof in self.proofs.values() if proof.witness is not None), None)

    def claiming(self, lower: float, *, witness: bool = True) -> ClassifierCertificate:
        """The same trees for another bound, with the witness or without."""
        proofs = {rival: proof.claiming(lower, witness=witness) for rival, proof in self.proofs.items()}
        return replace(self, proofs=proofs)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ClassifierCertificate:
        """The inverse of `to_dict`; what does not have its form is refused."""
        with _expected_form():
            if plain["format"] != cls.format:
                raise InputError(f"The format is {plain['format']!r}; {cls.format!r} is expected.")
            proofs = {int(rival): RadiusCertificate.from_plain(proof) for rival, proof in plain["proofs"].items()}
            return cls(label=int(plain["label"]), proofs=proofs)


def certificate_from_plain(plain: Mapping[str, Any]) -> RadiusCertificate | ClassifierCertificate:
    """Whichever of the two it is."""
    of_classes = plain.get("format") == ClassifierCertificate.format
    return ClassifierCertificate.from_plain(plain) if of_classes else RadiusCertificate.from_plain(plain)


@contextmanager
def _expected_form() -> Iterator[None]:
    """What is missing, or no number, inside the block becomes an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"The certificate is not of the expected form: {error!r}.") from None


def _node(entry: Mapping[str, Any]) -> ProofNode:
    steps = tuple(
        ProofStep(
            scale=float(step["scale"]),
            slopes=read_only(vector("slopes", step["slopes"])),
            curvatures=None if step["curvatures"] is None else read_only(vector("curvatures", step["curvatures"])),
            taus=tuple(float(tau) for tau in step["taus"]),
        )
        for step in entry["steps"]
    )
    first, second = entry["children"]
    return ProofNode(steps=steps, split=int(entry["split"]), children=(int(first), int(second)))
