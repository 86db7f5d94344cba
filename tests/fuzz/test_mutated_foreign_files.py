"""1,000 damaged ONNX files and 1,000 damaged torch files: a network or one sentence, and no code is run."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

torch = pytest.importorskip("torch", reason="damages files of torch, an optional extra")
pytest.importorskip("onnx", reason="damages ONNX files, an optional extra")

from marginflow.interop import onnx as our_onnx  # noqa: E402
from marginflow.interop.files import load_network  # noqa: E402
from marginflow.interop.torch import tensors  # noqa: E402

pytestmark = pytest.mark.usefixtures("_no_hang")

COUNT = 1000
STRIDE = 40
MUTATIONS = {
    "onnx": ("anywhere", "at_the_head", "words"),
    "pt": ("anywhere", "inside_the_archive", "inside_the_archive"),
}


@pytest.mark.parametrize("suffix", ["onnx", "pt"])
def test_damaged_networks_are_read_or_refused_in_one_sentence(
    suffix: str,
    mutation: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    network = TwoLayer(W=[[1.0, 0.2], [0.0, 1.0], [0.3, -0.1]], b=[0.1, 0.0, -0.2], v=[1.0, -1.0, 0.5])
    mutant = Path(f"mutant.{suffix}")
    if suffix == "onnx":
        our_onnx.save(network, mutant)
    else:
        torch.save(tensors(network), mutant)
    Dataset(X=np.eye(2), y=[1, -1]).save("good.npz")
    content, kinds = mutant.read_bytes(), MUTATIONS[suffix]
    refused = 0
    for number in range(COUNT):
        rng = np.random.default_rng([zlib.crc32(suffix.encode()), number])
        mutant.write_bytes(getattr(mutation, kinds[number % len(kinds)])(content, rng))
        try:
            load_network(mutant)
        except InputError as error:
            refused += 1
            if "\n" in str(error):
                pytest.fail(f"file {number} of {suffix}: several lines: {error}")
        except Exception as error:
            pytest.fail(f"file {number} of {suffix}: {type(error).__name__}: {error}")
        if number % STRIDE == 0:
            code = main(["audit", mutant.name, "good.npz", "--points", "1", "--json"])
            captured = capsys.readouterr()
            assert code in (0, 1, 2), number
            assert code < 2 or (captured.out == "" and captured.err.count("\n") == 1), (number, captured.err)
        assert {path.name for path in tmp_path.iterdir()} == {mutant.name, "good.npz"}, number
    assert refused > COUNT // 5


class _WritesAFile:
    """What a malicious pickle looks like: reading it would create the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("new_format", [True, False], ids=["zip", "legacy"])
def test_pickled_code_in_a_torch_file_is_not_run(
    new_format: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    victim, path = tmp_path / "victim", tmp_path / "evil.pt"
    content = {"0.weight": torch.ones(2, 2), "2.weight": torch.ones(1, 2), "payload": _WritesAFile(victim)}
    torch.save(content, path, _use_new_zipfile_serialization=new_format)
    Dataset(X=np.eye(2), y=[1, -1]).save(tmp_path / "good.npz")
    assert main(["audit", str(path), str(tmp_path / "good.npz")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not victim.exists()
    torch.load(path, weights_only=False)  # the payload is real: the careless way runs it
    assert victim.exists()
