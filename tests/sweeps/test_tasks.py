"""Built-in tasks say what the library says, and the same on every call."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.direction_names import DIRECTIONS
from marginflow.errors import InputError
from marginflow.sweeps import Results, Sweep, run, tasks
from marginflow.sweeps.built_in.flip import flip

CLUSTERS = {"law": "clusters", "n_clusters": 2}


def results(task: str, **fixed: object) -> Results:
    return run(Sweep(task=task, fixed={"n_samples": 10, "width": 20, **fixed})).require_complete()


def test_every_built_in_task_has_a_name_and_a_sentence() -> None:
    known = tasks()
    assert {"limit", "flip", "radius", "overfitting"} <= known.keys()
    assert all(known[name].summary.endswith(".") for name in ("limit", "flip", "radius", "overfitting"))


@pytest.mark.parametrize(
    "law", [{"law": name} for name in ("sphere", "gaussian", "ball", "orthogonal", "xor")] + [CLUSTERS]
)
def test_limit_reports_a_certified_point(law: dict[str, object]) -> None:
    (row,) = results("limit", dimension=12, **law).rows
    assert row["holds"] is True
    assert isinstance(row["stationarity"], float)
    assert row["stationarity"] <= 1e-9


def test_limit_is_kkt_point_by_hand_and_keeps_its_network(tmp_path: Path) -> None:
    (record,) = results("limit", dimension=12, arrays=True)
    data = mf.data.Sphere(dimension=12, labels="both").sample(10, seed=0)
    by_hand = mf.kkt_point(data, width=20, seed=0)
    assert record.row["norm_squared"] == by_hand.certificate.norm_squared
    kept = mf.networks.TwoLayer(W=record.arrays["W"], b=record.arrays["b"], v=record.arrays["v"])
    assert mf.certify(kept, data).holds(1e-9)
    np.testing.assert_array_equal(record.arrays["multipliers"], by_hand.certificate.multipliers)


def test_a_flip_takes_the_directions_of_the_one_table() -> None:
    (row,) = results("flip", **CLUSTERS, dimension=12, direction="means").rows
    assert 0.0 < row["smallest_first"] <= row["norm"] < math.inf
    with pytest.raises(InputError, match=", ".join(f'"{name}"' for name in sorted(DIRECTIONS))):
        results("flip", dimension=12, direction="up")


@pytest.mark.parametrize("direction", ["label-sum", "margin", "support", "dual"])
def test_the_flip_of_that_norm_flips_every_sample_and_a_shorter_one_does_not(direction: str) -> None:
    (row,) = results("flip", dimension=16, direction=direction).rows
    parameters = flip.parameters(n_samples=10, width=20, dimension=16, direction=direction)
    from marginflow.measurements import named_direction
    from marginflow.sweeps.built_in.point import point, sample

    data = sample(parameters, 0)
    found = point(parameters, data, 0)
    z = named_direction(found.network, data, parameters.direction, found.certificate)
    norm = float(row["norm"])
    for factor, all_flipped in ((1 + 1e-6, True), (1 - 1e-6, False)):
        moved = data.X - data.y[:, None] * (factor * norm * z / np.linalg.norm(z))
        assert bool((data.y * found.network(moved) < 0).all()) is all_flipped
    assert row["norm_by_sqrt_dimension"] == norm / math.sqrt(16)


def test_radii_are_proved_and_no_longer_than_the_flip() -> None:
    (record,) = results("radius", dimension=12, points=4)
    row = record.row
    assert row["proved"] == row["measured"] == 4
    lower, upper = record.arrays["lower"], record.arrays["upper"]
    assert ((upper - lower) <= 1e-6 * upper).all()
    assert row["smallest"] == lower.min()
    (flipped,) = results("flip", dimension=12).rows
    assert float(lower.max()) <= float(flipped["largest_first"])


def test_overfitting_on_the_interval_is_exact_and_about_the_share_of_a_fine_grid() -> None:
    found = results("overfitting", law="interval", n_samples=20, noise=0.2, width=60)
    (row,) = found.rows
    assert row["noisy"] > 0
    assert row["clean_error"] == row["clean_error_lower"] == row["clean_error_upper"]
    data = mf.data.Interval(p=0.2).sample(20, seed=0)
    network = mf.kkt_point(data, width=60, seed=0).network
    grid = (np.arange(200_000) + 0.5) / 200_000
    counted = float((network(grid[:, None]) <= 0).mean())
    assert abs(counted - row["clean_error"]) <= 1e-3


def test_overfitting_on_the_sphere_counts_with_an_interval_and_no_noise_means_no_error() -> None:
    (row,) = results("overfitting", dimension=20, noise=0.2, n_samples=16, n_test=2000).rows
    assert 0.0 <= row["clean_error_lower"] <= row["clean_error"] <= row["clean_error_upper"] <= 1.0
    (clean,) = results("overfitting", dimension=20, noise=0.0).rows
    assert (clean["noisy"], clean["clean_error"], clean["holds"]) == (0, 0.0, None)
