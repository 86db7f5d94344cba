"""`marginflow value DATA TEST`: what each sample is worth for points that were not trained on."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.left_out import DEFAULTS, LeftOut, Mode, StoreFile
from marginflow.cli.options import DataFile, counted


def value(
    data: DataFile,
    test: Annotated[Path, Parameter(help="Points with labels that were not trained on (.npz or .csv).")],
    *,
    mode: Mode = "fast",
    folds: Annotated[int | None, Parameter(help="Value this many random folds instead of single samples.")] = None,
    first: Annotated[int, counted("--first", "Print this many samples, the most harmful first.", minimum=0)] = 10,
    store: StoreFile = None,
    given: LeftOut = DEFAULTS,
) -> int:
    """Exit code 0 if every point holds at the tolerance on the samples it was trained on, 1 if not."""
    dataset, fresh = given.load(data), given.load(test)
    limit, found = given.leave_out(dataset, mode=mode, folds=folds, store=store)
    worth = mf.influences.valuation(found, fresh)
    order = [int(g) for g in worth.rank()]
    rows = [
        row
        | {
            "value": float(worth.values[g]),
            "margin_value": float(worth.margin_values[g]),
            "share": float(worth.shares[g]),
        }
        for g, row in zip(order, found.rows(dataset, order), strict=True)
    ]
    harmful, useful = int((worth.values < 0).sum()), int((worth.values > 0).sum())
    sentence = (
        f"{100 * worth.accuracy:.4g} % of the test points are right with all samples. {harmful} of {len(rows)} are "
        f"harmful (more are right without them), {useful} are useful, the others change no answer; "
        f"points that are not the continuation of the limit: {int(found.jumped.sum())}."
    )
    record = {
        "sentence": sentence,
        "accuracy": worth.accuracy,
        "samples": rows,
        **given.record(limit, found, mode=mode),
        "folds": folds,
        "seconds": found.seconds,
    }
    headings = {
        "sample": "samples",
        "label": "label",
        "value": "accuracy lost without it",
        "margin_value": "mean margin lost",
        "share": "share of the multipliers",
        "branch": "branch",
    }
    title = f"What the samples of {data.name} are worth"
    return given.deliver(record, rows[:first], headings, said=sentence, title=title)
