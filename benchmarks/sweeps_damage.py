"""Stores that something happened to: what is done to a good one, by a seed, and what must then be true of it.

`python benchmarks/sweeps_damage.py --stores 100` damages so many and says what became of them. There must be no
traceback, no wrong row, and every damage that is noticed is one sentence with exit code 2. The tests
try each kind once.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import shutil
import sqlite3
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from marginflow.cli import main
from marginflow.sweeps import Sweep, run

SPEC = """
[sweep]
name = "damaged"
task = "{task}"
seeds = 8

{grid}
"""
GRIDS = {
    "cheap_tasks:cheap": "[grid]\na = [1, 2, 3]",
    "limit": "[grid]\ndimension = [3, 4, 5]\n[fixed]\nn_samples = 3\nwidth = 4\narrays = true",
}


def good_store(folder: Path, task: str) -> tuple[Path, list[dict[str, object]]]:
    """A spec with its store in a folder, and its rows."""
    spec = folder / "spec.toml"
    spec.write_text(SPEC.format(task=task, grid=GRIDS[task]))
    return spec, run(Sweep.load(spec), store=folder / "spec.sqlite").rows


@dataclass(frozen=True)
class Case:
    """A kind of damage done to the store of a spec; `lock` and `wal` are the files beside it."""

    name: str
    apply: Callable[[Path, random.Random], None]


def _flip(count: int, start: float = 0.0) -> Callable[[Path, random.Random], None]:
    def apply(store: Path, rng: random.Random) -> None:
        content = bytearray(store.read_bytes())
        for _ in range(count):
            index = rng.randrange(int(start * len(content)), len(content))
            content[index] ^= 1 << rng.randrange(8)
        store.write_bytes(content)

    return apply


def _flip_in_head(store: Path, rng: random.Random) -> None:
    content = bytearray(store.read_bytes())
    content[rng.randrange(100)] ^= 1 << rng.randrange(8)
    store.write_bytes(content)


def _truncate(store: Path, rng: random.Random) -> None:
    content = store.read_bytes()
    store.write_bytes(content[: rng.randrange(1, len(content))])


def _page(filler: str) -> Callable[[Path, random.Random], None]:
    def apply(store: Path, rng: random.Random) -> None:
        content = bytearray(store.read_bytes())
        pages = len(content) // 4096
        index = 4096 * rng.randrange(pages)
        other = 4096 * rng.randrange(pages)
        fill = {"zero": bytes(4096), "noise": rng.randbytes(4096), "other": bytes(content[other : other + 4096])}
        content[index : index + 4096] = fill[filler]
        store.write_bytes(content)

    return apply


def _edit(statement: str) -> Callable[[Path, random.Random], None]:
    def apply(store: Path, rng: random.Random) -> None:
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute(statement, {"number": rng.randrange(1, 25)})

    return apply


def _replace_by(content: bytes) -> Callable[[Path, random.Random], None]:
    return lambda store, rng: store.write_bytes(content) and None


def _beside(ending: str, size: int) -> Callable[[Path, random.Random], None]:
    return lambda store, rng: store.with_name(store.name + ending).write_bytes(rng.randbytes(size)) and None


def _folder(store: Path, rng: random.Random) -> None:
    store.unlink()
    store.mkdir()


def _arrays(store: Path, rng: random.Random) -> None:
    file = rng.choice(sorted(store.with_suffix(".arrays").iterdir()))
    file.write_bytes(rng.randbytes(30))


CASES = (
    *(Case(f"{count} flipped bits", _flip(count)) for count in (1, 2, 5, 20, 100, 1000)),
    Case("a flipped bit in the head", _flip_in_head),
    Case("truncated", _truncate),
    *(Case(f"a page of {filler}", _page(filler)) for filler in ("zero", "noise", "other")),
    Case("bad JSON", _edit("UPDATE cells SET row = '{' WHERE number = :number")),
    Case("another number", _edit("UPDATE cells SET row = replace(row, '0', '1') WHERE number = :number")),
    Case("text that is not UTF-8", _edit("UPDATE cells SET row = CAST(x'ff' AS TEXT) WHERE number = :number")),
    Case("another status", _edit("UPDATE cells SET status = 'failed' WHERE number = :number")),
    Case("no table", _edit("ALTER TABLE cells RENAME TO other")),
    Case("other columns", _edit("ALTER TABLE cells RENAME COLUMN row TO line")),
    Case("no version", _edit("PRAGMA user_version = 0")),
    Case("garbage lock", _beside(".lock", 700)),
    Case("garbage log", _beside("-wal", 9000)),
    Case("damaged arrays", _arrays),
    Case("empty", _replace_by(b"")),
    Case("a text", _replace_by(b"my thesis, chapter one\n" * 300)),
    Case("a folder", _folder),
)


def run_quietly(*line: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command; an exception is a traceback and comes through."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(line))
    return code, out.getvalue(), err.getvalue()


def check_damaged(case: Case, seed: int, spec: Path, truth: list[dict[str, object]], folder: Path) -> str:
    """Damage a copy of the store, use it in every way, and check all that is promised; returns what became of it."""
    here = folder / f"damaged-{seed}"
    here.mkdir()
    for name in ("spec.toml", "spec.sqlite"):
        shutil.copy(spec.with_name(name), here / name)
    shutil.copytree(spec.with_name("spec.arrays"), here / "spec.arrays")
    store = here / "spec.sqlite"
    case.apply(store, random.Random(seed))
    axis = "a" if "a" in truth[0] else "dimension"
    expected = {(row[axis], row["seed"]): json.loads(json.dumps(row).replace("Infinity", "null")) for row in truth}

    def right(out: str) -> int:
        rows = json.loads(out)["rows"]
        assert all(expected[row[axis], row["seed"]] == row for row in rows), f"{case.name}: a wrong row was accepted"
        return len(rows)

    def one_sentence(err: str) -> None:
        assert err.startswith("marginflow: "), err
        assert err.count("\n") == 1, err

    text = str(here / "spec.toml")
    codes = []
    for line in (("--dry-run",), ("--failures",), ("--show", "3"), ()):
        code, out, err = run_quietly("sweep", text, "--json", *line)
        codes.append(code)
        assert code in (0, 1, 2)
        if code == 2:
            one_sentence(err)
        elif "--show" not in line:
            right(out)
    if codes[-1] == 0:
        return "complete"
    assert codes[-1] == 2
    rescued = here / "rescued.sqlite"
    code, out, err = run_quietly("sweep", text, "--recover", str(rescued), "--json")
    if code == 2:  # a folder, or a file that never was a store
        one_sentence(err)
        assert case.name == "a folder"
        return "refused"
    saved = json.loads(out)["rows"]
    code, out, _ = run_quietly("sweep", text, "--store", str(rescued), "--json")
    assert code == 0
    assert right(out) == len(truth)
    return f"recovered {saved}"


def report(stores: int, first: int) -> int:
    """Damage so many stores, one kind after the other, and count what became of them."""
    became: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec, truth = good_store(folder, "limit")
        for seed in range(first, first + stores):
            case = CASES[seed % len(CASES)]
            try:
                found = check_damaged(case, seed, spec, truth, folder)
            except BaseException:
                print(f"seed {seed}, {case.name}:\n{traceback.format_exc()}")
                found = "TRACEBACK OR BROKEN PROMISE"
            print(f"{seed:4d}  {case.name:<28}  {found}")
            became[found.partition(" ")[0]] += 1
    print(", ".join(f"{count} {word}" for word, count in became.items()))
    return int(became["TRACEBACK"] > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    raise SystemExit(report(arguments.stores, arguments.first_seed))
