"""8,000 damaged files (with the foreign formats beside this file 10,000): a value or one sentence, nothing else.

Most go through the loaders, every eightieth through the command line. Seeds are fixed: a failure comes again.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer
from marginflow.sweeps import Sweep

pytestmark = pytest.mark.usefixtures("_no_hang")

# Files of each format; with 1,000 each of ONNX and torch they are 10,000.
COUNTS = {"net.safetensors": 1000, "deep.safetensors": 300, "data.npz": 1200, "data.csv": 1000, "sweep.toml": 500}
# Every so manieth file is also given to a command.
STRIDE = 80

SPEC = b"""
[sweep]
name = "small"
task = "limit"
seeds = [0, 1]

[grid]
dimension = [2, 3]
noise = [0.0, 0.25]

[fixed]
law = "sphere"
n_samples = 2
width = 4

[[points]]
bias = true
"""


def originals(folder: Path) -> dict[str, bytes]:
    """One good file of each format, small enough that damage hits what matters."""
    network = TwoLayer(W=[[1.0, 0.2], [0.0, 1.0], [0.3, -0.1]], b=[0.1, 0.0, -0.2], v=[1.0, -1.0, 0.5])
    data = Dataset(
        X=[[1.0, 0.25], [0.0, 1.0], [-1.0, 0.5]],
        y=[1, -1, 1],
        clean_labels=[1, -1, -1],
        clusters=[0, 1, 0],
        means=np.eye(2),
        mean_labels=[1, -1],
        origin={"name": "by hand"},
    )
    network.save(folder / "net.safetensors")
    MLP.initialise([2, 2], 2, bias="all", seed=0).save(folder / "deep.safetensors")
    data.save(folder / "data.npz")
    data.save(folder / "data.csv")
    (folder / "sweep.toml").write_bytes(SPEC)
    return {name: (folder / name).read_bytes() for name in COUNTS}


LOADERS: dict[str, Callable[[Path], object]] = {
    "net.safetensors": TwoLayer.load,
    "deep.safetensors": MLP.load,
    "data.npz": Dataset.load,
    "data.csv": Dataset.load,
    "sweep.toml": Sweep.load,
}
COMMANDS = {
    "net.safetensors": ["certify", "mutant.safetensors", "good.npz", "--json"],
    "deep.safetensors": ["audit", "mutant.safetensors", "good.npz", "--json"],
    "data.npz": ["certify", "good.safetensors", "mutant.npz", "--json"],
    "data.csv": ["certify", "good.safetensors", "mutant.csv", "--json"],
    "sweep.toml": ["sweep", "mutant.toml", "--dry-run", "--json"],
}
MUTATIONS = {
    ".safetensors": ("anywhere", "at_the_head", "safetensors_header", "harsh_numbers"),
    ".npz": ("anywhere", "inside_the_archive", "inside_the_archive"),
    ".csv": ("anywhere", "words", "words"),
    ".toml": ("anywhere", "words", "words"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_damaged_files_are_read_or_refused_in_one_sentence(
    name: str,
    mutation: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    content = originals(tmp_path)
    suffix = Path(name).suffix
    Path("net.safetensors").rename("good.safetensors")
    Path("data.npz").rename("good.npz")
    mutant = Path(f"mutant{suffix}")
    kinds = MUTATIONS[suffix]
    refused = 0
    for number in range(COUNTS[name]):
        rng = np.random.default_rng([zlib.crc32(name.encode()), number])
        damaged = getattr(mutation, kinds[number % len(kinds)])(content[name], rng)
        mutant.write_bytes(damaged)
        there = {path.name for path in tmp_path.iterdir()}
        try:
            LOADERS[name](mutant)
        except InputError as error:
            refused += 1
            if "\n" in str(error):
                pytest.fail(f"file {number} of {name}: several lines: {error}")
        except Exception as error:
            pytest.fail(f"file {number} of {name}: {type(error).__name__}: {error}")
        if number % STRIDE == 0:
            code = main(COMMANDS[name])
            captured = capsys.readouterr()
            assert code in (0, 1, 2), number
            assert code < 2 or (captured.out == "" and captured.err.count("\n") == 1), (number, captured.err)
            assert "Traceback" not in captured.err, number
        assert {path.name for path in tmp_path.iterdir()} == there, number
    assert refused > COUNTS[name] // 5  # the damage is damage


class _WritesAFile:
    """What a malicious pickle looks like: reading it would create the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("field", ["X", "y", "origin"])
def test_pickled_arrays_in_npz_are_not_run(field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    victim, path = tmp_path / "victim", tmp_path / "evil.npz"
    payload = np.array([_WritesAFile(victim)], dtype=object)
    fields = {"X": np.eye(2), "y": np.array([1.0, -1.0]), field: payload}
    buffer = io.BytesIO()
    np.savez(buffer, **fields)
    path.write_bytes(buffer.getvalue())
    TwoLayer(W=np.eye(2), v=[1.0, -1.0]).save(tmp_path / "good.safetensors")
    assert main(["certify", str(tmp_path / "good.safetensors"), str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not victim.exists()
    with np.load(path, allow_pickle=True) as careless:  # the payload is real: the careless way runs it
        _ = careless[field]
    assert victim.exists()
