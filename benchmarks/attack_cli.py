"""Random command lines against every command: no traceback, exit codes 0, 1, 2 and 130 only, errors of one sentence.

python benchmarks/attack_cli.py [number of command lines] [seed]

Every line is run in this process, in a folder of its own with good, damaged and hostile files; what takes longer than
the time allowed is interrupted as Ctrl-C would do it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.ndimage
import scipy.stats  # noqa: F401

from marginflow import theory
from marginflow.cli import main
from marginflow.cli.app import app
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

CODES = (0, 1, 2, 130)
WORDS = [
    "", " ", "0", "1", "-1", "2", "3", "2.5", "1e400", "-1e400", "1e-320", "1e200", "nan", "inf", "-inf", "1e30",
    "9" * 400, "9" * 5000, "0x10", "1_000", "true", "no", "None", "it's", 'a"b', "a[0].b", "<b>", "\x00", "\udc80", "é",
    "𝕏", "--", "---", "-", "-o", "--json", "--help", "--nonsense", "=", "a=b", "a=1e400", "=1", "0,1", "0,0", "1,,2",
    "-1,5", "label-sum", "dual", "means", "margin", "support", "flow", "vys22", "smoke", "VYS22/Thm4.1", "FCB22/Eq6",
    "VYS22/Fig1a", "KYS23", "theorem", "svg", "frozen", "cat", "1.0", "bash", "%s", "{x}", "*", "~", "$HOME",
]  # fmt: skip
FILES = [
    "data.npz", "data.csv", "net.safetensors", "wide.safetensors", "limit.json", "rows.csv", "rows.jsonl", "vector.npy",
    "broken.npz", "broken.csv", "broken.safetensors", "broken.json", "digits.json", "deep.json", "empty.npz",
    "empty.csv",
    "nan.csv", "object.npy", "folder", "folder.npz", "dangling", "dangling.json", "spec.toml", "broken.toml", "no.such",
    "no.npz", "/dev/null", "/dev/full", "/proc/self/mem", "/", ".", "..", "out.html", "out.json", "out.npz", "out.svg",
    "out.safetensors", "out.csv", "no/folder/out.html", "x" * 300 + ".html", "model.pt", "model.onnx", "store.sqlite",
]  # fmt: skip

# Lines that are right; most attacks change one or two of their words.
RIGHT = [
    "convert rows.csv --positive a --drop a[0].b --out out.npz",
    "train data.npz --width 4 --max-steps 20 --out a.safetensors",
    "train data.npz --recipe fcb22 --width 4 --max-steps 5 --out a.safetensors",
    "certify net.safetensors data.npz --json",
    "limit data.npz --width 4 --seed 1 --scale 0.01 --out a.safetensors", "flip net.safetensors data.csv --share 0.5",
    "limit data.npz --width 4 --outputs frozen --no-bias --penalty 1 --out a.safetensors",
    "radius net.safetensors data.npz --first 2 --tolerance 1e-6 --out a.json", "cite limit.json",
    "flip net.safetensors data.npz --direction label-sum vector.npy --test data.csv --out a.json",
    "audit net.safetensors data.npz --seed 1 --out a.html", "report net.safetensors data.npz --out a.html",
    "report rows.csv --x it's --y a[0].b --series s\u00a0x --out a.html --svg pictures",
    "report rows.jsonl --out a.html",
    "statements VYS22/Thm4.1", "statements --paper KYS23 --kind lemma", "check VYS22/Def2.1 --control", "figure",
    "check VYS22/Thm4.1 --network net.safetensors --data data.npz --seed 0", "doctor --json", "completion bash",
    "check FCB22/Lem4.1 -p n=3", "sweep spec.toml --store a.sqlite --dry-run", "sweep spec.toml --export a.csv",
    "sample sphere 5 --dimension 3 --noise-rate 0.1 --noise uniform --out a.npz", "sample xor-clusters 8 --out a.csv",
    "sample clusters 8 --dimension 8 --n-clusters 2 --out a.npz", "sample orthogonal 4 --dimension 4 --out a.npz",
    "sample interval 5 --out a.npz", "sample gaussian 5 --dimension 3 --reduced --out a.npz",
]  # fmt: skip


def make_files(folder: Path) -> None:
    """Good, damaged and hostile files, always the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    data = Dataset(X=X, y=np.where(X[:, 0] > 0, 1.0, -1.0))
    data.save(folder / "data.npz")
    data.save(folder / "data.csv")
    TwoLayer.initialise(4, 2, seed=0).save(folder / "net.safetensors")
    TwoLayer.initialise(4, 5, seed=0).save(folder / "wide.safetensors")
    np.save(folder / "vector.npy", np.ones(2))
    np.save(folder / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("data.npz", "net.safetensors"):
        whole = (folder / name).read_bytes()
        (folder / name.replace(name.split(".")[0], "broken")).write_bytes(whole[: len(whole) // 2])
    texts = {
        "rows.csv": "it's,a[0].b,s x\n1,2,a\n2,3,a\n3,nan,b\n",
        "rows.jsonl": '{"a": 1, "b": 2}\n{"a": 2, "b": null}\n',
        "limit.json": json.dumps({"certificate": {"total": None}, "moved": 3, "history": [], "holds": "x"}),
        "broken.csv": '1,2,"3\n4',
        "broken.json": '{"a": ',
        "broken.toml": "a = [",
        "digits.json": '{"a": ' + "9" * 6000 + "}",
        "deep.json": '{"a":' * 500 + "1" + "}" * 500,
        "empty.npz": "",
        "empty.csv": "",
        "nan.csv": "a,b,label\n1,nan,1\n2,3,-1\n",
        "model.pt": "not a model",
        "model.onnx": "not a model",
        "store.sqlite": "not a store",
        "spec.toml": 'name = "x"\ntask = "no such"\nseeds = 1\n[axes]\na = [1]\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "folder").mkdir()
    (folder / "folder.npz").mkdir()
    (folder / "dangling").symlink_to(folder / "nowhere" / "x")
    (folder / "dangling.json").symlink_to(folder / "nowhere" / "y")


def commands() -> dict[tuple[str, ...], list[str]]:
    """Every command and subcommand with the names of its options."""
    found: dict[tuple[str, ...], list[str]] = {(): ["--help", "--version", "--install-completion"]}
    for name in app:
        if name.startswith("-"):
            continue
        inner = [sub for sub in app[name] if not sub.startswith("-")]
        for path in [(name, sub) for sub in inner] or [(name,)]:
            frame = app
            for part in path:
                frame = frame[part]
            found[path] = [option for argument in frame.assemble_argument_collection() for option in argument.names]
    return found


def random_line(rng: random.Random, known: dict[tuple[str, ...], list[str]]) -> list[str]:
    """A command line: often nearly right, sometimes nonsense."""
    if rng.random() < 0.7:
        line = [word.replace("\u00a0", " ") for word in rng.choice(RIGHT).split(" ")]
        path = tuple(line[: 2 if line[0] == "sample" else 1])
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            match rng.choice(["replace", "replace", "remove", "double", "option"]):
                case "replace" if len(line) > 1:
                    line[rng.randrange(1, len(line))] = _word(rng, good=0.1)
                case "remove" if len(line) > 1:
                    del line[rng.randrange(1, len(line))]
                case "double":
                    line.append(rng.choice(line[1:] or [""]))
                case _:
                    line += [rng.choice(known.get(path) or ["--help"]), _word(rng, good=0.1)]
        return line
    path = rng.choice(list(known))
    line = list(path)
    for _ in range(rng.choice([0, 1, 2, 2, 2, 3])):
        line.append(_word(rng, good=0.6))
    for _ in range(rng.choice([0, 1, 1, 2, 3, 4])):
        line.append(rng.choice(known[path] or ["--help"]))
        if rng.random() < 0.85:
            line.append(_word(rng, good=0.3))
    if rng.random() < 0.7 and path:
        suffix = {"report": ".html", "audit": ".html", "radius": ".json", "flip": ".json", "certify": ".json"}
        ends = suffix.get(path[0], rng.choice([".npz", ".safetensors", ".html", ".csv"]))
        line += ["--out", f"out-{rng.randrange(10**9)}{ends}"]
    if path and path[0] == "sample" and rng.random() < 0.7:
        line += ["--dimension", str(rng.choice([1, 2, 3, 8, 0, -1, 10**7]))]
    return line


def _word(rng: random.Random, *, good: float) -> str:
    if rng.random() < good:
        return rng.choice(["data.npz", "data.csv", "net.safetensors", "rows.csv", "5", "20", "VYS22/Def2.1"])
    return rng.choice(FILES if rng.random() < 0.5 else WORDS)


@contextlib.contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Ctrl-C after so many seconds, and again and again if nobody listens."""

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, seconds, 10.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def attack(line: list[str], *, seconds: float) -> tuple[int | None, str]:
    """The exit code, and what is wrong with how the command ended; nothing if it ended well."""
    out, err = io.StringIO(), io.StringIO()
    code: int | None = None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            with interrupted_after(seconds):
                code = main(line)
    except SystemExit as error:
        return None, f"SystemExit({error.code})"
    except BaseException:
        return None, traceback.format_exc()
    if code not in CODES:
        return code, f"exit code {code}"
    said = err.getvalue()
    if "Traceback" in said + out.getvalue():
        return code, said
    if code == 2 and len([text for text in said.splitlines() if text.startswith("marginflow: ")]) != 1:
        return code, f"bad input, but not one sentence: {said!r}"
    return code, ""


def run(number: int, seed: int, *, seconds: float = 5.0) -> tuple[Counter[int | None], list[tuple[list[str], str]]]:
    """Exit codes of so many random command lines, and the lines that ended badly."""
    rng, known = random.Random(seed), commands()
    theory.statements()  # all papers are imported before the first alarm, which would cut an import in half
    codes: Counter[int | None] = Counter()
    bad: list[tuple[list[str], str]] = []
    home = Path.cwd()
    for _ in range(number):
        line = random_line(rng, known)
        with tempfile.TemporaryDirectory() as folder:
            make_files(Path(folder))
            os.chdir(folder)
            try:
                code, wrong = attack(line, seconds=seconds)
            finally:
                os.chdir(home)
        codes[code] += 1
        if wrong:
            bad.append((line, wrong))
    return codes, bad


def import_first() -> None:
    """Bring in what commands import on their own and what takes seconds on a busy machine."""
    for module in ("altair", "vl_convert", "pandas", "sklearn.datasets", "onnx", "torch"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


if __name__ == "__main__":
    import_first()
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began = time.perf_counter()
    ended, faults = run(asked, first)
    for faulty, why in faults:
        print(f"{faulty!r}\n{why}\n")
    print(f"{asked} command lines in {time.perf_counter() - began:.0f} s: {dict(ended)}, {len(faults)} ended badly")
    sys.exit(1 if faults else 0)
