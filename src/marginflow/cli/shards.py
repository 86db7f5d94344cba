"""`marginflow sweep merge` and `marginflow sweep slurm`: a sweep in shards on many machines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow import experiments
from marginflow.cli.exit_codes import DONE
from marginflow.cli.options import AsJson
from marginflow.cli.output import result_text
from marginflow.errors import InputError
from marginflow.sweeps import Store, Sweep
from marginflow.sweeps.shards import merge as merge_stores
from marginflow.sweeps.shards import slurm_script


def merge(
    *stores: Annotated[Path, Parameter(help="Stores of the shards, .sqlite.")],
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="Store that they come into; made, or added to.")],
    any_code: Annotated[
        bool, Parameter(negative="", help="Accept rows computed by different versions of the code.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Bring the rows of several stores into one."""
    if not stores:
        raise InputError("No store is given; name those of the shards.")
    target = Store(out)
    added = merge_stores([Store(path) for path in stores], target, any_code=any_code)
    lines = target.lines()
    done = sum(line.status == "done" for line in lines)
    if as_json:
        record = {"store": target.path, "added": added, "rows": len(lines), "done": done, "failed": len(lines) - done}
        print(result_text(record))
    else:
        failed = len(lines) - done
        print(f"{added} rows of {len(stores)} stores were added; {target.path} has {done} done, {failed} failed.")
    return DONE


def slurm(
    spec: Annotated[Path, Parameter(help="The grid, .toml.")],
    /,
    *,
    shards: Annotated[int, Parameter(help="Jobs of the array.")] = 4,
    hours: Annotated[float, Parameter(help="Wall time of a job.")] = 24.0,
    memory: Annotated[int, Parameter(help="MiB of a job.")] = 4096,
    retry_failed: Annotated[bool, Parameter(negative="", help="Jobs compute failed cells again.")] = False,
    any_code: Annotated[bool, Parameter(negative="", help="Jobs accept rows of other versions.")] = False,
) -> int:
    """Print a script for sbatch; submit it as often as needed, then merge."""
    experiments.figures()
    if (beside := str(spec.resolve().parent)) not in sys.path:
        sys.path.append(beside)
    if not hours > 0:
        raise InputError(f"--hours is {hours:g}; a number above 0 is expected.")
    options = [*(["--retry-failed"] if retry_failed else []), *(["--any-code"] if any_code else [])]
    chosen = Sweep.load(spec)
    script = slurm_script(
        chosen, spec, shards=shards, hours=hours, memory=memory, python=sys.executable, options=options
    )
    print(script, end="")
    return DONE
