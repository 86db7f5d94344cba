"""Work in processes: each piece is answered once, whatever it does to its process, and workers never outlive us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import marginflow as mf
from marginflow.processes import Answer, work

DEEDS = """
import ctypes, os, signal, subprocess, sys, time

def double(content):
    return 2 * content

def deed(content):
    word = content.decode()
    print("begun", word)
    if word == "exits":
        sys.exit(3)
    if word == "leaves":
        os._exit(5)
    if word == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "hangs":
        time.sleep(600)
    if word == "raises":
        raise ValueError("on purpose \\ud800")
    if word == "interrupted":
        raise KeyboardInterrupt
    if word.startswith("starts a child"):
        child = subprocess.Popen(["sleep", "600"], stdout=1)
        open(word.partition(":")[2], "w").write(str(child.pid))
        time.sleep(600)
    if word.startswith("dies first"):
        marker = word.partition(":")[2]
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
    if word == "reads":
        return sys.stdin.read().encode()
    return content
"""


@pytest.fixture
def deeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "deeds_of_workers.py").write_text(DEEDS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "deeds_of_workers"


def answers(target: str, words: list[str], **options: object) -> dict[str, Answer]:
    found = list(work(target, [word.encode() for word in words], **options))
    assert sorted(answer.index for answer in found) == list(range(len(words)))
    return {words[answer.index]: answer for answer in found}


def alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.is_file() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def gone(process: int) -> bool:
    deadline = time.monotonic() + 20.0
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(process)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_payload_is_answered_with_what_the_function_returned(deeds: str, workers: int) -> None:
    found = answers(f"{deeds}:double", [f"{number}" for number in range(7)], workers=workers)
    assert {word: answer.content for word, answer in found.items()} == {str(n): 2 * str(n).encode() for n in range(7)}


def test_what_a_piece_of_work_does_to_its_process_costs_that_piece_alone(deeds: str, tmp_path: Path) -> None:
    again = f"dies first:{tmp_path / 'marker'}"
    words = ["a", "exits", "leaves", "b", "crashes", "raises", again, "reads", "c"]
    found = answers(f"{deeds}:deed", words, workers=2)
    assert [found[word].content for word in ("a", "b", "c", "reads", again)] == [b"a", b"b", b"c", b"", again.encode()]
    assert "SystemExit: 3" in str(found["exits"].reason)
    assert found["leaves"].reason == "The worker process died: it ended itself with exit code 5."
    assert found["crashes"].reason == "The worker process died: it was killed by SIGSEGV."
    assert "ValueError: on purpose" in str(found["raises"].reason)
    assert found["exits"].log.startswith("begun exits")
    assert found["a"].log == "begun a\n"


def test_what_takes_too_long_is_ended_with_its_children(deeds: str, tmp_path: Path) -> None:
    note = tmp_path / "child"
    found = answers(f"{deeds}:deed", ["a", f"starts a child:{note}", "hangs", "b"], time_limit=4.0, workers=2)
    assert found["a"].content == b"a"
    assert found["b"].content == b"b"
    assert found["hangs"].reason == "Timeout: ended after 4 s, the limit for one piece of work."
    assert gone(int(note.read_text()))


def test_an_interrupt_of_its_own_is_what_a_piece_of_work_ended_in(deeds: str) -> None:
    found = answers(f"{deeds}:deed", ["interrupted", "a"])
    assert found["interrupted"].reason is not None
    assert "KeyboardInterrupt" in found["interrupted"].reason
    assert found["a"].content == b"a"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize("command", ["work", "radius --workers"])
def test_workers_end_with_a_parent_that_is_killed(deeds: str, tmp_path: Path, command: str) -> None:
    script = f"from marginflow.processes import work; list(work('{deeds}:deed', [b'hangs', b'hangs'], workers=2))"
    if command == "radius --workers":
        mf.networks.TwoLayer.initialise(400, 30, scale=5.0, seed=0).save(tmp_path / "net.safetensors")
        mf.data.Sphere(dimension=30).sample(20, seed=0).save(tmp_path / "data.npz")
        line = ["radius", str(tmp_path / "net.safetensors"), str(tmp_path / "data.npz"), "--workers", "2"]
        script = f"from marginflow.cli import main; main({line!r})"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    parent = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path})
    children: list[int] = []
    deadline = time.monotonic() + 30.0
    while len(children) < 2 and time.monotonic() < deadline:
        lists = Path(f"/proc/{parent.pid}/task").glob("*/children")
        children = [int(word) for entry in lists for word in entry.read_text().split()]
        time.sleep(0.05)
    assert len(children) == 2
    assert parent.poll() is None
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert all(gone(child) for child in children)
