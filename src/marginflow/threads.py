"""BLAS threads: how many the present work may use, and which libraries and kernels compute.

The number of threads belongs to the process, not to the thread that sets it. Contexts that save the number when they
begin and write it back when they end leave a wrong one behind as soon as they overlap in two threads. Here every
context is a request in one table: within a thread the innermost request counts, among threads the smallest, and when
the last request is gone the number is again what it was before the first.

Much work is not one large product: passes over arrays, and many small factors. `share` does its parts in as many Python
threads as BLAS may use, each part with one BLAS thread.
"""

import ctypes
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy  # noqa: F401  it brings a BLAS library, which must be loaded to be found
from threadpoolctl import ThreadpoolController

# Multiplications in one matrix operation above which several threads of BLAS pay, and above which parts of it do, that
# Python threads take: these sleep in between, and a part is handed over in 20 to 70 microseconds.
_WORTH_THREADS, _WORTH_SHARING = 3e7, 6e6
# Parts into which shared work is cut, and their least size; the number of threads does not enter. Every part of a
# product reads all of its other factor: with 1,636 samples in 785 dimensions an evaluation of 28 neurons at once takes
# 15 CPU ms, of halves of them 25, of quarters 37.
_PARTS, _SMALLEST_PART = 4, 32

_Part = TypeVar("_Part")


def _load_blas_of_scipy() -> None:
    """SciPy may bring a BLAS library of its own: loaded before the first context, as a solver may import SciPy in one.

    It comes with any file that is linked to it. Where that file is not found or cannot be loaded by itself, the package
    that it belongs to is imported, which takes as long as all of NumPy.
    """
    package = find_spec("scipy")
    folders = [] if package is None else package.submodule_search_locations or []
    for file in (Path(folder, "linalg", f"_fblas{suffix}") for folder in folders for suffix in EXTENSION_SUFFIXES):
        if file.is_file():
            try:
                ctypes.CDLL(str(file))
            except OSError:
                break
            return
    importlib.import_module("scipy.linalg")


_load_blas_of_scipy()


@dataclass(frozen=True)
class BlasLibrary:
    """A library that computes matrix products: results depend, in their last bits, on its kernels and threads."""

    library: str
    version: str | None
    kernels: str | None
    threads: int


class _Requests:
    """The requests of all threads, and the libraries with their numbers of threads from before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of_thread: dict[int, list[int]] = {}
        self._libraries: list[Any] = []
        self._before: list[int] = []
        self._in_force: int | None = None  # what the libraries were last told, None for what was before

    def enter(self, number: int) -> None:
        with self._lock:
            if not self._of_thread:
                self._libraries = _libraries("blas").lib_controllers
                self._before = [library.num_threads for library in self._libraries]
            self._of_thread.setdefault(threading.get_ident(), []).append(number)
            self._apply()

    def leave(self) -> None:
        with self._lock:
            own = self._of_thread[threading.get_ident()]
            own.pop()
            if not own:
                del self._of_thread[threading.get_ident()]
            self._apply()

    def allowed(self) -> list[tuple[Any, int]]:
        """Libraries with what the calling thread may use: its own request, or what there was before all requests."""
        with self._lock:
            own = self._of_thread.get(threading.get_ident())
            if own:
                return [(library, own[-1]) for library in self._libraries]
            if self._of_thread:
                return list(zip(self._libraries, self._before, strict=True))
        return [(library, library.num_threads) for library in _libraries("blas").lib_controllers]

    def _apply(self) -> None:
        least = min((own[-1] for own in self._of_thread.values()), default=None)
        if least == self._in_force:  # contexts within contexts: asking the libraries takes longer than a small product
            return
        self._in_force = least
        for library, before in zip(self._libraries, self._before, strict=True):
            wanted = before if least is None else least
            if library.num_threads != wanted:
                _set(library, wanted)


_requests = _Requests()


def _libraries(kind: str) -> ThreadpoolController:
    """The libraries ("blas" or "openmp") of this process."""
    return _found(len(sys.modules), kind)


@lru_cache(maxsize=2)
def _found(modules: int, kind: str) -> ThreadpoolController:
    """The libraries that are loaded; looked for again, which takes a millisecond, only after more was imported."""
    return ThreadpoolController().select(user_api=kind)


def _set(library: Any, number: int) -> None:
    """Set the number from any thread.

    Newer versions of threadpoolctl let only the first thread that sets the number of OpenBLAS change it again and
    silently ignore the others; here the table keeps the order, so that privilege is given up before and after.
    """
    give_up = getattr(library, "clear_controlling_thread", None)
    if give_up is not None:
        give_up(force=True)
    library.set_num_threads(number)
    if give_up is not None:
        give_up(force=True)


class _Request:
    """A context with a request in the table."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> None:
        _requests.enter(self._number)

    def __exit__(self, *error: object) -> None:
        _requests.leave()


def blas_threads(number: int) -> AbstractContextManager[None]:
    """A context in which BLAS uses `number` threads, or fewer if another thread asks for fewer."""
    return _Request(number)


def one_thread() -> AbstractContextManager[None]:
    """A context of one BLAS thread: for small matrices, where threads that wait for each other cost a factor."""
    return _Request(1)


@contextmanager
def single_threaded() -> Iterator[None]:
    """A context of one thread, of BLAS and of OpenMP: for work that shares the machine with other processes.

    OpenMP keeps a number for every thread that asks, so there what was before can simply be written back.
    """
    with one_thread(), _libraries("openmp").limit(limits=1):
        yield


def threads_for(multiplications: float, most: int) -> AbstractContextManager[None]:
    """A context of one BLAS thread for small work and of `most` for large."""
    return _Request(1 if multiplications < _WORTH_THREADS else most)


def available_threads() -> int:
    """How many threads BLAS may use at present; whoever calls has set that."""
    return max((number for _, number in _requests.allowed()), default=1)


def blas_libraries() -> tuple[BlasLibrary, ...]:
    """Library, version, kernels and threads: with the versions of the packages, what a result's last bits depend on.

    Examples
    --------
    >>> from marginflow.threads import blas_libraries
    >>> all(library.threads >= 1 for library in blas_libraries())
    True
    """
    return tuple(
        BlasLibrary(library.internal_api, library.version, getattr(library, "architecture", None), threads)
        for library, threads in _requests.allowed()
    )


def parts_of(size: int, multiplications: float, smallest: int = _SMALLEST_PART) -> list[slice]:
    """Slices of `range(size)` for `share`, all of it in one where the work is small; they depend on the sizes alone.

    Four, or two where four would be too small: three would keep one of two threads waiting.
    """
    enough = multiplications >= _WORTH_SHARING
    number = next((parts for parts in (_PARTS, 2) if enough and size >= parts * smallest), 1)
    ends = [size * i // number for i in range(number + 1)]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def share(work: Callable[[_Part], None], parts: Sequence[_Part], threads: int | None = None) -> None:
    """Do the work for every part, in several threads at the same time, each with one BLAS thread.

    No part may need what another writes: then the bits do not depend on the number of threads. That number is what the
    caller may use of BLAS, by default; with one thread, and with one part, nothing else is started. An error or an
    interrupt ends the work after the parts that have begun.
    """
    number = min(available_threads() if threads is None else threads, len(parts))
    if len(parts) == 1:
        return work(parts[0])
    with one_thread():
        left = iter(parts)
        pool = _helpers(os.getpid(), number - 1) if number > 1 else None
        helpers = [] if pool is None else [pool.submit(copy_context().run, _do, work, left) for _ in range(number - 1)]
        try:
            _do(work, left)
        finally:
            running = [helper for helper in helpers if not helper.cancel()]
            wait(running)
        for helper in running:
            helper.result()
    return None


def _do(work: Callable[[_Part], None], left: Iterator[_Part]) -> None:
    """The parts that nobody has begun; the iterator of a sequence hands out each of them once, to whichever thread.

    After an error nothing is left for anybody.
    """
    try:
        for part in left:
            work(part)
    finally:
        for _ in left:
            pass


@lru_cache(maxsize=1)
def _helpers(process: int, number: int) -> ThreadPoolExecutor:
    """The threads beside the caller's own; they sleep while there is nothing to do. A forked process has none yet."""
    return ThreadPoolExecutor(number, thread_name_prefix="marginflow")
