"""One sweep on many machines without a head: every shard has its share and its own store; then they are merged."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from marginflow.arrays import whole_number
from marginflow.errors import InputError
from marginflow.sweeps.line import StoredLine
from marginflow.sweeps.store import Store
from marginflow.sweeps.sweep import Sweep

_SHARD: Final = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)")
# What two computations of a cell have in common, whenever and wherever they ran.
_SAME: Final = ("identity", "code", "task", "parameters", "seed", "row", "arrays_sha256")


@final
@dataclass(frozen=True)
class Shard:
    """Share `index` of `count`, counted from 1: every count-th cell, so that long and short ones mix."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that a text such as "2/4" names."""
        found = _SHARD.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise InputError(f"The shard is {text!r}; i/n with i from 1 to n is expected, such as 2/4.")
        return cls(int(found[1]), int(found[2]))

    def of(self, sweep: Sweep) -> Sweep:
        """Its cells, with their numbers in the whole sweep."""
        numbers = [number for number, _ in sweep.numbered][self.index - 1 :: self.count]
        if not numbers:
            raise InputError(
                f"There are {len(sweep.cells)} cells; nothing is left for shard {self.index}/{self.count}."
            )
        return sweep.some(numbers)

    def store(self, path: Path) -> Path:
        """Its store beside that of the whole sweep."""
        return path.with_name(f"{path.stem}.shard-{self.index}-of-{self.count}{path.suffix}")


def merge(sources: Sequence[Store], target: Store, *, any_code: bool = False) -> int:
    """Bring the rows of several stores into one, which is made or added to; return how many are new there.

    A finished cell replaces a failed one. Rows of the same task by different code are refused unless `any_code`, and
    two different rows for one cell are refused always: equal parameters, seed and code give equal rows.
    """
    codes: dict[str, tuple[str, Path]] = {}
    known: dict[str, StoredLine] = {}
    rows: list[tuple[StoredLine, Store]] = []
    for store in (target, *sources):
        if store is not target and not store.path.is_file():
            raise InputError(f"There is no store {store.path}.")
        for line in store.lines():
            code, where = codes.setdefault(line.task, (line.code, store.path))
            if code != line.code and not any_code:
                raise InputError(
                    f"{store.path} has rows of {line.task!r} by the code {line.code}, but {where} by {code}; compute "
                    "them again with one version, or accept them with --any-code."
                )
            there = known.get(line.key)
            both_done = there is not None and there.status == line.status == "done"
            if both_done and any(getattr(there, name) != getattr(line, name) for name in _SAME):
                raise InputError(
                    f"{store.path} and another store have different rows for the cell {line.parameters}, seed "
                    f"{line.seed}, by the same code; on one machine this cannot be."
                )
            if there is None or (there.status == "failed" and line.status == "done"):
                known[line.key] = line
                rows += [(line, store)] if store is not target else []
    contents = [store.content(line) for line, store in rows]
    with target.writing():
        for (line, _), content in zip(rows, contents, strict=True):
            target.add(line, content)
    return len(rows)


def slurm_script(
    sweep: Sweep, spec: Path, *, shards: int, hours: float, memory: int, python: str, options: Sequence[str] = ()
) -> str:
    """A script for `sbatch`: an array of jobs, one for each shard, that can be submitted again until all is done.

    Parameters
    ----------
    sweep : Sweep
    spec : Path
        The file that the jobs read.
    shards : int
        Jobs of the array.
    hours : float
        Wall time of a job.
    memory : int
        MiB of a job.
    python : str
        The interpreter.
    options : sequence of str
        Further options of `marginflow sweep` for the jobs.
    """
    count = whole_number("shards", shards)
    if count > len(sweep.cells):
        raise InputError(
            f"shards is {count}, but there are {len(sweep.cells)} cells; at most one job for each is useful."
        )
    minutes = max(1, round(60 * hours))
    folder, name = spec.resolve().parent, re.sub(r"[^A-Za-z0-9_.-]+", "-", sweep.name)
    job = shlex.join([python, "-m", "marginflow.cli", "sweep", spec.name, *options])
    stores = " ".join(
        shlex.quote(Shard(index, count).store(spec.with_suffix(".sqlite")).name) for index in range(1, count + 1)
    )
    return f"""#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=1-{count}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time={minutes // 60:02d}:{minutes % 60:02d}:00
#SBATCH --mem={memory}M
#SBATCH --output={name}-%A-%a.log

# {len(sweep.cells)} cells in {count} shards, each with a store of its own. What is stored is not computed again:
# submit this script as often as needed. When all jobs are done:
#   marginflow sweep merge {stores} --out {shlex.quote(spec.with_suffix(".sqlite").name)}
set -eu
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
cd {shlex.quote(str(folder))}
exec {job} --shard "${{SLURM_ARRAY_TASK_ID}}/{count}"
"""
