"""`marginflow report` of stores: one page of what is there, or one that fills up while other processes write."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from marginflow.cli import main

SLOW = '''
import time
import msgspec
from marginflow.sweeps import task

class Slow(msgspec.Struct, frozen=True, kw_only=True):
    n: int = 1
    pause: float = 0.0

@task("slow-square")
def slow_square(parameters: Slow, seed: int) -> dict[str, float]:
    """A number, after a while."""
    time.sleep(parameters.pause)
    print(f"seed {seed} was here")
    if parameters.n < 0:
        raise ValueError("a number below zero")
    return {"square": float(parameters.n**2 + seed)}
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a task of its own, in which the commands run."""
    (tmp_path / "slow_tasks.py").write_text(SLOW, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def spec(name: str, numbers: str, pause: float = 0.0) -> str:
    head = f'[sweep]\nname = "{name}"\ntask = "slow_tasks:slow-square"\nseeds = 2\n'
    Path(f"{name}.toml").write_text(f"{head}[grid]\nn = {numbers}\n[fixed]\npause = {pause}\n", encoding="utf-8")
    return f"{name}.toml"


def verdict(page: str) -> str:
    found = re.search(r'<p class="verdict \w+">(.*?)</p>', Path(page).read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def test_a_page_fills_up_while_two_shards_are_computed_and_ends_with_them(folder: Path) -> None:
    assert spec("squares", "[1, 2, 3]", pause=0.4) == "squares.toml"
    command = [sys.executable, "-m", "marginflow.cli"]
    watcher = subprocess.Popen(
        [*command, "report", "squares.toml", "--live", "--every", "0.1", "--out", "page.html", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    seen = []
    end = time.monotonic() + 60.0
    while not Path("page.html").is_file():
        assert time.monotonic() < end
        time.sleep(0.05)
    seen.append(verdict("page.html"))
    assert 'http-equiv="refresh"' in Path("page.html").read_text(encoding="utf-8")
    shards = [subprocess.Popen([*command, "sweep", "squares.toml", "--shard", f"{i}/2"]) for i in (1, 2)]
    while watcher.poll() is None:
        assert time.monotonic() < end
        seen.append(verdict("page.html"))
        time.sleep(0.05)
    assert [shard.wait(60) for shard in shards] == [0, 0]
    printed, _ = watcher.communicate()
    assert watcher.returncode == 0
    done = [int(sentence.split()[0]) for sentence in seen]
    assert done[0] == 0
    assert done == sorted(done)
    assert any(0 < count < 6 for count in done)
    record = json.loads(printed)
    assert (record["verdict"], record["tone"]) == ("6 of 6 cells are done, 0 failed, 0 are missing.", "holds")
    page = Path("page.html").read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in page
    assert "squares.shard-1-of-2.sqlite" in page


def test_an_interrupt_ends_the_page_and_not_the_sweep(folder: Path) -> None:
    spec("waiting", "[1]")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes of a shell ignore it
    watcher = subprocess.Popen(
        [sys.executable, "-m", "marginflow.cli", "report", "waiting.toml", "--live", "--out", "page.html"],
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    with watcher:
        end = time.monotonic() + 60.0
        while not Path("page.html").is_file() and time.monotonic() < end:
            time.sleep(0.05)
        watcher.send_signal(signal.SIGINT)
        try:
            _, said = watcher.communicate(timeout=60)
        finally:
            watcher.kill()
    assert watcher.returncode == 130
    assert "interrupted; page.html shows what was stored by now" in said
    assert 'http-equiv="refresh"' not in Path("page.html").read_text(encoding="utf-8")
    assert verdict("page.html") == "0 of 2 cells are done, 0 failed, 2 are missing."
    assert main(["sweep", "waiting.toml"]) == 0


def test_a_page_of_what_is_stored_has_failures_with_tracebacks_and_logs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec("mixed", "[-1, 2, 3]")
    assert main(["sweep", "mixed.toml"]) == 1
    capsys.readouterr()
    assert main(["report", "mixed.sqlite", "--out", "page.html", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["verdict"] == "4 of 6 cells are done, 2 failed, 0 are missing."
    assert (record["tone"], record["charts"]) == ("violated", 1)
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Traceback (most recent call last)" in page
    assert "seed 1 was here" in page
    assert "square against n" in page
    line = ["report", "mixed.sqlite", "--out", "page.html", "--force", "--x", "seed", "--y", "square", "--svg", "drawn"]
    assert main(line) == 1
    assert [path.name for path in Path("drawn").iterdir()] == ["01-square-against-seed.svg"]


def test_a_store_without_its_spec_is_shown_until_nobody_writes_to_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("small.toml").write_text(
        '[sweep]\ntask = "limit"\nseeds = 2\n[fixed]\nn_samples = 4\ndimension = 4\nwidth = 6\n', encoding="utf-8"
    )
    assert main(["sweep", "small.toml", "--store", "other.sqlite"]) == 0
    assert main(["report", "other.sqlite", "--live", "--out", "page.html"]) == 0
    assert verdict("page.html") == "2 done, 0 failed; how many cells there will be is not known."
    assert "<title>other.sqlite" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("report no.sqlite --out p.html", "There is no store no.sqlite."),
        ("report no.toml --out p.html --live", "There is no file no.toml."),
        ("report rows.csv --live --out p.html", "--live is for stores of a sweep"),
        ("report rows.csv no.sqlite --out p.html", "name nothing else."),
        ("report a.toml b.toml --out p.html", "One spec, .toml, is expected."),
        ("report no.sqlite --live --every 0 --out p.html", "--every is 0"),
        ("report own.sqlite --out p.html", "The task 'elsewhere' of own.sqlite is not known here; name the spec"),
    ],
)
def test_what_is_no_sweep_is_refused_in_a_sentence(
    line: str, sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rows.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    if "own.sqlite" in line:
        Path("slow_tasks.py").write_text(SLOW.replace("slow-square", "elsewhere"), encoding="utf-8")
        Path("kept.toml").write_text('[sweep]\ntask = "slow_tasks:elsewhere"\n', encoding="utf-8")
        command = [sys.executable, "-m", "marginflow.cli", "sweep", "kept.toml", "--store", "own.sqlite"]
        subprocess.run(command, check=True, capture_output=True)
    assert main(line.split()) == 2
    assert sentence in capsys.readouterr().err
    assert not Path("p.html").exists()
