"""`marginflow flip` of a classifier: how long a multiple of one vector changes the class of the samples?"""

from collections.abc import Sequence

from marginflow.arrays import FloatArray
from marginflow.cli.output import print_rows
from marginflow.display import capitalised, shortest_sentence
from marginflow.errors import InputError

SHORTEST = "shortest"


def vectors_by_name(names: Sequence[str] | None, read: dict[str, FloatArray]) -> list[tuple[str, FloatArray | None]]:
    """The directions that mean something for several classes."""
    chosen = names or [SHORTEST]
    for name in chosen:
        if name not in read and name != SHORTEST:
            raise InputError(
                f"--direction {name} is computed from the labels -1 and +1; for a network with a logit for each class "
                f"give {SHORTEST} (the default) or a vector in FILE.npy."
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
        found = shortest_sentence(
            float(str(length)), 0.0, samples=n_samples, does="changes the class of", share=share, digits=6
        )
        print(f"\n{capitalised(found)}; `marginflow audit` bounds the shortest from below.")
