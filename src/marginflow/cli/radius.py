"""`marginflow radius NETWORK DATA`: how far is each sample from the decision boundary, proved from both sides?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import for_two_classes_only, network_and_data
from marginflow.cli.options import (
    AsJson,
    DataFile,
    First,
    Force,
    Gap,
    Label,
    NetworkFile,
    SecondsEach,
    Workers,
    checked,
    written,
)
from marginflow.cli.output import check_target, deliver, print_rows
from marginflow.cli.progress import progress
from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow.arrays import IntArray
    from marginflow.measurements import CheckedRadius, RadiusSummary


def radius(
    network: NetworkFile,
    data: DataFile,
    *,
    samples: Annotated[
        str | None, Parameter(help="Only these samples, numbered from 0 and separated by commas: 0,3,7.")
    ] = None,
    first: First = None,
    level: Annotated[float, checked("--level", "The other side begins where y N(x) falls to this level.")] = 0.0,
    time_limit: SecondsEach = 60.0,
    tolerance: Gap = 1e-6,
    workers: Workers = 1,
    label: Label = None,
    out: Annotated[Path | None, written("Also write radii, witnesses and proofs as .json.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every radius is proved, 1 if some are only bounded, 130 if interrupted (what is done is kept).

    The network has one output, or a logit for each class; then the nearest class is said too.
    """
    check_target(out, (".json",), force=force)
    judged, dataset, labels = network_and_data(network, data, label)
    if isinstance(judged, mf.networks.Classifier):
        for_two_classes_only(judged, level=level != 0.0)
    chosen = chosen_samples(samples, first, dataset.n_samples)
    found: list[CheckedRadius] = []
    interrupted = False
    with progress("Proving radii") as show:
        try:
            mf.measurements.checked_radii(
                judged,
                dataset,
                chosen,
                labels=labels,
                level=level,
                tolerance=tolerance,
                time_limit=time_limit,
                workers=workers,
                progress=lambda done, total: show(done / total, f"{done} of {total} samples"),
                keep=found.append,
            )
        except KeyboardInterrupt:
            if not found:
                raise
            interrupted = True
    order = {int(sample): index for index, sample in enumerate(chosen)}
    found.sort(key=lambda radius: order[radius.sample])  # workers finish in any order
    d = dataset.full_dimension
    summary = mf.measurements.summarise_radii(found)
    record = summary.record(d) | {
        "asked": chosen.size,
        "level": level,
        "tolerance": tolerance,
        "interrupted": interrupted,
        "out": out,
    }

    def describe() -> None:
        _print(found, summary, d)
        if interrupted:
            print(f"Interrupted after {len(found)} of {chosen.size} samples.")

    return deliver(
        record | {"radii": [each.row() for each in found]},
        as_json=as_json,
        out=out,
        whole=record | {"radii": [each.row() | each.proof() for each in found]},
        describe=describe,
        holds=bool(record["all_proved"]),
        interrupted=interrupted,
    )


def chosen_samples(samples: str | None, first: int | None, n_samples: int) -> IntArray:
    """The samples asked for, in the order in which they were; all of them if nothing was said.

    Examples
    --------
    >>> from marginflow.cli.radius import chosen_samples
    >>> chosen_samples("4,0", None, 5), chosen_samples(None, 2, 5)
    (array([4, 0]), array([0, 1]))
    """
    import numpy as np  # here and not above: the help does without it

    if samples is not None and first is not None:
        raise InputError("--samples and --first both choose samples; give one of them.")
    if first is not None:
        if first > n_samples:
            raise InputError(f"--first is {first}, but there are {n_samples} samples.")
        return np.arange(first)
    if samples is None:
        return np.arange(n_samples)
    try:
        chosen = [int(number) for number in samples.split(",")]
    except ValueError:
        raise InputError(f"--samples is {samples!r}; whole numbers separated by commas are expected.") from None
    for number in chosen:
        if not 0 <= number < n_samples:
            raise InputError(f"--samples contains {number}, but the samples are numbered from 0 to {n_samples - 1}.")
    if len(set(chosen)) < len(chosen):
        raise InputError(f"--samples is {samples!r}; every sample may be named once.")
    return np.array(chosen, dtype=np.int64)


def _print(found: Sequence[CheckedRadius], summary: RadiusSummary, dimension: int) -> None:
    rows = [each.row() | {"lower": f"{each.lower:.8g}", "upper": f"{each.upper:.8g}"} for each in found]
    several = any(each.radius.rival is not None for each in found)
    columns = ("sample", *(("label", "rival") if several else ()), "lower", "upper", "status", "nodes", "seconds")
    print_rows(rows, headings={name: name for name in columns})
    print(f"\n{summary.settled} of {summary.count} radii are proved; every certificate was each.")
    for each in found:
        if reason := each.radius.reason:
            print(f"Sample {each.sample}: the judge refused what the search said, and confirms only this. {reason}")
    wrong = summary.statuses.get("misclassified", 0)
    if wrong:
        print(f"{wrong} of them are 0: the sample is on the other side already.")
    for name, (low, high) in summary.extremes.items():
        print(f"{name.capitalize():<9} {_between(low, high)}  =  {_between(low, high, dimension)} sqrt(d)")


def _between(low: float, high: float, dimension: int = 1) -> str:
    """One number if both bounds print alike, else both."""
    root = math.sqrt(dimension)
    at_least, at_most = f"{low / root:.5g}", f"{high / root:.5g}"
    return at_most if at_least == at_most else f"{at_least} to {at_most}"
