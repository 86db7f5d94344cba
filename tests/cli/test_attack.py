"""Random command lines against every command: no traceback, no exit code without a meaning."""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from marginflow.cli import main


@pytest.fixture(scope="module")
def attack() -> ModuleType:
    source = Path(__file__).parents[2] / "benchmarks" / "attack_cli.py"
    spec = importlib.util.spec_from_file_location("attack_cli", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_command_lines_end_in_an_exit_code_and_a_sentence(attack: ModuleType) -> None:
    codes, bad = attack.run(60, seed=20, seconds=1.0)
    assert bad == []
    assert set(codes) <= set(attack.CODES)
    assert codes[2] < 60  # some of them are right


@pytest.fixture
def files(attack: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    attack.make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", [["report", "digits.json", "--out", "a.html"], ["cite", "digits.json"]])
def test_a_number_of_6000_digits_is_refused_in_one_sentence(command: list[str], files: Path, capsys) -> None:
    assert main(command) == 2
    assert "digits.json holds a whole number with thousands of digits" in capsys.readouterr().err
    assert not (files / "a.html").exists()


def test_a_link_to_nowhere_as_folder_of_pictures_is_refused_before_the_page_is_written(files: Path, capsys) -> None:
    assert main(["report", "rows.csv", "--x", "it's", "--y", "a[0].b", "--out", "a.html", "--svg", "dangling"]) == 2
    assert "is a link to a folder that does not exist" in capsys.readouterr().err
    assert not (files / "a.html").exists()


def test_quotes_and_brackets_in_names_of_columns_are_drawn(files: Path) -> None:
    line = [
        "report",
        "rows.csv",
        "--x",
        "it's",
        "--y",
        "a[0].b",
        "--series",
        "s x",
        "--out",
        "a.html",
        "--svg",
        "drawn",
    ]
    assert main(line) == 0
    (picture,) = (files / "drawn").iterdir()
    text = picture.read_text()
    assert "a[0].b" in text
    assert 'aria-roledescription="point"' in text or "<path" in text
    assert "s x: a" in text  # a datum was found under its name


def test_a_link_to_nowhere_is_not_replaced_by_a_page(files: Path, capsys) -> None:
    (files / "lost.html").symlink_to("no/such.html")
    line = ["report", "rows.csv", "--x", "it's", "--y", "a[0].b", "--out", "lost.html"]
    assert main(line) == 2
    assert "lost.html is a link to nothing" in capsys.readouterr().err
    assert (files / "lost.html").is_symlink()
    assert main([*line, "--force"]) == 0
    assert (files / "lost.html").is_file()


@pytest.mark.parametrize("name", ["\\", "ends in \\", 'a"\\', "\\u", "\\'] ["])
def test_backslashes_in_names_of_columns_are_drawn(name: str, files: Path) -> None:
    rows = [{name: i, f"y{name}": i * i, f"s{name}": f"{i % 2}{name}"} for i in range(4)]
    (files / "slashes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ["--x", name, "--y", f"y{name}", "--series", f"s{name}"]
    assert main(["report", "slashes.jsonl", *columns, "--out", "slashes.html", "--svg", "slashes"]) == 0
    (picture,) = (files / "slashes").iterdir()
    assert picture.read_text().count('aria-roledescription="point"') >= 4


def test_installing_the_completion_prints_a_line_and_writes_nothing(files: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(files))
    before = sorted(files.iterdir())
    assert main(["--install-completion"]) == 0
    assert capsys.readouterr().out.splitlines()[1].strip() == 'eval "$(marginflow completion bash)"'
    assert sorted(files.iterdir()) == before


def test_arrays_that_declare_more_than_there_is_are_refused_whoever_reads_them(files: Path, capsys) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (750_000, 1000)})
    (files / "bomb.npy").write_bytes(header.getvalue())
    with zipfile.ZipFile(files / "bomb.npz", "w") as archive:
        for name in ("X", "y", "lambda", "mu"):
            archive.writestr(f"{name}.npy", header.getvalue())
    lines = (
        "flip net.safetensors data.npz --direction bomb.npy",
        "check VYS22/Thm4.1 --network net.safetensors --data data.npz --multipliers bomb.npz",
        "certify net.safetensors bomb.npz",
    )
    for line in lines:
        assert main(line.split()) == 2
        said = capsys.readouterr().err
        assert "declares arrays of " in said
        assert said.count("\n") == 1


@pytest.mark.parametrize("file", ["vector.npy", "broken.npz", "object.npy", "no.npz", "folder.npz", "data.npz"])
def test_multipliers_that_are_none_are_refused_in_one_sentence(file: str, files: Path, capsys) -> None:
    line = f"check VYS22/Thm4.1 --network net.safetensors --data data.npz --multipliers {file}"
    assert main(line.split()) == 2
    said = capsys.readouterr().err
    assert file in said
    assert said.count("\n") == 1
