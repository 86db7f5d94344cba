"""`marginflow flip` of a classifier: how long a multiple of one vector changes the class of the samples?"""

import math
from collections.abc import Sequence

from marginflow.arrays import FloatArray, IntArray
from marginflow.cli.output import print_rows
from marginflow.errors import InputError
from marginflow.networks import Classifier
from marginflow.robustness.class_steps import class_steps
from marginflow.robustness.class_universal import universal_change

SHORTEST = "shortest"


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


def vectors_by_name(names: Sequence[str] | None, read: dict[str, FloatArray]) -> list[tuple[str, FloatArray | None]]:
    """The directions that mean something for several classes."""
    chosen = names or [SHORTEST]
    for name in chosen:
        if name not in read and name != SHORTEST:
            raise InputError(
                f"--direction {name} is made of the labels -1 and +1; for a network with a logit for each class give "
                f"{SHORTEST} (the default) or a vector in FILE.npy."
            )
    return [(name, read.get(name)) for name in chosen]


def print_changes(rows: Sequence[dict[str, object]], share: float, n_classes: int, n_samples: int) -> None:
    """What it takes to change them, in a table and a sentence."""
    print(f"One vector, added to every sample; {n_samples} samples, {n_classes} classes. Norms of first changes:")
    print_rows(
        rows,
        headings={
            "direction": "direction",
            "norm": f"{share:.4g} changed",
            "smallest_first": "smallest",
            "median_first": "median",
            "largest_first": "largest",
            "already_flipped": "wrong already",
            "never_flipped": "never",
        },
    )
    for row in rows:
        length = row["at_once"]
        if length is None:
            continue
        if length == 0.0:
            print(f"\n{row['already_flipped']} of {n_samples} samples are wrong already; no vector is needed.")
            continue
        wanted = "every sample" if share == 1.0 else f"a share of {share:.4g}"
        known = f"A vector of norm {float(str(length)):.6g} changes {wanted} at once"
        found = known if math.isfinite(float(str(length))) else f"No vector was found that changes {wanted} at once"
        print(f"\n{found}; `marginflow audit` bounds the shortest from below.")
