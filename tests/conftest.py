"""One BLAS thread for every test: the matrices are small, tests run side by side, and sums are the same every time."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import threadpoolctl


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the processes that tests start
    with threadpoolctl.threadpool_limits(1):
        yield
