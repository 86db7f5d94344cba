"""`marginflow influence DATA`: the exact KKT point without each sample, and what follows for the sample."""

from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.left_out import DEFAULTS, LeftOut, Mode, StoreFile
from marginflow.cli.options import DataFile, counted
from marginflow.cli.progress import progress
from marginflow.plain import to_plain


def influence(
    data: DataFile,
    *,
    mode: Mode = "continuation",
    folds: Annotated[
        int | None, Parameter(help="Leave out this many random folds instead of single samples (drawn by --seed).")
    ] = None,
    cold: Annotated[
        int,
        counted(
            "--cold", "Solve this many points from scratch as well, to see how far the limit is from unique.", minimum=0
        ),
    ] = 0,
    flip: Annotated[
        tuple[int, ...] | None,
        Parameter(help="Flip the labels of these samples instead, one at a time.", consume_multiple=True),
    ] = None,
    first: Annotated[
        int, counted("--first", "Print this many samples, those with the least margin first.", minimum=0)
    ] = 10,
    store: StoreFile = None,
    given: LeftOut = DEFAULTS,
) -> int:
    """Exit code 0 if every point holds at the tolerance on the samples it was trained on, 1 if not."""
    dataset = given.load(data)
    limit, found = given.leave_out(dataset, mode=mode, folds=folds, flip=flip, store=store)
    with progress("Solving from scratch"):
        beside = found.branches(dataset, found.rank()[:cold]) if cold and flip is None else None
    record = found.to_dict() | {
        "sentence": f"{found.sentence}.",
        **given.record(limit, found, mode=mode),
        "folds": folds,
        "groups_count": len(found.groups),
        "samples": found.rows(dataset, [int(g) for g in found.rank()]),
        "branches": beside,
    }
    words = ""
    if record["branches"] is not None:
        plain = to_plain(record["branches"])
        words = (
            f"Solved from scratch, {plain['other']:.0%} of {len(plain['groups'])} end at another point; margins "
            f"differ by {plain['spread']:.3g} (root mean square), and on {plain['disagree']:.0%} the two disagree."
        )
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
    rows = to_plain(record["samples"])[:first]
    title = f"What each sample of {data.name} did"
    return given.deliver(record, rows, headings, said=found, title=title, beside=words)
