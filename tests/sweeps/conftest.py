"""A module of cheap tasks that worker processes can import, written to a folder of its own."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHEAP = '''
import os, signal, time
from typing import Annotated, Literal
import msgspec
import numpy as np
from marginflow.sweeps import TaskResult, task

class Cheap(msgspec.Struct, frozen=True, kw_only=True):
    a: Annotated[int, msgspec.Meta(ge=1)] = 1
    b: float = 0.5
    kind: Literal["plain", "other"] = "plain"
    pause: float = 0.0

@task("cheap")
def cheap(parameters: Cheap, seed: int) -> TaskResult:
    """A row of every kind of value."""
    time.sleep(parameters.pause)
    rng = np.random.default_rng([parameters.a, seed])
    x = rng.standard_normal(20)
    row = {"mean": x.mean(), "norm": np.linalg.norm(x) * parameters.b, "count": np.int64(x.size),
           "large": bool(x[0] > 0), "word": f"{parameters.kind}-{seed}", "nothing": None, "endless": float("inf")}
    return TaskResult(row=row, arrays={"x": x} if seed % 2 else {})

class Marked(msgspec.Struct, frozen=True, kw_only=True):
    marker: str
    place: Annotated[int, msgspec.Meta(ge=0)] = 0

@task("fails-until-marked")
def fails(parameters: Marked, seed: int) -> dict:
    if seed == 1 and not os.path.exists(parameters.marker):
        raise RuntimeError("the marker is not there")
    return {"value": seed * 0.1}

@task("kills-its-worker")
def kills(parameters: Marked, seed: int) -> dict:
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": seed * 0.1}

@task("kills-its-first-worker")
def kills_once(parameters: Marked, seed: int) -> dict:
    if seed == 3 and not os.path.exists(parameters.marker):
        open(parameters.marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": seed * 0.1}

@task("keeps-what-is-done")
def keeps(parameters: Marked, seed: int) -> dict:
    """Interrupted in its second cell, it returns what it has, as kkt_point does."""
    if seed == 1:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5.0)
        except KeyboardInterrupt:
            if parameters.marker == "raises":
                raise ValueError("half a result is none")
    return {"value": seed * 0.1}

@task("counts-threads")
def threads(parameters: Cheap, seed: int) -> dict:
    from threadpoolctl import threadpool_info
    return {"threads": max((lib["num_threads"] for lib in threadpool_info()), default=1)}

@task("returns-a-list")
def listing(parameters: Cheap, seed: int) -> dict:
    return {"values": [1, 2]}

@task("overwrites-a-parameter")
def overwriting(parameters: Cheap, seed: int) -> dict:
    return {"a": 3}

@task("long-words")
def words(parameters: Cheap, seed: int) -> dict:
    return {"word": "\\u00e4" * parameters.a}

@task("misbehaves")
def misbehaves(parameters: Marked, seed: int) -> dict:
    """Ends or blocks its process in the way that the marker says, in its second cell."""
    print("this is seed", seed, flush=True)
    if seed == 1:
        if parameters.marker == "exits": raise SystemExit(3)
        if parameters.marker == "leaves": os._exit(4)
        if parameters.marker == "dies": os.kill(os.getpid(), signal.SIGSEGV)
        if parameters.marker == "hangs": time.sleep(600)
        if parameters.marker == "half a character": return {"word": "\\ud800"}
        if parameters.marker == "half a name": return {"\\udfff": 1}
        if parameters.marker == "raises half a character": raise ValueError("\\ud800")
        if parameters.marker == "endless number": return {"value": 10**5000}
        if parameters.marker == "objects": return TaskResult(row={}, arrays={"x": np.array([{}])})
        if parameters.marker == "no exception": raise BaseException("of no kind")
    return {"value": seed * 0.1}

@task("large-arrays")
def large(parameters: Cheap, seed: int) -> TaskResult:
    return TaskResult(row={"seed_squared": seed * seed}, arrays={"x": np.full(20_000, float(seed))})
'''


@pytest.fixture(scope="session")
def task_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of `cheap_tasks.py`, on the path of this process and of those that it starts."""
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "cheap_tasks.py").write_text(CHEAP)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([before] if before else [])])
    sys.path.append(str(folder))
    importlib.import_module("cheap_tasks")
    yield folder
    sys.path.remove(str(folder))
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before
