"""`marginflow influence DATA`: the exact KKT point without each sample, and what follows for the sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, Seed
from marginflow.cli.output import check_target, print_rows, result_text
from marginflow.cli.progress import progress
from marginflow.cli.provenance import command, versions
from marginflow.data import Dataset
from marginflow.influences import Influence
from marginflow.influences import influence as leave_out
from marginflow.limit import kkt_point
from marginflow.plain import to_plain
from marginflow.storage import write_text

Width = Annotated[int, Parameter(help="Number of hidden neurons.")]
Bias = Annotated[bool, Parameter(help="Whether neurons have a bias.")]
Penalty = Annotated[float | None, Parameter(help="C of the soft margin; without it the margin is hard.")]
Mode = Annotated[
    Literal["continuation", "fast"], Parameter(help="Follow the point as samples fade, or leave them out at once.")
]
Residual = Annotated[float, Parameter(help="Largest residual at which a point counts as found.")]
TimeLimit = Annotated[float | None, Parameter(help="Seconds for the point with all samples.")]
StoreFile = Annotated[
    Path | None, Parameter(help="A file that keeps every finished point; name it again to go on after an interrupt.")
]
Out = Annotated[Path | None, Parameter(name=["--out", "-o"], help="Write the page (.html) or everything (.json).")]
FRESH_POINTS = 500


def influence(
    data: DataFile,
    *,
    width: Width = 100,
    bias: Bias = True,
    penalty: Penalty = None,
    mode: Mode = "continuation",
    folds: Annotated[
        int | None, Parameter(help="Leave out so many random folds instead of single samples (drawn by --seed).")
    ] = None,
    cold: Annotated[
        int, Parameter(help="Solve so many of them from scratch as well, to see how far the limit is from unique.")
    ] = 0,
    flip: Annotated[
        tuple[int, ...] | None,
        Parameter(help="Turn the labels of these samples, one by one, instead.", consume_multiple=True),
    ] = None,
    first: Annotated[int, Parameter(help="Print so many samples, those with the least margin first.")] = 10,
    store: StoreFile = None,
    tolerance: Residual = 1e-8,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    label: Label = None,
    out: Out = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every point holds at the tolerance on the samples it was trained on, 1 if not."""
    whole_number("--first", first, minimum=0)
    whole_number("--cold", cold, minimum=0)
    check(tolerance, time_limit, out, force=force)
    dataset = Dataset.load(data, label=label)
    with progress("Leaving out samples") as show:
        limit = kkt_point(dataset, width=width, seed=seed, bias=bias, penalty=penalty, time_limit=time_limit)
        found = leave_out(
            limit,
            dataset,
            mode=mode,
            folds=folds,
            flip=flip,
            store=store,
            seed=seed,
            tolerance=tolerance,
            progress=lambda done, total: show(done / total, f"{done} of {total}"),
        )
        beside = found.branches(dataset, found.rank()[:cold]) if cold and flip is None else None
    record = found.to_dict() | {
        "sentence": str(found),
        "limit": limit.status,
        "mode": mode,
        "folds": folds,
        "penalty": penalty,
        "seed": seed,
        "holds": bool(found.residuals.max() <= tolerance),
        "groups_count": len(found.groups),
        "samples": sample_rows(found, dataset, [int(g) for g in found.rank()]),
        "branches": beside,
    }
    deliver(record, out, as_json=as_json, title=f"What each sample of {data.name} did")
    if not as_json:
        _print(record, first)
    return DONE if record["holds"] else DOES_NOT_HOLD


def check(tolerance: float, time_limit: float | None, out: Path | None, *, force: bool) -> None:
    """Whether the options of the commands about left-out samples make sense."""
    real_number("--tolerance", tolerance, above=0.0)
    if time_limit is not None:
        real_number("--time-limit", time_limit, above=0.0)
    if out is not None:
        check_target(out, (".json", ".html"), force=force)


def deliver(record: Mapping[str, object], out: Path | None, *, as_json: bool, title: str) -> None:
    """Write the page or the record, and print the record where it is asked for."""
    if out is not None and out.suffix == ".html":
        from marginflow.report import write
        from marginflow.report.results import Result, page_of_results

        result = Result(name=title, content=to_plain(record))
        write(page_of_results([result], title=title, command=command(), versions=versions()), out)
    elif out is not None:
        write_text(out, result_text(record) + "\n")
    if as_json:
        print(result_text(record))
    elif out is not None:
        print(f"Written to {out}")


def sample_rows(found: Influence, data: Dataset, groups: Sequence[int]) -> list[dict[str, object]]:
    """One row for each group; its values where it is a single sample, so that images can be drawn."""
    rows: list[dict[str, object]] = []
    for number, g in enumerate(groups):
        index = found.groups[g]
        row: dict[str, object] = {
            "sample": " ".join(str(i) for i in index[:8]) + (" ..." if len(index) > 8 else ""),
            "label": " ".join(f"{label:+g}" for label in np.unique(data.y[index])),
            "margin": float(found.margins[index].min()),
            "multiplier": float(found.multipliers[index].sum()),
            "drop": float(found.drops[g]),
            "expected": float(found.expected[g]),
            "neurons": int(found.neurons[g]),
            "branch": "another" if found.jumped[g] else "unchanged" if found.ways[g] == "unchanged" else "the same",
            "residual": float(found.residuals[g]),
        }
        if len(index) == 1 and number < _WITH_VALUES:
            row["values"] = data.X[index[0]]
        rows.append(row)
    return rows


_WITH_VALUES = 12


def fresh_points(data: Dataset) -> FloatArray:
    """Gaussian points with the mean and the covariance of the samples, at which networks are compared."""
    rng = np.random.default_rng(0)
    centre = data.X.mean(axis=0)
    weights = rng.standard_normal((FRESH_POINTS, data.n_samples)) / np.sqrt(data.n_samples)
    fresh: FloatArray = centre + weights @ (data.X - centre)
    return fresh


def _print(record: Mapping[str, object], first: int) -> None:
    print(record["sentence"])
    rows = to_plain(record["samples"])[:first]
    headings = {
        "sample": "samples",
        "label": "label",
        "margin": "margin without it",
        "multiplier": "multiplier",
        "drop": "||theta||^2 falls by",
        "expected": "expected",
        "neurons": "neurons",
        "branch": "branch",
        "residual": "residual",
    }
    if rows:
        print_rows(rows, headings=headings)
    if record["branches"] is not None:
        beside = to_plain(record["branches"])
        print(
            f"Solved from scratch, {beside['other']:.0%} of {len(beside['groups'])} end at another point; margins "
            f"differ by {beside['spread']:.3g} (root mean square), and on {beside['disagree']:.0%} the two disagree."
        )
