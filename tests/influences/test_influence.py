"""Leave-out points: closed forms, a support vector machine, proofs, certificates that share nothing with the solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.networks import TwoLayer


def rest_of(data: Dataset, i) -> Dataset:
    return Dataset(X=np.delete(data.X, i, axis=0), y=np.delete(data.y, i))


@pytest.mark.parametrize("mode", ["continuation", "fast"])
def test_every_point_is_certified_on_the_samples_it_was_trained_on(sphere, followed, at_once, mode) -> None:
    _, data = sphere
    found = {"continuation": followed, "fast": at_once}[mode]
    for i in range(data.n_samples):
        certificate = mf.certify(found.network(i), rest_of(data, i))
        assert certificate.holds(1e-9)
        own = data.y[i] * float(found.network(i)(data.X[i : i + 1])[0])
        assert found.margins[i] == pytest.approx(own, abs=1e-12)
        assert found.norms[i] == pytest.approx(found.network(i).norm_squared(), rel=1e-12)
    assert found.residuals.max() < 1e-9
    assert found.error == pytest.approx((found.margins <= 0).mean())
    np.testing.assert_array_equal(np.sort(found.rank()), np.arange(25))
    assert found.margins[found.rank()[0]] == found.margins.min()


def test_a_constraint_less_never_costs_more_along_the_branch(followed) -> None:
    found = followed
    rounding = 1e-12 * found.multipliers.max()
    followed = (found.multipliers > rounding) & ~found.jumped
    assert (found.drops[followed] > 0).all()
    ratio = found.drops[followed] / found.expected[followed]
    assert 0.8 < np.median(ratio) < 1.25


def test_samples_without_a_multiplier_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) + np.repeat([[2.0, 0, 0], [-2.0, 0, 0]], 20, axis=0)
    data = Dataset(X=X, y=np.repeat([1.0, -1.0], 20))
    limit = mf.kkt_point(data, width=20, seed=0)
    found = mf.influence(limit, data)
    idle = np.flatnonzero(limit.certificate.multipliers == 0)
    assert idle.size > 20
    for i in idle:
        assert found.ways[i] == "unchanged"
        assert found.network(i) is found.network(idle[0])
        assert found.norms[i] == found.norm
        assert mf.certify(found.network(i), rest_of(data, i)).holds(1e-9)
    np.testing.assert_allclose(found.margins[idle], limit.certificate.margins[idle], atol=1e-9)


def test_a_multiplier_that_is_rounding_neither_moves_the_point_nor_loses_the_branch() -> None:
    """Samples beyond the margin may carry 1e-17: the same network is certified on what is left, and nothing jumped."""
    digits = np.load(Path(mf.__file__).parent / "demo" / "digits.npz")
    names = set(digits.files)
    assert {"X", "y"} <= names
    data = Dataset(X=digits["X"], y=digits["y"]).subset(np.arange(60))
    limit = mf.kkt_point(data, width=30, seed=0)
    found = mf.influence(limit, data)
    beyond = limit.certificate.margins > 1.0 + 1e-6
    assert beyond.sum() > 10
    assert not found.jumped[beyond].any()
    assert {found.ways[i] for i in np.flatnonzero(beyond)} == {"unchanged"}
    for i in np.flatnonzero(beyond)[:5]:
        assert mf.certify(found.network(i), rest_of(data, i)).holds(1e-9)


def test_on_orthonormal_samples_one_less_is_one_less_under_the_root() -> None:
    n = 8
    data = Dataset(X=np.eye(n), y=np.repeat([1.0, -1.0], [5, 3]))
    W = np.array([np.repeat([1.0, 0.0], [5, 3]), np.repeat([0.0, 1.0], [5, 3])])
    start = TwoLayer.from_directions(W, np.array([1.0, -1.0]), bias=False)
    limit = mf.kkt_point(data, start=start, flow_steps=0)
    assert limit.network.norm_squared() == pytest.approx(2 * (np.sqrt(5) + np.sqrt(3)))
    found = mf.influence(limit, data)
    np.testing.assert_allclose(found.norms[:5], 2 * (np.sqrt(4) + np.sqrt(3)), rtol=1e-9)
    np.testing.assert_allclose(found.norms[5:], 2 * (np.sqrt(5) + np.sqrt(2)), rtol=1e-9)
    np.testing.assert_allclose(found.margins, 0.0, atol=1e-9)
    assert not found.jumped.any()


@pytest.fixture(scope="module")
def mirrored():
    """Samples and their mirror images with the other label: the network w, -w is linear, a support vector machine."""
    rng = np.random.default_rng(4)
    half = rng.standard_normal((12, 3)) + np.array([2.0, 0.5, 0.0])
    return Dataset(X=np.vstack([half, -half]), y=np.repeat([1.0, -1.0], 12))


def svm(X, y):
    svm = pytest.importorskip("sklearn.svm", reason="the outside truth comes with the extra 'sklearn'")
    return svm.SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, y).coef_[0]


def test_in_the_linear_case_the_margins_are_those_of_a_support_vector_machine_trained_again(mirrored) -> None:
    w = svm(mirrored.X, mirrored.y)
    start = TwoLayer.from_directions(np.array([w, -w]), np.array([1.0, -1.0]), bias=False)
    limit = mf.kkt_point(mirrored, start=start, flow_steps=0)
    assert limit.exact
    found = mf.influence(limit, mirrored, groups=[[i, i + 12] for i in range(12)])
    assert not found.jumped.any()
    assert (found.multipliers > 0).sum() >= 4
    for i in range(12):
        out = np.delete(np.arange(24), [i, i + 12])
        again = svm(mirrored.X[out], mirrored.y[out])
        assert found.margins[i] == pytest.approx(float(again @ mirrored.X[i]), abs=1e-5)
        assert found.norms[i] == pytest.approx(4 * np.linalg.norm(again), rel=1e-5)


def test_soft_margins_and_folds(sphere) -> None:
    _, data = sphere
    limit = mf.kkt_point(data, width=50, seed=1, penalty=0.2)
    assert limit.exact
    found = mf.influence(limit, data, folds=5, seed=2)
    assert len(found.groups) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate(found.groups)), np.arange(25))
    for number, group in enumerate(found.groups):
        rest = rest_of(data, group)
        assert mf.certify(found.network(number), rest, penalty=0.2).holds(1e-9)
        np.testing.assert_allclose(
            found.margins[group], data.y[group] * found.network(number)(data.X[group]), atol=1e-12
        )


def test_a_cold_solution_is_there_on_request_and_exact(sphere) -> None:
    limit, data = sphere
    found = mf.influence(limit, data, groups=[[3]], mode="fast")
    assert mf.certify(found.cold(0), rest_of(data, 3)).holds(1e-9)
    assert np.isnan(found.margins[[0, 1, 2]]).all()


def test_bad_input_is_named(sphere) -> None:
    limit, data = sphere
    with pytest.raises(mf.InputError, match="the data of the limit are expected"):
        mf.influence(limit, rest_of(data, 0))
    with pytest.raises(mf.InputError, match="one label only"):
        mf.influence(limit, data, groups=[np.flatnonzero(data.y > 0)])
    with pytest.raises(mf.InputError, match="names sample 99"):
        mf.influence(limit, data, groups=[[99]])
    with pytest.raises(mf.InputError, match="in two groups"):
        mf.influence(limit, data, groups=[[1, 2], [2, 3]])
    with pytest.raises(mf.InputError, match="groups and folds are both given"):
        mf.influence(limit, data, groups=[[1]], folds=3)
    with pytest.raises(mf.InputError, match="goes without add and flip"):
        mf.influence(limit, data, flip=[1], store="store.sqlite")
    with pytest.raises(mf.InputError, match="names sample 25"):
        mf.influence(limit, data, flip=[25])
    with pytest.raises(mf.InputError, match="flip is empty"):
        mf.influence(limit, data, flip=[])
    crowded = Sphere(dimension=4).sample(60, seed=0)
    rough = mf.kkt_point(crowded, width=50, seed=1, max_iterations=10, starts=["flow"])
    with pytest.raises(mf.InputError, match="not exact"):
        mf.influence(rough, crowded)


def test_the_changes_of_outputs_are_those_of_the_networks(sphere) -> None:
    limit, data = sphere
    found = mf.influence(limit, data, groups=[[0], [1]], mode="fast")
    points = np.random.default_rng(0).standard_normal((4, 25))
    expected = np.array([found.network(g)(points) - limit.network(points) for g in (0, 1)])
    np.testing.assert_allclose(found.changes(points), expected, atol=1e-12)


def test_taking_every_term_away_leaves_nothing_and_none_leaves_all(sphere, at_once) -> None:
    """theta is the sum of the terms lambda_i y_i dN(x_i), so the steps of all samples add up to theta itself."""
    _, data = sphere
    found = at_once
    base = found.base
    steps = [mf.influences.ascent_step(found, data, i) for i in range(data.n_samples)]
    np.testing.assert_allclose(sum(base.W - step.W for step in steps), base.W, atol=1e-9)
    np.testing.assert_allclose(sum(base.v - step.v for step in steps), base.v, atol=1e-9)


def test_one_step_of_ascent_is_measured_against_the_truth(sphere, followed) -> None:
    _, data = sphere
    found = followed
    points = np.random.default_rng(0).standard_normal((300, 25))
    measured = mf.influences.unlearning(found, data, points)
    assert measured.kept.shape == measured.unlearned.shape == (25,)
    assert ((measured.kept > 1e-9) == (found.multipliers > 1e-12 * found.multipliers.max())).all()
    assert (measured.unlearned >= 0).all()
    assert 0.0 <= measured.helped <= 1.0
    with pytest.raises(mf.InputError, match="25 are expected"):
        mf.influences.unlearning(found, data, points[:, :3])


def test_a_sample_that_is_left_out_and_added_again_brings_the_point_back(sphere, followed) -> None:
    limit, data = sphere
    found = followed
    # A neuron that has died does not come back, so the sample is the one that changes least.
    rounding = 1e-12 * found.multipliers.max()
    followed = (found.multipliers > rounding) & ~found.jumped & (found.neurons == found.base.width)
    i = int(np.argmin(np.where(followed, found.drops, np.inf)))
    rest = rest_of(data, i)
    network = found.network(i)
    without = replace(limit, network=network, compact=network, certificate=mf.certify(network, rest))
    again = mf.influence(without, rest, add=Dataset(X=data.X[[i, i]], y=[data.y[i], -data.y[i]]))
    assert again.added
    assert again.residuals.max() < 1e-9
    assert again.norms[0] == pytest.approx(found.norm, rel=1e-9)
    assert again.multipliers[0] == pytest.approx(found.multipliers[i], rel=1e-6)
    # The other label: a flip, certified on the data with it.
    flipped = Dataset(X=np.vstack([rest.X, data.X[i]]), y=np.append(rest.y, -data.y[i]))
    assert mf.certify(again.network(1), flipped).holds(1e-9)
    with pytest.raises(mf.InputError, match="were added"):
        mf.influences.ascent_step(again, rest, 0)


def test_samples_beyond_the_margin_change_nothing_when_they_are_added(sphere) -> None:
    limit, data = sphere
    far = Dataset(X=3.0 * data.X[:2], y=data.y[:2])
    margins = limit.network.margins(far.X, far.y)
    found = mf.influence(limit, data, add=far)
    for i in range(2):
        assert (found.ways[i] == "unchanged") == (margins[i] >= 1.0)
    with pytest.raises(mf.InputError, match="25 is expected"):
        mf.influence(limit, data, add=Dataset(X=np.eye(3), y=[1, -1, 1]))


def test_a_turned_label_is_the_point_of_the_turned_data(sphere) -> None:
    limit, data = sphere
    found = mf.influence(limit, data, flip=[4, 9])
    assert found.flipped
    for number, i in enumerate((4, 9)):
        turned = Dataset(X=data.X, y=np.where(np.arange(25) == i, -data.y, data.y))
        assert mf.certify(found.network(number), turned).holds(1e-9)
        without = mf.influence(limit, data, groups=[[i]])
        assert found.margins[i] == pytest.approx(-without.margins[i], abs=1e-12)
    assert np.isnan(found.margins[0])
    assert "labels flipped" in str(found)
    assert list(found.rank()) == sorted((0, 1), key=lambda number: found.margins[[4, 9][number]])


def test_solutions_from_scratch_stand_beside_the_continuation(sphere, at_once) -> None:
    _, data = sphere
    found = at_once
    beside = found.branches(data, found.rank()[:2])
    for number, group in enumerate(found.rank()[:2]):
        cold = found.cold(int(group))
        assert beside.cold_margins[number] == pytest.approx(
            float(cold.margins(data.X[[group]], data.y[[group]])[0]), abs=1e-9
        )
        assert beside.margins[number] == found.margins[group]
    assert 0.0 <= beside.other <= 1.0
    assert beside.spread >= 0.0
    with pytest.raises(mf.InputError, match="groups is empty"):
        found.branches(data, np.array([], dtype=np.int64))


def _of_another_kind(kind: str) -> Dataset:
    if kind == "digits":
        digits = np.load(Path(mf.__file__).parent / "demo" / "digits.npz")
        return Dataset(X=digits["X"], y=digits["y"]).subset(np.arange(60))
    if kind == "clusters":
        return mf.data.Clusters(dimension=50, n_clusters=3, sigma=0.05).sample(30, seed=0)
    rng = np.random.default_rng(0)
    return Dataset(X=rng.normal(size=(40, 5)) + np.repeat([[1.5], [-1.5]], 20, axis=0), y=np.repeat([1.0, -1.0], 20))


@pytest.mark.parametrize("penalty", [None, 0.5])
@pytest.mark.parametrize("kind", ["digits", "clusters", "blobs"])
def test_where_the_limit_is_unique_influence_is_retraining(kind: str, penalty: float | None) -> None:
    """On data that a pair of neurons separates the solution from scratch is the continuation, to the last digits."""
    data = _of_another_kind(kind)
    limit = mf.kkt_point(data, width=30, seed=0, penalty=penalty)
    found = mf.influence(limit, data)
    beside = found.branches(data, found.rank()[:2])
    assert beside.other == 0.0
    np.testing.assert_allclose(beside.cold_margins, beside.margins, atol=1e-7)
    assert (beside.margins < limit.certificate.margins[found.rank()[:2]] - 1e-3).all(), "these samples matter"
