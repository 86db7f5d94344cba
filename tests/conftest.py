"""One BLAS thread for every test, since tests run side by side, one process per core; examples that do not change.

`HYPOTHESIS_PROFILE=explore pytest` looks for new examples instead of repeating the known ones.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import hypothesis
import pytest
import threadpoolctl

hypothesis.settings.register_profile("repeatable", derandomize=True, database=None)
hypothesis.settings.register_profile("explore", derandomize=False)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_collection_finish() -> None:
    """What is there after the collection stays until the end: the collector of garbage need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the processes that tests start
    with threadpoolctl.threadpool_limits(1):
        yield
