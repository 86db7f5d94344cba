"""`marginflow sweep merge`, `compare` and `slurm`: stores of shards, two stores side by side, many machines."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.engines import sweep_of
from marginflow.cli.exit_codes import DONE
from marginflow.cli.options import AsJson, flag, written
from marginflow.cli.output import deliver, print_rows
from marginflow.errors import InputError
from marginflow.plain import to_plain


def merge(
    *stores: Annotated[Path, Parameter(help="Stores of the shards, .sqlite.")],
    out: Annotated[Path, written("Store that they come into; made, or added to.")],
    any_code: Annotated[bool, flag("Accept rows computed by different versions of the code.")] = False,
    as_json: AsJson = False,
) -> int:
    """Bring the rows of several stores into one."""
    from marginflow.sweeps.shards import merge as merge_stores

    if not stores:
        raise InputError("No store is given; name those of the shards.")
    target = mf.sweeps.Store(out)
    added = merge_stores([mf.sweeps.Store(path) for path in stores], target, any_code=any_code)
    lines = target.lines()
    done = sum(line.status == "done" for line in lines)
    failed = len(lines) - done
    record = {"store": target.path, "added": added, "rows": len(lines), "done": done, "failed": failed}
    words = f"{added} rows of {len(stores)} stores were added; {target.path} has {done} done, {failed} failed."
    return deliver(record, as_json=as_json, describe=lambda: print(words))


def compare(
    first: Annotated[Path, Parameter(help="A store, .sqlite.")],
    second: Annotated[Path, Parameter(help="The other one.")],
    /,
    *,
    tolerance: Annotated[float, Parameter(help="Relative difference up to which two numbers count as equal.")] = 0.0,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if both stores have the same cells with the same rows, 1 if not."""
    for path in (first, second):
        if not path.is_file():
            raise InputError(f"There is no store {path}.")
    found = mf.sweeps.compare(mf.sweeps.Store(first), mf.sweeps.Store(second), tolerance=tolerance)

    def describe() -> None:
        print(f"{found.both} cells are in both stores; {found.equal} of them have equal rows.")
        print(f"{found.only_first} are in {first} only, {found.only_second} in {second} only.")
        if found.other_code:
            print(f"{found.other_code} of the cells in both were computed by different code.")
        rows: list[dict[str, object]] = [
            {"column": name, "cells": count, "largest": "not numbers" if largest is None else f"{largest:.2g}"}
            for name, (count, largest) in found.columns.items()
        ]
        headings = {"column": "differs in", "cells": "cells", "largest": "largest relative difference"}
        if rows:
            print_rows(rows, headings=headings)

    return deliver({**to_plain(found), "same": found.same}, as_json=as_json, describe=describe, holds=found.same)


def slurm(
    spec: Annotated[Path, Parameter(help="The grid, .toml.")],
    /,
    *,
    shards: Annotated[int, Parameter(help="Jobs of the array.")] = 4,
    hours: Annotated[float, Parameter(help="Wall time of a job.")] = 24.0,
    memory: Annotated[int, Parameter(help="MiB of a job.")] = 4096,
    retry_failed: Annotated[bool, flag("Jobs compute failed cells again.")] = False,
    any_code: Annotated[bool, flag("Jobs accept rows of other versions.")] = False,
) -> int:
    """Print a script for sbatch; submit it as often as needed, then merge."""
    from marginflow.sweeps.shards import slurm_script

    if not hours > 0:
        raise InputError(f"--hours is {hours:g}; a number above 0 is expected.")
    options = [*(["--retry-failed"] if retry_failed else []), *(["--any-code"] if any_code else [])]
    chosen = sweep_of(spec)
    script = slurm_script(
        chosen, spec, shards=shards, hours=hours, memory=memory, python=sys.executable, options=options
    )
    print(script, end="")
    return DONE
