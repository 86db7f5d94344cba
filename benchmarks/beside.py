"""This code beside another copy of it: rows of every figure at its smallest size, and times of a few calls.

    python benchmarks/beside.py OTHER/src rows [--only ID ...]
    python benchmarks/beside.py OTHER/src times [--rounds 3]

"rows": every value of every row must be the same bit for bit (seconds and memory are left out); what differs is named.
"times": processor seconds of the same calls, the two copies in turn, the least of the rounds, and their ratio. Run with
OPENBLAS_NUM_THREADS=1. Exit code 1 if a row differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parents[1] / "src"
# What a clock or the size of a process decides.
MACHINE = ("seconds", "memory")


def rows(only: list[str]) -> Iterator[tuple[str, Any]]:
    """Rows of figures, numbers as hexadecimal text; a store lets figures share their cells."""
    from marginflow import experiments

    with TemporaryDirectory() as folder:
        for figure in experiments.figures():
            if not only or figure.id in only:
                found = figure.run(size="smoke", store=Path(folder) / "cells.sqlite").rows
                yield figure.id, [{name: as_text(value) for name, value in row.items()} for row in found]


def as_text(value: object) -> str:
    """A value with every bit."""
    return value.hex() if isinstance(value, float) else repr(value)


def calls() -> dict[str, Callable[[], object]]:
    """What is timed: one call of every room that computes."""
    import marginflow as mf

    data = mf.data.Sphere(dimension=50).sample(100, seed=0)
    moons = mf.data.moons(100, noise=0.2, seed=0)
    net = mf.networks.TwoLayer.initialise(width=100, dimension=50, scale=0.1, seed=0)
    point = mf.kkt_point(data, width=100, seed=0)
    line = mf.data.Interval(p=0.2).sample(60, seed=0)
    steps = [mf.flow.Steps(200)]
    return {
        "kkt_point (50, 100)": lambda: mf.kkt_point(data, width=100, seed=0),
        "kkt_point moons 100": lambda: mf.kkt_point(moons, width=50, seed=0),
        "global on the line 60": lambda: mf.kkt_point(line, width=60, seed=0, optimum="global"),
        "certify": lambda: mf.certify(point.network, data),
        "200 steps of VYS22": lambda: mf.train(net, data, mf.flow.recipes.VYS22(), stop=steps),
        "exact radius": lambda: mf.robustness.exact_radius(point.network, data.X[0]),
        "universal vector": lambda: mf.robustness.universal_perturbation(point.network, data.X, data.y),
        "all statements of VYS22": lambda: mf.theory.coverage("VYS22"),
    }


def times(_: list[str]) -> Iterator[tuple[str, Any]]:
    """Processor seconds of every call, in a process that has made each once."""
    for name, call in calls().items():
        call()
        began = time.process_time()
        call()
        yield name, time.process_time() - began


def elsewhere(source: Path, what: str, only: list[str]) -> dict[str, Any]:
    """What the copy of the code at `source` says, from a process of its own."""
    line = [sys.executable, __file__, str(source), what, "--inside", *(["--only", *only] if only else [])]
    done = subprocess.run(line, env=os.environ | {"PYTHONPATH": str(source)}, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def differing(ours: list[dict[str, str]], theirs: list[dict[str, str]]) -> str:
    """Where rows differ, in a few words; empty if nowhere."""
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} rows"
    columns = sorted(
        {
            name
            for a, b in zip(ours, theirs, strict=True)
            for name in a.keys() | b.keys()
            if a.get(name) != b.get(name) and name not in MACHINE
        }
    )
    return f"columns {', '.join(columns)}" if columns else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("what", choices=["rows", "times"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--inside", action="store_true", help="print what this copy says, for the process that asked")
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(dict({"rows": rows, "times": times}[given.what](given.only))))
        return 0
    if given.what == "rows":
        ours, theirs = (elsewhere(source, "rows", given.only) for source in (HERE, given.other))
        wrong = 0
        for id in sorted(ours.keys() | theirs.keys()):
            where = differing(ours.get(id, []), theirs.get(id, []))
            wrong += bool(where)
            print(f"{id:<28} {len(ours.get(id, [])):>4} rows  {where or 'the same'}")
        print(f"{wrong} of {len(ours)} figures differ.")
        return int(wrong > 0)
    rounds = [[elsewhere(source, "times", []) for source in (HERE, given.other)] for _ in range(given.rounds)]
    print(f"{'call':<28} {'here':>8} {'there':>8}  ratio")
    for name in rounds[0][0]:
        here, there = (min(pair[side][name] for pair in rounds) for side in (0, 1))
        print(f"{name:<28} {here:8.3f} {there:8.3f}  {here / there:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
