"""Influence under limits of time, interrupted, and taken up again from its store."""

from __future__ import annotations

import itertools
import sqlite3
import time
from contextlib import suppress

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Sphere
from marginflow.errors import InputError
from marginflow.limit.solver import newton as solver


def svm(X, y):
    svm = pytest.importorskip("sklearn.svm", reason="the outside truth comes with the extra 'sklearn'")
    return svm.SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, y).coef_[0]


def test_an_interrupt_loses_no_finished_point(sphere, at_once, tmp_path) -> None:
    limit, data = sphere
    store = tmp_path / "points.sqlite"
    done: list[int] = []

    def stop(number: int, _: int) -> None:
        done.append(number)
        if number == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mf.influence(limit, data, mode="fast", store=store, progress=stop)
    kept = sqlite3.connect(store).execute("select count(*) from points").fetchone()[0]
    assert kept == (limit.certificate.multipliers[:10] > 0).sum()
    again = mf.influence(limit, data, mode="fast", store=store)
    once = at_once
    np.testing.assert_array_equal(again.margins, once.margins)
    np.testing.assert_array_equal(again.norms, once.norms)
    assert again.ways == once.ways
    assert (again.jumped == once.jumped).all()
    with pytest.raises(mf.InputError, match="another question"):
        mf.influence(limit, data, mode="continuation", store=store)
    broken = tmp_path / "broken.sqlite"
    broken.write_text("not a database, but long enough to look at", encoding="utf-8")
    with pytest.raises(mf.InputError, match="cannot be used as a store"):
        mf.influence(limit, data, mode="fast", store=broken)


@pytest.fixture(scope="module")
def small():
    data = Sphere(dimension=6).sample(6, seed=1)
    return mf.kkt_point(data, width=12, seed=1), data


@pytest.mark.parametrize("kind", ["leave out", "add", "flip"])
def test_a_time_limit_keeps_the_points_that_are_finished(small, kind, monkeypatch) -> None:
    """A clock that moves by one whenever somebody looks at it."""
    limit, data = small
    asked = {
        "leave out": {"groups": [[i] for i in range(4)]},
        "add": {"add": Sphere(dimension=6).sample(4, seed=2)},
        "flip": {"flip": range(4)},
    }[kind]
    now = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    whole = mf.influence(limit, data, **asked)
    looks = next(now)
    assert whole.undone == 0
    seen = set()
    for share in (0.5, 0.9):
        found = mf.influence(limit, data, **asked, time_limit=share * looks)
        done = len(found.groups)
        assert found.undone == 4 - done
        seen.add(done)
        np.testing.assert_array_equal(found.norms, whole.norms[:done])
        np.testing.assert_array_equal(found.expected, whole.expected[:done])
        assert found.rank().size == done
        assert f"before {4 - done} more" in str(found)
    assert len(seen) > 1
    with pytest.raises(InputError, match="before the first of 4 points was found"):
        mf.influence(limit, data, **asked, time_limit=0.5)


@pytest.mark.parametrize("kind", ["leave out", "add"])
def test_newtons_method_stops_in_the_middle_of_a_point_when_time_is_over(small, kind, monkeypatch) -> None:
    """A clock that moves by one with every Newton step: none is made after the limit."""
    limit, data = small
    asked = {"leave out": {"groups": [[i] for i in range(4)]}, "add": {"add": Sphere(dimension=6).sample(4, seed=2)}}
    steps, original = [], solver._step

    def counted(*arguments):
        steps.append(1)
        return original(*arguments)

    monkeypatch.setattr(solver, "_step", counted)
    monkeypatch.setattr(time, "monotonic", lambda: float(len(steps)))
    mf.influence(limit, data, **asked[kind])
    whole = len(steps)
    for allowed in (whole // 3, whole // 2):
        steps.clear()
        with suppress(InputError):  # which says so where not even the first point was found
            assert mf.influence(limit, data, **asked[kind], time_limit=allowed).undone > 0
        assert len(steps) <= allowed + 1


def test_the_stored_points_are_taken_as_they_are(sphere, tmp_path) -> None:
    """A second run computes nothing that is there: a residual that was changed in the file comes back."""
    limit, data = sphere
    store = tmp_path / "points.sqlite"
    mf.influence(limit, data, mode="fast", groups=[[3]], store=store)
    with sqlite3.connect(store) as file:
        file.execute("update points set residual = 0.125")
    assert mf.influence(limit, data, mode="fast", groups=[[3]], store=store).residuals[0] == 0.125
