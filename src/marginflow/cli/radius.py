"""`marginflow radius NETWORK DATA`: how far is each sample from the decision boundary, proved from both sides?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from marginflow.arrays import IntArray, real_number, whole_number
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE, INTERRUPTED
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile
from marginflow.cli.output import check_target, print_rows, result_text
from marginflow.cli.progress import progress
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import Radius, check_certificate, exact_radii
from marginflow.storage import write_text

# Points that a worker is handed before what is done is looked at again: an interrupt loses no more than these.
POINTS_PER_WORKER = 4
SETTLED = ("proved", "infinite", "misclassified")


def radius(
    network: NetworkFile,
    data: DataFile,
    *,
    points: Annotated[
        str | None, Parameter(help="Only these samples, numbered from 0 with commas between: 0,3,7.")
    ] = None,
    first: Annotated[int | None, Parameter(help="Only the first N samples.")] = None,
    level: Annotated[float, Parameter(help="The other side begins where y N(x) falls to this level.")] = 0.0,
    max_seconds: Annotated[float, Parameter(help="Seconds for each point; then its bounds so far are given.")] = 60.0,
    tolerance: Annotated[float, Parameter(help="Largest relative gap of the bounds that counts as exact.")] = 1e-6,
    workers: Annotated[int, Parameter(help="Processes that share the points.")] = 1,
    label: Label = None,
    out: Annotated[
        Path | None, Parameter(name=["--out", "-o"], help="Also write radii, witnesses and proofs as .json.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every radius is proved, 1 if some are only bounded, 130 if interrupted (what is done is kept)."""
    real_number("tolerance", tolerance, at_least=1e-8, below=1.0)
    real_number("--max-seconds", max_seconds, above=0.0)
    real_number("level", level)
    whole_number("workers", workers)
    if out is not None:
        check_target(out, (".json",), force=force)
    judged, dataset = TwoLayer.load(network), Dataset.load(data, label=label)
    chosen = chosen_points(points, first, dataset.n_samples)
    found: list[Checked] = []
    share = 1 if workers == 1 else POINTS_PER_WORKER * workers
    interrupted = False
    with progress("Proving radii") as show:
        try:
            for start in range(0, chosen.size, share):
                block = chosen[start : start + share]
                radii = exact_radii(
                    judged,
                    dataset.X[block],
                    y=dataset.y[block],
                    level=level,
                    rtol=tolerance,
                    time_limit=max_seconds,
                    certificate=True,
                    processes=min(workers, block.size),
                    # The default binds this block's start; mypy cannot infer a lambda with defaults.
                    progress=lambda done, _, start=start: show(  # type: ignore[misc]
                        (start + done) / chosen.size, remark(start + done, chosen.size)
                    ),
                )
                found += [checked(int(i), one, judged, tolerance) for i, one in zip(block, radii, strict=True)]
        except KeyboardInterrupt:
            if not found:
                raise
            interrupted = True
    d = dataset.dimension if dataset.ambient_dimension is None else dataset.ambient_dimension
    record = summary(found, d) | {
        "asked": chosen.size,
        "level": level,
        "tolerance": tolerance,
        "interrupted": interrupted,
        "out": out,
    }
    if out is not None:
        whole = record | {"radii": [one.row() | one.proof() for one in found]}
        write_text(out, result_text(whole) + "\n")
    if as_json:
        print(result_text(record | {"radii": [one.row() for one in found]}))
    else:
        _tell(found, record, d, out)
    if interrupted:
        return INTERRUPTED
    return DONE if record["all_proved"] else DOES_NOT_HOLD


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A radius with the bounds that the judge of its certificate confirms, and what it may be called therefore."""

    sample: int
    lower: float
    upper: float
    status: str
    reason: str
    radius: Radius

    def row(self) -> dict[str, object]:
        """What is said of the sample, without arrays."""
        return {
            "sample": self.sample,
            "lower": self.lower,
            "upper": self.upper,
            "status": self.status,
            "reason": self.reason,
            "nodes": self.radius.nodes,
            "seconds": self.radius.seconds,
        }

    def proof(self) -> dict[str, object]:
        """The nearest point known on the other side, and the proof that there is no nearer one."""
        whole = self.radius.to_plain()
        return {key: whole[key] for key in ("label", "witness", "certificate")}


def checked(sample: int, radius: Radius, network: TwoLayer, tolerance: float) -> Checked:
    """Have the certificate judged; only what the judge confirms is called proved."""
    if radius.certificate is None:
        raise TypeError("a radius without its certificate cannot be checked")
    judgement = check_certificate(radius.certificate, network)
    status: str = radius.status
    if not judgement.holds:
        status = "unconfirmed"
    elif status == "proved" and judgement.upper - judgement.lower > tolerance * judgement.upper:
        status = "bounded"
    return Checked(
        sample=sample,
        lower=judgement.lower,
        upper=judgement.upper,
        status=status,
        reason=judgement.reason,
        radius=radius,
    )


def chosen_points(points: str | None, first: int | None, n_samples: int) -> IntArray:
    """The samples asked for, in the order in which they were; all of them if nothing was said.

    Examples
    --------
    >>> from marginflow.cli.radius import chosen_points
    >>> chosen_points("4,0", None, 5), chosen_points(None, 2, 5)
    (array([4, 0]), array([0, 1]))
    """
    if points is not None and first is not None:
        raise InputError("--points and --first both choose samples; give one of them.")
    if first is not None:
        if whole_number("--first", first) > n_samples:
            raise InputError(f"--first is {first}, but there are {n_samples} samples.")
        return np.arange(first)
    if points is None:
        return np.arange(n_samples)
    try:
        chosen = [int(number) for number in points.split(",")]
    except ValueError:
        raise InputError(f"points is {points!r}; whole numbers with commas between them are expected.") from None
    for number in chosen:
        if not 0 <= number < n_samples:
            raise InputError(f"points contains {number}, but the samples are numbered from 0 to {n_samples - 1}.")
    if len(set(chosen)) < len(chosen):
        raise InputError(f"points is {points!r}; every sample may be named once.")
    return np.array(chosen, dtype=np.int64)


def extremes(found: Sequence[Checked]) -> dict[str, tuple[float, float]]:
    """Bounds on the smallest, the median and the largest radius.

    Order statistics grow with every entry, so those of the lower and of the upper bounds enclose those of the radii.
    """
    lower, upper = np.array([one.lower for one in found]), np.array([one.upper for one in found])
    return {
        name: (float(measure(lower)), float(measure(upper)))
        for name, measure in (("smallest", np.min), ("median", np.median), ("largest", np.max))
    }


def summary(found: Sequence[Checked], dimension: int) -> dict[str, object]:
    """How many are proved, and how large the radii are, also relative to sqrt(d)."""
    statuses = [one.status for one in found]
    sizes = extremes(found)
    root = math.sqrt(dimension)
    return {
        "all_proved": all(status in SETTLED for status in statuses),
        "points": len(found),
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
        "sqrt_dimension": root,
        **sizes,
        "relative": {name: (low / root, high / root) for name, (low, high) in sizes.items()},
        "seconds": sum(one.radius.seconds for one in found),
    }


def remark(done: int, total: int) -> str:
    """One line of the live display."""
    return f"{done} of {total} points"


def _tell(found: Sequence[Checked], record: dict[str, object], dimension: int, out: Path | None) -> None:
    rows = [one.row() | {"lower": f"{one.lower:.8g}", "upper": f"{one.upper:.8g}"} for one in found]
    print_rows(
        rows,
        headings={
            "sample": "sample",
            "lower": "lower",
            "upper": "upper",
            "status": "status",
            "nodes": "nodes",
            "seconds": "seconds",
        },
    )
    settled = sum(one.status in SETTLED for one in found)
    print(f"\n{settled} of {len(found)} radii are proved; every certificate was checked.")
    for one in found:
        if one.status == "unconfirmed":
            print(f"Sample {one.sample} is unconfirmed: {one.reason}")
    wrong = sum(one.status == "misclassified" for one in found)
    if wrong:
        print(f"{wrong} of them are 0: the sample is on the other side already.")
    if record["interrupted"]:
        print(f"Interrupted after {len(found)} of {record['asked']} points.")
    for name, (low, high) in extremes(found).items():
        print(f"{name.capitalize():<9} {_between(low, high)}  =  {_between(low, high, dimension)} sqrt(d)")
    if out is not None:
        print(f"Written to {out}")


def _between(low: float, high: float, dimension: int = 1) -> str:
    """One number if both bounds print alike, else both."""
    root = math.sqrt(dimension)
    shown_low, shown_high = f"{low / root:.5g}", f"{high / root:.5g}"
    return shown_high if shown_low == shown_high else f"{shown_low} to {shown_high}"
