"""One BLAS thread for every test, since tests run side by side, one process per core; examples that do not change.

`HYPOTHESIS_PROFILE=explore pytest` looks for new examples instead of repeating the known ones.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import numpy as np
import pytest
import threadpoolctl

REPOSITORY = Path(__file__).parents[1]

# No deadline: a time that an example must keep is a timed assertion, and a busy machine breaks it.
hypothesis.settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("explore", derandomize=False, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One worker more than there are cores: while a test waits for a process, a browser or a disk, another computes."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


def pytest_collection_finish() -> None:
    """What is there after the collection stays until the end: the collector of garbage need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the processes that tests start
    with threadpoolctl.threadpool_limits(1):
        yield


def make_smaller(patch: pytest.MonkeyPatch) -> None:
    """The same code of the demo on fewer frames, distances, clusters and digits."""
    from marginflow.data import Dataset
    from marginflow.demo import clusters, digits, plane, theorem

    whole = digits.handwritten()
    patch.setattr(plane, "N_FRAMES", 6)
    patch.setattr(clusters, "CLUSTERS", (4, 9))
    patch.setattr(digits, "N_RANDOM", 2)
    patch.setattr(digits, "handwritten", lambda: Dataset(X=whole.X[:40], y=whole.y[:40]))
    patch.setattr(theorem, "MAP", (4, 100, 1000))


@pytest.fixture(scope="session")
def smaller() -> Callable[[pytest.MonkeyPatch], None]:
    return make_smaller


@dataclass(frozen=True)
class Newcomer:
    """A copy of the package to which somebody adds one file, and the tests of the repository that judge the copy."""

    source: Path

    def adds(self, path: str, text: str) -> Path:
        file = self.source / "marginflow" / path
        assert file.parent.is_dir()
        assert not file.exists(), "the file is a new one, and nothing else is changed"
        file.write_text(text, encoding="utf-8")
        return file

    def runs(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Python with the copy in place of the package, in the processes that it starts as well."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.source,
            env=own | {"PYTHONPATH": str(self.source)},
        )

    def is_judged_by(self, *tests: str, only: str) -> dict[str, str]:
        """What became of every test of these files that `only` chooses: PASSED or FAILED."""
        options = ["-c", str(REPOSITORY / "pyproject.toml"), "--numprocesses=0", "-p", "no:cacheprovider"]
        files = [str(REPOSITORY / "tests" / name) for name in tests]
        done = self.runs("-m", "pytest", *options, "-vv", "--tb=short", "-k", only, *files)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        print(done.stdout)  # shown where the caller wanted another outcome
        return dict(re.findall(r"::(test_.*?) (PASSED|FAILED|ERROR)", done.stdout))


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    import marginflow

    shutil.copytree(Path(marginflow.__file__).parent, tmp_path / "src" / "marginflow")
    return Newcomer(tmp_path / "src")


@dataclass
class Demo:
    """A demo that was made: its folder, what it printed as JSON, and what it certified."""

    folder: Path
    record: dict[str, Any] = field(default_factory=dict)
    certified: list[object] = field(default_factory=list)

    def look(self, frame: FrameType, _event: str, _argument: object) -> None:
        """Notes network, samples and tolerances of every call of `certify`, whatever it is imported as."""
        code = frame.f_code
        if code.co_name == "certify" and code.co_filename.endswith("kkt.py"):
            given = frame.f_locals
            network, data = given["network"], given["data"]
            theta = np.concatenate([np.ravel(part) for part in (network.W, network.b, network.v) if part is not None])
            direction = np.round(theta / np.linalg.norm(theta), 12) + 0.0
            numbers = (given["penalty"], given["kink_tolerance"])
            self.certified.append((direction.tobytes(), data.X.tobytes(), data.y.tobytes(), *numbers))


@pytest.fixture(scope="session")
def small_demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """One demo for the tests of the command and for those of its page in a browser."""
    from marginflow.cli import main

    demo = Demo(tmp_path_factory.mktemp("demo") / "page")
    with pytest.MonkeyPatch.context() as patch:
        make_smaller(patch)
        printed: list[str] = []
        patch.setattr("builtins.print", lambda *words, **_: printed.append(" ".join(map(str, words))))
        before = sys.gettrace()
        sys.settrace(demo.look)
        try:
            assert main(["demo", "--out", str(demo.folder), "--json"]) == 0
        finally:
            sys.settrace(before)
    demo.record = json.loads(printed[-1])
    return demo
