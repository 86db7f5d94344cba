"""What a sweep costs beside the work itself: `python benchmarks/sweeps.py [--cells N] [--rounds N]`.

1. Twenty seeds of one cell, in one process with a store on disk, against a loop by hand.
2. Two workers against one on CPU-bound cells, including the start of the workers.

Both by the clock and by CPU time: on a machine that others use the clock measures them too. By CPU time, the cells of a
sweep with two workers, one after the other, are compared with half of what the workers and this process used together,
from their start: that is the ratio by the clock where two cores are free. Of several rounds the least disturbed counts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is imported

from sweep_cells import Work, work  # noqa: E402

from marginflow.sweeps import Results, Sweep, run  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--cells", type=int, default=24, help="cells of the second comparison")
parser.add_argument("--repeats", type=int, default=16, help="KKT points in each of them")
parser.add_argument("--rounds", type=int, default=3, help="of both comparisons, interleaved")


def by_hand(seeds: int) -> list[dict[str, float]]:
    return [dict(work(Work(), seed).row) for seed in range(seeds)]


def by_sweep(seeds: int, folder: Path, number: int) -> Results:
    return run(Sweep(task=work, seeds=seeds), store=folder / f"{number}.sqlite").require_complete()


def twenty_seeds(rounds: int, folder: Path) -> None:
    walls: dict[str, list[float]] = defaultdict(list)
    cpus: dict[str, list[float]] = defaultdict(list)
    by_hand(2)  # imports and caches
    for number in range(rounds):
        for name in ("hand", "sweep") if number % 2 == 0 else ("sweep", "hand"):
            wall, cpu = time.perf_counter(), time.process_time()
            found = by_hand(20) if name == "hand" else by_sweep(20, folder, number).rows
            walls[name].append(time.perf_counter() - wall)
            cpus[name].append(time.process_time() - cpu)
            assert len(found) == 20
    for what, times in (("clock", walls), ("CPU", cpus)):
        hand, sweep = (min(times[name]) for name in ("hand", "sweep"))
        print(f"20 seeds, one process, {what:>5}: by hand {hand:.3f} s, sweep {sweep:.3f} s, ratio {sweep / hand:.3f}")


def two_workers(rounds: int, cells: int, repeats: int, folder: Path) -> None:
    sweep = Sweep(task=work, fixed={"repeats": repeats}, seeds=cells)
    walls: dict[int, list[float]] = defaultdict(list)
    ratios = []
    for number in range(rounds):
        rows = {}
        for workers in (1, 2) if number % 2 == 0 else (2, 1):
            wall, cpu = time.perf_counter(), time.process_time()
            store = folder / f"workers{workers}-{number}.sqlite"
            results = run(sweep, store=store, workers=None if workers == 1 else workers).require_complete()
            walls[workers].append(time.perf_counter() - wall)
            rows[workers] = [row["norm"] for row in results.rows]
            if workers == 2:
                ratios.append(by_cpu(results, time.process_time() - cpu))
        assert rows[1] == rows[2]
    for workers in (1, 2):
        print(f"{cells} cells, {workers} worker(s), clock: {', '.join(f'{wall:.2f}' for wall in walls[workers])} s")
    alone, two = min(walls[1]), min(walls[2])
    print(f"{cells} cells, clock: one worker {alone:.2f} s, two {two:.2f} s, {alone / two:.2f}x")
    print(f"{cells} cells,   CPU: {', '.join(f'{ratio:.2f}' for ratio in ratios)}x")


def by_cpu(results: Results, own: float) -> float:
    """CPU time inside the cells over half of what the workers, from their start, and this process used."""
    used: dict[object, float] = defaultdict(float)
    for row in results.rows:
        used[row["process"]] = max(used[row["process"]], float(row["cpu"]))  # type: ignore[arg-type]
    inside = sum(float(row["inside"]) for row in results.rows)  # type: ignore[arg-type]
    return inside / ((own + sum(used.values())) / 2)


if __name__ == "__main__":
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        twenty_seeds(arguments.rounds, Path(name))
        two_workers(arguments.rounds, arguments.cells, arguments.repeats, Path(name))
