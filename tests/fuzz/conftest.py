"""Fixtures of the tests with damaged files."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType

import pytest


@pytest.fixture(scope="session")
def mutation() -> ModuleType:
    """The mutations, loaded by their path, since tests are not a package."""
    specification = importlib.util.spec_from_file_location("fuzz_mutation", Path(__file__).with_name("mutation.py"))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["fuzz_mutation"] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def _no_hang() -> Iterator[None]:
    """A hang becomes a failure instead of a test run that never ends."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail("reading damaged files hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
