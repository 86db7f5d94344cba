"""`marginflow curve NETWORK DATA`: which share of the samples is right and at least epsilon from the boundary?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from marginflow.cli.classes import network_and_data
from marginflow.cli.exit_codes import INTERRUPTED
from marginflow.cli.options import AsJson, DataFile, First, Force, Gap, Label, NetworkFile, SecondsEach, Workers
from marginflow.cli.output import check_target, deliver, print_rows
from marginflow.cli.progress import progress
from marginflow.errors import InputError
from marginflow.storage import write_text

if TYPE_CHECKING:
    from marginflow.arrays import FloatArray
    from marginflow.robustness.accuracy import CertifiedAccuracy

# Shares at which the curve is read for the table on the screen.
_SHARES = (0.95, 0.9, 0.75, 0.5, 0.25, 0.1)


def curve(
    network: NetworkFile,
    data: DataFile,
    *,
    epsilon: Annotated[
        str | None, Parameter(help="Sizes at which to read the curve, separated by commas: 0.1,0.5.")
    ] = None,
    first: First = None,
    time_limit: SecondsEach = 60.0,
    tolerance: Gap = 1e-6,
    workers: Workers = 1,
    label: Label = None,
    csv: Annotated[Path | None, Parameter(help="Also write every breakpoint of the curve as .csv.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every radius is proved, 1 if the curve lies between bounds, 130 if interrupted (nothing is kept).

    The network has one output, or a logit for each class.
    """
    from marginflow.robustness.accuracy import certified_accuracy

    sizes = _sizes(epsilon)
    check_target(csv, (".csv",), force=force)
    judged, dataset, labels = network_and_data(network, data, label)
    n = dataset.n_samples if first is None else min(dataset.n_samples, first)
    done = 0
    with progress("Proving radii") as show:

        def report(count: int, total: int) -> None:
            nonlocal done
            done = count
            show(count / total, f"{count} of {total} samples")

        try:
            accuracy = certified_accuracy(
                judged,
                dataset.X[:n],
                labels[:n],
                tolerance=tolerance,
                time_limit=time_limit,
                workers=workers,
                progress=report,
            )
        except KeyboardInterrupt:
            print(f"Interrupted after {done} of {n} samples; the curve of a part is not that of the whole.")
            return INTERRUPTED
    at = accuracy.rows(sizes)
    record = {
        "samples": n,
        "accuracy": accuracy.accuracy,
        "exact": accuracy.exact,
        "at": at,
        "csv": csv,
    }
    if csv is not None:
        write_text(csv, accuracy.to_csv())

    def describe() -> None:
        print(f"{accuracy.lower.size} of {n} samples are right ({accuracy.accuracy:.1%}).")
        rows = at if epsilon is not None else _read_at_shares(accuracy)
        if rows:
            print_rows(rows, headings={name: name for name in rows[0]})
        if not accuracy.exact:
            print("Some radii are only bounded: the true curve lies between 'certified' and 'possible'.")
        if csv is not None:
            print(f"Every breakpoint is in {csv}.")

    whole = record | {"curve": accuracy.rows()}
    return deliver(whole, as_json=as_json, describe=describe, holds=accuracy.exact)


def _sizes(text: str | None) -> FloatArray:
    import numpy as np  # here and not above: the help does without it

    try:
        sizes = np.array([] if text is None else [float(part) for part in text.split(",")])
    except ValueError:
        raise InputError(
            f"--epsilon is {text!r}; numbers separated by commas are expected, for example 0.1,0.5."
        ) from None
    if sizes.size and not (np.isfinite(sizes).all() and (sizes >= 0).all()):
        raise InputError(f"--epsilon is {text!r}; sizes are finite and at least 0.")
    return sizes


def _read_at_shares(accuracy: CertifiedAccuracy) -> list[dict[str, float]]:
    read = {share: accuracy.reach(share) for share in _SHARES}
    return [
        {"share": share, "certified up to": found[0], "possible up to": found[1]}
        for share, found in read.items()
        if found is not None
    ]
