"""Numbers of BLAS threads: requests of many threads nest, overlap and leave nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

import marginflow as mf
from marginflow.threads import (
    _do,
    available_threads,
    blas_libraries,
    blas_threads,
    one_thread,
    parts_of,
    share,
    single_threaded,
    threads_for,
)


def numbers() -> list[int]:
    """What the libraries themselves say."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads_before():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_contexts_nest_and_the_innermost_counts() -> None:
    assert available_threads() == 2
    with one_thread():
        assert set(numbers()) == {1}
        with threads_for(1e12, 2):
            assert set(numbers()) == {2}
            assert available_threads() == 2
        assert set(numbers()) == {1}
        assert available_threads() == 1
    assert set(numbers()) == {2}


def test_libraries_are_known_before_scipy_is_imported() -> None:
    """A solver that imports SciPy within a context computes with the threads of that context."""
    code = (
        "import sys; from marginflow.threads import blas_libraries, one_thread\n"
        "with one_thread():\n"
        "    assert 'scipy.linalg' not in sys.modules\n"
        "    before = blas_libraries()\n"
        "    import scipy.linalg\n"
        "    from threadpoolctl import threadpool_info\n"
        "    found = [library for library in threadpool_info() if library['user_api'] == 'blas']\n"
        "    assert len(before) == len(found), found\n"
        "    assert {library['num_threads'] for library in found} == {1}, found\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_small_work_has_one_thread() -> None:
    with threads_for(1e3, 2):
        assert set(numbers()) == {1}


def test_an_error_inside_restores() -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert set(numbers()) == {2}


def test_two_threads_that_overlap_leave_the_number_of_before() -> None:
    """The first to begin is the first to end: saved numbers that are written back would leave one thread."""
    begun, other_begun, ended = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with one_thread():
            begun.set()
            other_begun.wait(5)
        ended.set()

    def second() -> None:
        begun.wait(5)
        with one_thread():
            other_begun.set()
            ended.wait(5)
            assert set(numbers()) == {1}

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(first), pool.submit(second)]:
            future.result(10)
    assert set(numbers()) == {2}


def test_a_thread_without_a_request_may_use_what_there_was_before_the_others() -> None:
    inside, asked = threading.Event(), threading.Event()

    def limited() -> None:
        with one_thread():
            inside.set()
            asked.wait(5)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(limited)
        inside.wait(5)
        assert available_threads() == 2
        assert [library.threads for library in blas_libraries()] == [2] * len(numbers())
        asked.set()
        future.result(10)


@given(st.lists(st.lists(st.sampled_from([1, 2]), max_size=4), min_size=2, max_size=10))
def test_ten_threads_in_any_order_leave_the_number_of_before(plans: list[list[int]]) -> None:
    def work(plan: list[int]) -> None:
        if plan:
            with blas_threads(plan[0]):
                work(plan[1:])

    with ThreadPoolExecutor(len(plans)) as pool:
        list(pool.map(work, plans))
    assert set(numbers()) == {2}


def test_single_threaded_work_nests_and_restores_openmp_too() -> None:
    def everything() -> list[int]:
        return [library["num_threads"] for library in threadpool_info()]

    with threadpool_limits(2):
        before = everything()
        with single_threaded():
            assert set(everything()) == {1}
            with blas_threads(2), single_threaded():
                assert set(everything()) == {1}
            assert set(everything()) == {1}
        assert everything() == before


def test_cells_that_overlap_in_threads_leave_the_number_of_before() -> None:
    def cell(_: int) -> None:
        with single_threaded():
            assert set(numbers()) == {1}

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(cell, range(50)))
    assert set(numbers()) == {2}


def test_only_one_module_sets_numbers_of_threads() -> None:
    source = Path(mf.__file__).parent
    importing = [path.name for path in source.rglob("*.py") if "from threadpoolctl" in path.read_text(encoding="utf-8")]
    assert importing == ["threads.py"]


def test_libraries_are_named_with_their_kernels() -> None:
    libraries = blas_libraries()
    assert libraries
    assert all(library.library and library.threads == 2 for library in libraries)
    assert any(library.kernels for library in libraries if library.library == "openblas") or not any(
        library.library == "openblas" for library in libraries
    )


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_shared_work_is_done_once_for_every_part(threads: int) -> None:
    done = [0] * 50

    def work(part: int) -> None:
        done[part] += 1
        assert set(numbers()) == {1}

    share(work, range(50), threads)
    assert done == [1] * 50
    assert set(numbers()) == {2}


def test_shared_work_runs_in_several_threads_at_the_same_time_and_in_one_where_that_is_allowed() -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(_: int) -> None:
        both.wait()  # one thread alone would never pass

    share(meet, range(2))
    names: set[threading.Thread] = set()
    with one_thread():
        share(lambda _: names.add(threading.current_thread()), range(5))
    share(lambda _: names.add(threading.current_thread()), range(1))
    assert names == {threading.current_thread()}


def test_an_error_in_any_thread_is_raised_and_no_further_part_is_begun() -> None:
    begun = []

    def work(part: int) -> None:
        begun.append(part)
        if part == 3:
            raise ZeroDivisionError

    for threads in (1, 2):
        begun.clear()
        with pytest.raises(ZeroDivisionError):
            share(work, range(10_000), threads)
        assert len(begun) < 10_000
    assert set(numbers()) == {2}


def test_after_an_error_in_any_thread_nothing_is_left_for_the_others() -> None:
    left = iter(range(10))

    def work(part: int) -> None:
        if part == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _do(work, left)
    assert list(left) == []


def test_shared_work_keeps_the_callers_error_state() -> None:
    """NumPy's error state belongs to a context, which threads do not inherit by themselves."""
    states = []
    with np.errstate(over="ignore", invalid="ignore"):
        share(lambda _: states.append(np.geterr()["over"]), range(64), 2)
    assert states == ["ignore"] * 64


def test_parts_cover_everything_once_and_do_not_depend_on_threads() -> None:
    for size in (1, 15, 16, 17, 40, 300, 1001):
        for work in (1e3, 1e12):
            parts = parts_of(size, work)
            assert np.concatenate([np.arange(size)[part] for part in parts]).tolist() == list(range(size))
            assert len(parts) == 1 or work > 1e3
            with one_thread():
                assert parts_of(size, work) == parts


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_helpers_of_its_own() -> None:
    share(lambda _: None, range(4), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a process with threads forks
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        share(lambda _: None, range(4), 2)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
