"""`marginflow influence DATA`: the exact KKT point without each sample, and what follows for the sample."""

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.left_out import DEFAULTS, LeftOut, Mode, StoreFile
from marginflow.cli.options import DataFile
from marginflow.cli.output import deliver, print_rows
from marginflow.cli.progress import progress
from marginflow.plain import to_plain
from marginflow.scalars import whole_number


def influence(
    data: DataFile,
    *,
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
    given: LeftOut = DEFAULTS,
) -> int:
    """Exit code 0 if every point holds at the tolerance on the samples it was trained on, 1 if not."""
    whole_number("--first", first, minimum=0)
    whole_number("--cold", cold, minimum=0)
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
    deliver(record, out=given.out, as_json=given.as_json, title=f"What each sample of {data.name} did")
    if not given.as_json:
        print(found)
        _print(record, first)
    return DONE if record["holds"] else DOES_NOT_HOLD


def _print(record: Mapping[str, object], first: int) -> None:
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
