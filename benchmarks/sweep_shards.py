"""200 cells in 4 shards as jobs of a stand-in for sbatch, two of them killed, all submitted again, merged and compared.

`python benchmarks/sweep_shards.py` ends with code 0 if the merged store is the undivided sweep bit for bit.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from marginflow.sweeps import Store, Sweep, compare, run, stored

SPEC = """
[sweep]
name = "two hundred flips"
task = "flip"
seeds = 10
[grid]
dimension = [16, 24, 32, 40, 48]
direction = ["label-sum", "dual"]
bias = [true, false]
[fixed]
n_samples = 12
width = 60
"""
SHARDS, KILLED, AFTER = 4, (2, 3), 10
COMMAND = (sys.executable, "-m", "marginflow.cli", "sweep")


def submit(script: Path) -> list[subprocess.Popen[bytes]]:
    """Every job of the array at once, each the leader of its processes, as sbatch would start them."""
    jobs = []
    for index in range(1, SHARDS + 1):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(index)}
        line = ["bash", str(script)]
        jobs.append(subprocess.Popen(line, env=environment, start_new_session=True, stdout=subprocess.DEVNULL))
    return jobs


def count(folder: Path, index: int) -> int:
    """Cells in the store of a shard."""
    return len(Store(folder / f"spec.shard-{index}-of-{SHARDS}.sqlite").lines())


def main(folder: Path) -> int:
    spec, script = folder / "spec.toml", folder / "jobs.sh"
    spec.write_text(SPEC, encoding="utf-8")
    script.write_bytes(subprocess.check_output([*COMMAND, "slurm", str(spec), "--shards", str(SHARDS)]))
    jobs = submit(script)
    while sum(count(folder, index) for index in KILLED) < AFTER:
        time.sleep(0.1)
    for index in KILLED:
        os.killpg(jobs[index - 1].pid, signal.SIGKILL)
    codes = [job.wait() for job in jobs]
    print(f"exit codes {codes}; cells by shard {[count(folder, index) for index in range(1, SHARDS + 1)]}")
    print(f"submitted again: exit codes {[job.wait() for job in submit(script)]}")
    shards = [str(folder / f"spec.shard-{index}-of-{SHARDS}.sqlite") for index in range(1, SHARDS + 1)]
    subprocess.check_call([*COMMAND, "merge", *shards, "--out", str(folder / "spec.sqlite")])
    sweep = Sweep.load(spec)
    whole = run(sweep, store=folder / "whole.sqlite", workers=1).require_complete()
    merged = stored(sweep, folder / "spec.sqlite").require_complete()
    found = compare(Store(folder / "spec.sqlite"), Store(folder / "whole.sqlite"))
    same = found.same and merged.rows == whole.rows
    print(f"{found.equal} of {len(sweep.cells)} cells have equal rows; {'the same sweep' if same else 'NOT the same'}")
    return 0 if same else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        raise SystemExit(main(Path(name)))
