"""Numbers of BLAS threads: requests of many threads nest, overlap and leave nothing behind."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

import marginflow as mf
from marginflow.threads import available_threads, blas_libraries, blas_threads, one_thread, single_threaded, threads_for


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
