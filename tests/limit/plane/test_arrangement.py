"""Every local maximum of the dual function over the sphere of directions, judged by lists made the slow way."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spherical_suprema import spherical_suprema

from marginflow.limit.plane.arrangement import survey


def dual(points, rows, weights):
    return np.maximum(points @ rows.T, 0.0) @ weights


def all_candidates(rows, weights):
    """Vertices as cross products, and cells and arcs beside every vertex: no sweep, no filter, no sign kept apart."""
    found = [rows, -rows]
    for i, j in combinations(range(len(rows)), 2):
        normal = np.cross(rows[i], rows[j])
        if np.linalg.norm(normal) < 1e-9:
            continue
        for vertex in (normal, -normal):
            found.append(vertex[None])
            z = rows @ vertex
            # Active rows beside the vertex: move a little into each of the four (or more) cells that meet there.
            for angle in np.linspace(0.0, 2 * np.pi, 24, endpoint=False):
                tangent = np.cos(angle) * rows[i] + np.sin(angle) * np.cross(vertex, rows[i]) / np.linalg.norm(vertex)
                on_kink = np.abs(z) < 1e-9
                active = np.where(on_kink, rows @ tangent > 0, z > 0)
                S = (weights * active) @ rows
                found.append(np.array([S, -S]))
                for k in (i, j):
                    P = S - (S @ rows[k]) / (rows[k] @ rows[k]) * rows[k]
                    found.append(np.array([P, -P]))
    points = np.concatenate(found)
    size = np.linalg.norm(points, axis=1)
    return points[size > 1e-12] / size[size > 1e-12, None]


def draw(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    rows = {
        "plane": lambda: np.column_stack([rng.standard_normal((n, 2)), np.ones(n)]),
        "grid": lambda: np.unique(np.column_stack([rng.integers(-2, 3, (n, 2)), np.ones(n)]), axis=0),
        "line": lambda: np.column_stack([rng.standard_normal(n), np.ones(n), np.zeros(n)]),
        "space": lambda: rng.standard_normal((n, 3)),
        "opposite": lambda: np.vstack([rng.standard_normal((n, 3)), -np.eye(3), np.eye(3)]),
    }[kind]()
    return rows, rng.standard_normal(len(rows))


@pytest.mark.parametrize("kind", ["plane", "grid", "line", "space", "opposite"])
@pytest.mark.parametrize("seed", range(4))
def test_supremum_is_the_largest_of_all_candidates(kind, seed):
    rows, weights = draw(kind, seed)
    found = survey(rows, weights, level=np.inf)
    values = np.abs(dual(all_candidates(rows, weights), rows, weights))
    assert found.supremum == pytest.approx(values.max(), rel=1e-10)
    assert found.bound >= values.max()


@pytest.mark.parametrize("kind", ["plane", "grid", "line", "space", "opposite"])
@pytest.mark.parametrize("seed", range(4))
def test_highest_peaks_of_both_signs_are_the_suprema_by_exact_planar_duals(kind, seed):
    rows, weights = draw(kind, seed)
    found = survey(rows, weights, level=0.0)
    expected = spherical_suprema(rows, weights)
    highest = [part.values.max(initial=0.0) for part in found.peaks]
    assert highest == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert max(expected) <= found.bound * (1 + 1e-15)


def test_rows_on_one_ray_share_a_circle():
    rows, weights = draw("plane", 3)
    ways = np.vstack([rows, 3.0 * rows, rows[:2]])
    shares = np.concatenate([weights / 2, weights / 6, np.zeros(2)])
    assert survey(ways, shares, level=0.1).supremum == pytest.approx(survey(rows, weights, level=0.1).supremum)


@given(st.integers(0, 10**6))
@settings(max_examples=30)
def test_no_direction_exceeds_the_bound(seed):
    rng = np.random.default_rng(seed)
    rows, weights = draw(["plane", "grid", "space"][seed % 3], seed)
    points = rng.standard_normal((4000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    assert np.abs(dual(points, rows, weights)).max() <= survey(rows, weights, level=np.inf).bound


@pytest.mark.parametrize("kind", ["plane", "grid", "space"])
def test_peaks_are_local_maxima_and_ascents_end_in_them(kind):
    rows, weights = draw(kind, 5)
    rng = np.random.default_rng(0)
    for part in survey(rows, weights, level=1e-3).peaks:
        assert part.values == pytest.approx(part.sign * dual(part.directions, rows, weights))
        for peak, value in zip(part.directions, part.values, strict=True):
            around = peak + 1e-5 * rng.standard_normal((200, 3))
            around /= np.linalg.norm(around, axis=1)[:, None]
            assert (part.sign * dual(around, rows, weights) <= value + 1e-12).all()
        # The highest of many random points, climbed by small random steps, comes to a peak.
        best = rng.standard_normal((500, 3))
        best /= np.linalg.norm(best, axis=1)[:, None]
        best = best[np.argmax(part.sign * dual(best, rows, weights))]
        for scale in np.repeat(np.geomspace(0.1, 1e-6, 12), 40):
            tries = best + scale * rng.standard_normal((16, 3))
            tries /= np.linalg.norm(tries, axis=1)[:, None]
            values = part.sign * dual(np.vstack([best, tries]), rows, weights)
            best = np.vstack([best, tries])[np.argmax(values)]
        height = part.sign * dual(best[None], rows, weights)[0]
        if height > 2e-3:
            assert np.abs(part.values - height).min() < 1e-4 * height


def test_rows_of_weight_zero_change_nothing():
    rows, weights = draw("plane", 3)
    more = np.vstack([rows, np.random.default_rng(1).standard_normal((5, 3))])
    assert survey(more, np.append(weights, np.zeros(5)), level=0.1).supremum == pytest.approx(
        survey(rows, weights, level=0.1).supremum
    )


def test_blocks_of_circles_do_not_matter(monkeypatch):
    rows, weights = draw("plane", 4)
    whole = survey(rows, weights, level=0.0)
    monkeypatch.setattr("marginflow.limit.plane.arrangement.BLOCK_ENTRIES", 1)
    apart = survey(rows, weights, level=0.0)
    assert apart.supremum == pytest.approx(whole.supremum, rel=1e-14)
    assert len(apart.peaks[0].values) == len(whole.peaks[0].values)
