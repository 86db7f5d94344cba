"""How long a multiple of one vector, added to every sample, changes classes: the flips of a classifier."""

import math
from collections.abc import Sequence

from marginflow.arrays import FloatArray, IntArray
from marginflow.networks import Classifier
from marginflow.robustness.class_steps import class_steps
from marginflow.robustness.class_universal import universal_change


def class_changes(
    network: Classifier, X: FloatArray, own: IntArray, vectors: Sequence[tuple[str, FloatArray | None]], share: float
) -> list[dict[str, object]]:
    """A row for every direction by name, arrays included; None stands for the shortest vector found."""
    rows = []
    for name, given in vectors:
        found = None if given is not None else universal_change(network, X, own, share=share)
        vector = given if found is None else found.vector
        row: dict[str, object] = {"direction": name, "at_once": None if found is None else found.upper}
        if vector is None:
            rows.append(row | {"norm": math.inf})
            continue
        steps = class_steps(network, X, own, vector)
        finite = steps.sizes[steps.sizes < math.inf]
        row |= {
            "norm": steps.size_for_share(share),
            "smallest_first": float(steps.sizes.min()),
            "median_first": steps.size_for_share(0.5),
            "largest_first": float(finite.max(initial=0.0)),
            "already_flipped": int(steps.already.sum()),
            "never_flipped": len(own) - finite.size,
        }
        rows.append(row | {"vector": vector, "first": steps.sizes, "rivals": steps.rival, "curve": steps.rows()})
    return rows
