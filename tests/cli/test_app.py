"""The frame of the command line: exit codes, one sentence per error, quick and lazy."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from marginflow import InputError, __version__
from marginflow.cli import app as frame
from marginflow.cli import main

HEAVY = ("altair", "torch", "sklearn", "flint", "vl_convert", "jinja2", "onnx", "matplotlib", "pandas")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "marginflow.cli", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def test_help_lists_every_command_and_every_command_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    overview = capsys.readouterr().out
    names = [name for name in frame.app if not name.startswith("-")]
    assert names
    for name in names:
        assert name in overview
        assert main([name, "--help"]) == 0
        assert f"Example: marginflow {name}" in capsys.readouterr().out


def test_commands_come_in_the_order_of_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    overview = capsys.readouterr().out
    listed = re.findall(r"^│ ([a-z][a-z-]*) ", overview, flags=re.M)
    assert listed == list(frame.COMMANDS)
    assert listed[:5] == ["demo", "sample", "convert", "train", "limit"]


@pytest.mark.parametrize("name", list(frame.COMMANDS))
def test_help_says_nothing_of_flags_that_are_off_or_lists_that_are_empty(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    for noise in ("default: False", "default: ()", "default: None", "--empty-"):
        assert noise not in words


def test_no_help_of_a_command_imports_solvers_statements_or_charts(tmp_path: Path) -> None:
    lines = [*([name] for name in frame.COMMANDS), ["sample", "sphere"], ["sweep", "merge"], ["sweep", "slurm"]]
    rooms = ("theory", "limit", "experiments", "sweeps", "robustness", "influences", "audits", "interop")
    heavy = (*HEAVY, "scipy", "msgspec", "sqlite3", *(f"marginflow.{room}" for room in rooms))
    script = (
        "import sys\nfrom marginflow.cli import main\n"
        f"for line in {lines!r}:\n"
        "    assert main([*line, '--help']) == 0\n"
        f"    brought = [name for name in {heavy!r} if name in sys.modules]\n"
        "    if brought: sys.exit(f'{line} imports {brought}')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_of_every_command_does_without_numpy(tmp_path: Path) -> None:
    # The laws of `sample` are those that the data room finds in its files, so its help asks them.
    lines = [[name] for name in frame.COMMANDS if name != "sample"] + [["sweep", name] for name in ("merge", "compare")]
    script = (
        "import sys\nfrom marginflow.cli import main\n"
        f"for line in {lines!r}:\n"
        "    assert main([*line, '--help']) == 0\n"
        "    if 'numpy' in sys.modules: sys.exit(f'{line} imports numpy')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize("line", ["nonsense", "--nonsense", "sample", "sample sphere 3 --dimension 2 --out a.npz more"])
def test_what_cannot_be_parsed_is_one_sentence(line: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    code = main(line.split())
    captured = capsys.readouterr()
    if line == "sample":  # a group of commands without a choice shows its help
        assert (code, captured.err) == (0, "")
        return
    assert code == 2
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (InputError("x is 3; 4 is expected."), 2),
        (KeyboardInterrupt(), 130),
        (PermissionError(13, "Permission denied", "a.npz"), 2),
        (OSError(28, "No space left on device"), 2),
        (MemoryError(), 2),
    ],
)
def test_exceptions_become_exit_codes(raised: BaseException, code: int, monkeypatch, capsys) -> None:
    def fail(*_: object) -> int:
        raise raised

    monkeypatch.setattr(frame, "app", fail)
    assert main([]) == code
    captured = capsys.readouterr()
    assert captured.err.startswith("marginflow: ")
    assert captured.err.count("\n") == 1


def test_an_interrupt_while_modules_are_imported_is_one_sentence_too(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'cyclopts': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "import runpy; runpy.run_module('marginflow.cli', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "marginflow: interrupted; nothing was written.\n"


def test_library_and_help_import_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys, marginflow; from marginflow.cli import main; code = main(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stderr.strip() == "[]"


def test_the_same_seed_gives_the_same_bits_in_another_process(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        done = run("sample", "sphere", "5", "--dimension", "3", "--seed", "7", "--out", name, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["out"] == name
        assert done.stderr == ""  # no progress display where nobody looks
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_bad_input_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run("certify", "no.safetensors", "no.npz", "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "marginflow: There is no file no.safetensors.\n"
    assert list(tmp_path.iterdir()) == []


def test_colours_are_for_terminals_only_and_can_be_turned_off(tmp_path: Path) -> None:
    assert "\x1b[" not in run("--help", cwd=tmp_path).stdout
    assert "\x1b[" not in run("doctor", cwd=tmp_path).stdout
    colour = re.compile(r"\x1b\[[0-9;]*3[0-7]")
    assert colour.search(_on_a_terminal({"NO_COLOR": ""}, tmp_path))
    assert not colour.search(_on_a_terminal({"NO_COLOR": "1"}, tmp_path))


def _on_a_terminal(variables: dict[str, str], cwd: Path) -> str:
    """What `marginflow --help` writes to a terminal."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    command = [sys.executable, "-m", "marginflow.cli", "--help"]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, cwd=cwd, env=environment) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # Linux says so when the other side has gone
            while part := os.read(ours, 65536):
                seen += part
        process.wait()
    os.close(ours)
    return seen.decode()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("limit data.csv --width 2.5 --out k.safetensors", "--width is 2.5; a whole number is expected."),
        ("limit data.csv --flow-steps 1e1.5 --out k.safetensors", "--flow-steps is 1e1.5; a whole number is expected."),
        ("train data.csv --recipe flow --max-steps 0.5 --out k.safetensors", "--max-steps is 0.5; a whole number"),
        ("sample orthogonal 6.5 --dimension 8 --out data.npz", "The number is 6.5; a whole number is expected."),
        ("figure VYS22/Fig1a --workers 1.5", "--workers is 1.5; a whole number is expected."),
        ("limit data.csv --seed 0.5 --out k.safetensors", "--seed is 0.5; a whole number is expected."),
    ],
)
def test_a_number_that_is_not_whole_is_refused_and_not_rounded(
    line: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("1,0,1\n0,1,-1\n", encoding="utf-8")
    assert main(line.split()) == 2
    assert capsys.readouterr().err.startswith(f"marginflow: {sentence}")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    "line",
    ["check VYS22/Thm4.1 --seed -1", "limit data.npz --seed -1 --out k.safetensors", "audit a.pt b.npz --seed -1"],
)
def test_every_command_refuses_a_negative_seed_alike(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert capsys.readouterr().err == "marginflow: --seed is -1; a whole number of at least 0 is expected.\n"


@pytest.mark.parametrize("command", ["certify", "radius", "flip"])
def test_a_network_and_data_in_the_wrong_order_are_told_apart(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "pm.csv", "kkt.safetensors"]) == 2
    assert capsys.readouterr().err == (
        "marginflow: pm.csv is a file of data; the network (.safetensors) is expected first and the data "
        "(.npz or .csv) second.\n"
    )


def test_the_overview_of_commands_does_not_wait_for_numpy() -> None:
    code = "import sys, marginflow.cli.app; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize(
    "line", [["report", "rows.csv", "--label", "\udc80"], ["sweep", "\x00"], ["limit", "a\udfff.npz"]]
)
def test_arguments_that_are_not_utf_8_are_one_sentence(line: list[str], tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(line) == 2
    assert "is not text in UTF-8" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
