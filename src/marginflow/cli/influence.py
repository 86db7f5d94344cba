"""`marginflow influence DATA`: the exact KKT point without each sample, and what follows for the sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter

from marginflow.arrays import real_number, whole_number
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, Seed
from marginflow.cli.output import check_target, print_rows, result_text
from marginflow.cli.progress import progress
from marginflow.data import Dataset
from marginflow.influences import Influence, unlearning
from marginflow.influences import influence as leave_out
from marginflow.limit import kkt_point
from marginflow.storage import write_text

# Fresh points at which an ascent step is compared with the exact point, as far spread as the samples are.
_POINTS = 500


def influence(
    data: DataFile,
    *,
    width: Annotated[int, Parameter(help="Number of hidden neurons.")] = 100,
    bias: Annotated[bool, Parameter(help="Whether neurons have a bias.")] = True,
    penalty: Annotated[float | None, Parameter(help="C of the soft margin; without it the margin is hard.")] = None,
    mode: Annotated[
        Literal["continuation", "fast"],
        Parameter(help="Follow the point as samples fade, or leave them out at once."),
    ] = "continuation",
    folds: Annotated[
        int | None, Parameter(help="Leave out so many random folds instead of single samples (drawn by --seed).")
    ] = None,
    first: Annotated[int, Parameter(help="Print so many samples, those with the least margin first.")] = 10,
    tolerance: Annotated[float, Parameter(help="Largest residual at which a point counts as found.")] = 1e-8,
    time_limit: Annotated[float | None, Parameter(help="Seconds for the point with all samples.")] = None,
    seed: Seed = 0,
    label: Label = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="Write everything to this file (.json).")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every point holds at the tolerance on the samples it was trained on, 1 if not."""
    real_number("--tolerance", tolerance, above=0.0)
    whole_number("--first", first, minimum=0)
    if time_limit is not None:
        real_number("--time-limit", time_limit, above=0.0)
    if out is not None:
        check_target(out, (".json",), force=force)
    dataset = Dataset.load(data, label=label)
    with progress("Leaving out samples") as show:
        limit = kkt_point(dataset, width=width, seed=seed, bias=bias, penalty=penalty, time_limit=time_limit)
        found = leave_out(
            limit,
            dataset,
            mode=mode,
            folds=folds,
            seed=seed,
            tolerance=tolerance,
            progress=lambda done, total: show(done / total, f"{done} of {total}"),
        )
    ascent = unlearning(found, dataset, _fresh(dataset))
    record = found.to_dict() | {
        "limit": limit.status,
        "mode": mode,
        "folds": folds,
        "penalty": penalty,
        "seed": seed,
        "holds": bool(found.residuals.max() <= tolerance),
        "unlearning": {"kept": ascent.kept, "ascent_step": ascent.unlearned, "helped": ascent.helped},
    }
    if out is not None:
        write_text(out, result_text(record) + "\n")
    if as_json:
        print(result_text(record))
    else:
        _print(found, first, ascent.helped)
        if out is not None:
            print(f"Written to {out}")
    return DONE if record["holds"] else DOES_NOT_HOLD


def _fresh(data: Dataset) -> np.ndarray:
    """Gaussian points with the mean and the covariance of the samples."""
    rng = np.random.default_rng(0)
    centre = data.X.mean(axis=0)
    weights = rng.standard_normal((_POINTS, data.n_samples)) / np.sqrt(data.n_samples)
    fresh: np.ndarray = centre + weights @ (data.X - centre)
    return fresh


def _print(found: Influence, first: int, helped: float) -> None:
    print(found)
    rows = [
        {
            "samples": " ".join(str(i) for i in found.groups[g][:8]) + (" ..." if len(found.groups[g]) > 8 else ""),
            "least margin": float(found.margins[found.groups[g]].min()),
            "multipliers": float(found.multipliers[found.groups[g]].sum()),
            "||theta||^2 falls by": float(found.drops[g]),
            "expected": float(found.expected[g]),
            "neurons": f"{found.base.width} -> {found.neurons[g]}",
            "branch": "another" if found.jumped[g] else "the same",
            "residual": float(found.residuals[g]),
        }
        for g in found.rank()[:first]
    ]
    if rows:
        print_rows(rows, headings={name: name for name in rows[0]})
    if not np.isnan(helped):
        print(
            f"One step of gradient ascent comes nearer to the exact point than doing nothing for {helped:.0%} of them."
        )
