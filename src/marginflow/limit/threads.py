"""BLAS threads by the size of the work: where products are small, threads that wait for each other cost a factor."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

# Multiplications in one matrix operation above which several threads pay.
_WORTH_SHARING = 3e7


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def available_threads() -> int:
    """How many threads BLAS may use at present; whoever calls has set that."""
    return max((int(library["num_threads"]) for library in _controller().info()), default=1)


def threads_for(multiplications: float, most: int) -> AbstractContextManager[object]:
    """A context of one BLAS thread for small work and of `most` for large."""
    context: AbstractContextManager[object] = _controller().limit(
        limits=1 if multiplications < _WORTH_SHARING else most
    )
    return context
