"""One BLAS thread: the matrices are small, and threads that wait for each other cost a factor."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread; the libraries are looked up once per process."""
    context: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return context
