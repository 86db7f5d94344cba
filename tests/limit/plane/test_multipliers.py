"""Multipliers of a network that does not determine them: samples on a grid, more of them on the margin than enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit.plane import multipliers, solver

SLACK = 1e-9


def on_a_grid(seed):
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(-3, 4, (24, 2)), axis=0).astype(float)
    y = rng.choice([-1.0, 1.0], len(X))
    y[:2] = 1.0, -1.0
    return mf.data.Dataset(X=X, y=y)


@pytest.fixture(scope="module")
def undetermined():
    """What the solver asks where multipliers are free; which of the sets lead there depends on kernels."""
    asked = []

    def ask(rows, y, caps, end, look, **options):
        if end.freedom.shape[1]:
            asked.append((rows, y, caps, end, look))
        return multipliers.admissible(rows, y, caps, end, look, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "admissible", ask)
        for seed in (3, 4, 14, 40, 51):
            assert mf.kkt_point(on_a_grid(seed), optimum="global", width=200).exact
    assert asked
    return asked


def away(rows, y, caps, end, look):
    """The same point with multipliers between 0 and the caps that prove nothing: F exceeds 1 somewhere."""
    for direction in (end.freedom[:, 0], -end.freedom[:, 0]):
        for step in np.geomspace(1.0, 1e-3, 10) * np.abs(end.lam).max() / np.abs(direction).max():
            lam = end.lam + step * direction
            if (lam >= 0.0).all() and (lam <= caps).all() and look(lam, np.inf).supremum > 1.0 + 1e-3:
                return replace(end, lam=lam)
    return None


def test_free_multipliers_are_moved_to_where_they_prove_optimality(undetermined, monkeypatch):
    moved = 0
    for rows, y, caps, end, look in undetermined:
        spoilt = away(rows, y, caps, end, look)
        if spoilt is None:
            continue
        moved += 1
        found = multipliers.admissible(rows, y, caps, spoilt, look, excess=1e-10)
        assert look(found.lam, np.inf).supremum <= 1.0 + SLACK
        assert (found.lam >= 0.0).all()
        assert (found.lam <= caps).all()
        change = found.lam - spoilt.lam
        along = end.freedom @ np.linalg.lstsq(end.freedom, change, rcond=None)[0]
        np.testing.assert_allclose(along, change, atol=1e-9 * np.abs(end.lam).max())
        with monkeypatch.context() as without:
            without.setattr(multipliers, "_lowest", lambda *_: None)
            kept = multipliers.admissible(rows, y, caps, spoilt, look, excess=1e-10)
            assert look(kept.lam, np.inf).supremum > 1.0 + 1e-3
    assert moved


def test_negative_multipliers_are_brought_back_where_the_equations_leave_room_and_refused_where_not(undetermined):
    for rows, y, caps, end, look in undetermined:
        direction = end.freedom[:, 0] * np.abs(end.lam).max() / np.abs(end.freedom[:, 0]).max()
        outside = replace(end, lam=end.lam + 10.0 * direction)
        assert (outside.lam < 0.0).any() or (outside.lam > caps).any()
        found = multipliers.admissible(rows, y, caps, outside, look, excess=1e-10)
        assert look(found.lam, np.inf).supremum <= 1.0 + SLACK
        determined = replace(outside, freedom=end.freedom[:, :0])
        assert multipliers.admissible(rows, y, caps, determined, look, excess=1e-10) is None
