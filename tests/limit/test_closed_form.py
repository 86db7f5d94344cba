"""Every closed form is a KKT point, by formulas written here once more and independently of the library."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.closed_forms import closed_form
from marginflow.limit.closed_forms.closed_form import ClosedForm
from marginflow.networks import TwoLayer


def kkt_residuals(point: ClosedForm) -> dict[str, float]:
    """Plain loops over neurons and samples; nothing is taken from the network but W, b, v."""
    net, X, y, lam, phi = point.network, point.data.X, point.data.y, point.multipliers, point.clarke
    W, v = net.W, net.v
    b = np.zeros(net.width) if net.b is None else net.b
    pre = X @ W.T + b
    theta2 = (W**2).sum() + (0 if net.b is None else (b**2).sum())
    theta2 += (v**2).sum() if net.outputs == "trained" else 0.0
    residual = 0.0
    for j in range(net.width):
        g = v[j] * lam * y * phi[:, j]
        residual += ((W[j] - g @ X) ** 2).sum()
        if net.b is not None:
            residual += (b[j] - g.sum()) ** 2
        if net.outputs == "trained":
            residual += (v[j] - (lam * y) @ np.maximum(pre[:, j], 0)) ** 2
    q = y * (np.maximum(pre, 0) @ v)
    scale = np.sqrt((W**2).sum(axis=1) + b**2) * np.sqrt((X**2).sum(axis=1)[:, None] + (net.b is not None))
    settled = np.abs(pre) > 1e-13 * scale
    wrong = np.abs(phi - (pre > 0))[settled]
    degree = 2 if net.outputs == "trained" else 1
    unbalanced = np.abs(v**2 - (W**2).sum(axis=1) - b**2).max() if net.outputs == "trained" else 0.0
    return {
        "stationarity": float(np.sqrt(residual / theta2)),
        "infeasibility": float(max(0.0, 1 - q.min())),
        "complementarity": float(np.abs(lam * (q - 1)).max() / lam.max()),
        "negative multiplier": float(max(0.0, -lam.min())),
        "pattern": float(wrong.max(initial=0.0)),
        "weight outside [0, 1]": float(max(0.0, -phi.min(), phi.max() - 1)),
        "sum of multipliers": float(abs(lam.sum() - theta2 / degree) / lam.sum()),
        "balance": float(unbalanced / theta2),
    }


def assert_kkt(point: ClosedForm, tolerance: float = 1e-12) -> None:
    residuals = kkt_residuals(point)
    assert {name: value for name, value in residuals.items() if value > tolerance} == {}


def rotation(d: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def simplex(y: np.ndarray, d: int, rho: float, seed: int = 0) -> Dataset:
    """k means of norm sqrt(d) whose inner products are all -rho."""
    k = y.size
    root = np.linalg.cholesky((d + rho) * np.eye(k) - rho)
    return Dataset(X=np.pad(root, ((0, 0), (0, d - k))) @ rotation(d, seed), y=y)


@settings(max_examples=25)
@given(
    positive=st.integers(1, 6),
    negative=st.integers(0, 6),
    extra=st.integers(0, 4),
    seed=st.integers(0, 10**6),
    bias=st.booleans(),
    width=st.integers(2, 9),
)
def test_orthogonal_samples_of_any_norms_have_the_pair_with_kinks(positive, negative, extra, seed, bias, width):
    n, d = positive + negative, positive + negative + extra
    rng = np.random.default_rng(seed)
    X = np.exp(rng.uniform(-2, 2, n))[:, None] * rotation(d, seed)[:n]
    y = rng.permutation(np.repeat([1.0, -1.0], [positive, negative]))
    point = closed_form.orthogonal(Dataset(X=X, y=y), bias=bias)
    assert_kkt(point)
    assert_kkt(point.widened(max(width, point.network.width)))
    assert np.allclose(point.network.margins(X, y), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("positive", "negative", "d"), [(16, 16, 100), (5, 20, 40), (1, 1, 2), (30, 3, 33)])
def test_equal_norms_give_the_catalogued_constants(positive, negative, d):
    m = positive + negative
    point = closed_form.pair_kink(positive, negative, d)
    assert_kkt(point)
    lam_plus = np.sqrt((negative + d) / (positive * d * (m + d)))
    lam_minus = np.sqrt((positive + d) / (negative * d * (m + d)))
    s = np.sqrt(positive * negative / ((positive + d) * (negative + d)))
    assert point.multipliers == pytest.approx(np.repeat([lam_plus, lam_minus], [positive, negative]), rel=1e-14)
    assert point.clarke[0, 1] == pytest.approx(s, rel=1e-14)
    assert point.network.v == pytest.approx([np.sqrt(lam_plus * positive), -np.sqrt(lam_minus * negative)], rel=1e-14)
    # [FVBS23, 7.3 (i)] writes the same neuron with a and beta.
    a, beta = (d + negative) / (d * (d + m)), positive / (d * (d + m))
    Xt = np.column_stack([point.data.X, np.ones(m)])
    U_plus = a * Xt[:positive].sum(axis=0) - beta * Xt[positive:].sum(axis=0)
    assert point.network.directions[0] == pytest.approx(U_plus, rel=1e-13, abs=1e-14)
    assert np.linalg.norm(U_plus) == pytest.approx(np.sqrt(a * positive), rel=1e-14)


def test_balanced_orthogonal_samples_flip_at_the_root_of_d_over_m():
    d, m = 100, 32
    point = closed_form.pair_kink(m // 2, m // 2, d)
    X, y = point.data.X, point.data.y
    u = y @ X
    for size, value in ((np.sqrt(d / m), 0.0), (2 * np.sqrt(d / m), -1.0)):
        z = size * u / np.linalg.norm(u)
        moved = y * np.array([point.network(x[None] - label * z)[0] for x, label in zip(X, y, strict=True)])
        assert moved == pytest.approx(np.full(m, value), abs=1e-12)


@pytest.mark.parametrize("rho", [1.0, 2.0, 11.0])
def test_specialists_are_a_kkt_point_when_the_means_repel_each_other(rho):
    data = simplex(np.array([1.0, 1, 1, -1, -1, -1, 1, -1, 1, -1]), 120, rho)
    point = closed_form.specialist(data)
    assert_kkt(point)
    assert_kkt(point.widened(25))
    assert point.multipliers == pytest.approx(np.full(10, 121**-0.5), rel=1e-12)


def test_specialists_need_neither_equal_norms_nor_a_bias():
    X = np.array([[3.0, 0.0], [-1.0, 2.0], [-1.0, -5.0]])
    assert_kkt(closed_form.specialist(Dataset(X=X, y=[1, -1, 1]), bias=True))
    assert_kkt(closed_form.specialist(Dataset(X=X, y=[1, -1, 1]), bias=False))


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize(("m", "k", "d"), [(10, 2, 10), (20, 5, 31), (7, 6, 7)])
def test_the_catastrophic_point_is_kkt_repaired_and_as_printed(outputs, m, k, d):
    X = rotation(d, m)[:m]
    y = np.where(np.arange(m) < k, -1.0, 1.0)
    point = closed_form.catastrophic(Dataset(X=X, y=y), outputs=outputs)
    assert_kkt(point)
    assert_kkt(point.widened(k + 4))
    q = m - k
    expected = np.where(y > 0, q**-0.5 if outputs == "trained" else 1.0, 1.0)
    assert point.multipliers == pytest.approx(expected, rel=1e-12)


def test_the_point_as_printed_is_not_kkt_once_the_outputs_are_trained():
    X, y = np.eye(6), np.array([1.0, 1, 1, 1, -1, -1])
    printed = closed_form.catastrophic(Dataset(X=X, y=y), outputs="frozen")
    trained = TwoLayer(W=printed.network.W, v=printed.network.v)
    judged = kkt_residuals(
        ClosedForm(
            network=trained, data=printed.data, multipliers=printed.multipliers, clarke=printed.clarke, source="test"
        )
    )
    assert judged["stationarity"] > 0.1
    assert judged["balance"] > 0.1


@settings(max_examples=25)
@given(first=st.floats(-5, 5), spacing=st.floats(0.02, 3), beyond=st.floats(0, 4))
def test_the_five_points_are_kkt_wherever_they_lie(first, spacing, beyond):
    point = closed_form.five_points(first=first, spacing=spacing, last=first + 5 * spacing + beyond)
    assert_kkt(point, tolerance=1e-12 * max(1.0, point.objective))
    assert_kkt(point.widened(11), tolerance=1e-12 * max(1.0, point.objective))
    kinks = point.clarke[np.arange(4), np.arange(4)]
    assert ((kinks > 0) & (kinks < 1)).all()


def test_the_five_points_contradict_the_proposition():
    point = closed_form.five_points()
    assert_kkt(point)
    assert point.network(point.data.X) == pytest.approx([1, -1, 1, -1, 4], abs=1e-12)
    assert point.multipliers.round(3).tolist() == [20.488, 51.416, 52.139, 20.970, 0.0]
    assert 2 * point.objective == pytest.approx(290.028, abs=5e-4)


def test_the_five_points_are_a_strict_local_minimum():
    """The signed dual function is 1 at every neuron and below 1 on both sides."""
    point = closed_form.five_points()
    x, y, lam = point.data.X[:, 0], point.data.y, point.multipliers
    for (w, b), s in zip(point.network.augmented, point.network.signs, strict=True):
        angle = np.arctan2(b, w)
        values = [s * (lam * y) @ np.maximum(np.cos(angle + e) * x + np.sin(angle + e), 0) for e in (-1e-3, 0.0, 1e-3)]
        assert values[1] == pytest.approx(1.0, abs=1e-12)
        assert max(values[0], values[2]) < 1 - 1e-5


@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        (lambda p: {"network": p.network.scaled(0.999)}, "infeasibility"),
        (lambda p: {"network": p.network.scaled(1.001)}, "complementarity"),
        (lambda p: {"multipliers": p.multipliers * [1.01, 1, 1, 1]}, "stationarity"),
        (lambda p: {"clarke": (p.clarke > 0.99).astype(float)}, "stationarity"),
        (lambda p: {"multipliers": -p.multipliers}, "negative multiplier"),
    ],
)
def test_a_spoiled_closed_form_is_rejected_by_the_evaluator_of_this_file(spoil, name):
    point = closed_form.orthogonal(Dataset(X=2 * np.eye(4), y=[1, 1, -1, -1]))
    assert kkt_residuals(replace(point, **spoil(point)))[name] > 1e-4


def test_bad_input_is_told_in_one_sentence():
    close = Dataset(X=[[1.0, 0.0], [0.6, 0.8]], y=[1, -1])
    with pytest.raises(InputError, match=r"Samples 0 and 1 have the inner product 0\.6; orthogonal"):
        closed_form.orthogonal(close)
    with pytest.raises(InputError, match=r"inner product 0\.6; specialists"):
        closed_form.specialist(close)
    with pytest.raises(InputError, match="Sample 1 is zero"):
        closed_form.orthogonal(Dataset(X=[[1.0, 0.0], [0.0, 0.0]], y=[1, -1]))
    with pytest.raises(InputError, match="positive \\+ negative is 5"):
        closed_form.pair_kink(2, 3, 4)
    with pytest.raises(InputError, match="All 2 labels"):
        closed_form.catastrophic(Dataset(X=np.eye(2), y=[1, 1]))
    with pytest.raises(InputError, match="'free'"):
        closed_form.catastrophic(Dataset(X=np.eye(2), y=[1, -1]), outputs="free")
    with pytest.raises(InputError, match=r"last is 0\.45"):
        closed_form.five_points(last=0.45)
    with pytest.raises(InputError, match="Sample 0 is zero; without bias"):
        closed_form.specialist(Dataset(X=[[0.0, 0.0], [-1.0, 1.0]], y=[1, -1]), bias=False)
    with pytest.raises(InputError, match=r"clarke has shape \(3, 2\); \(4, 2\) is expected"):
        replace(closed_form.pair_kink(2, 2, 5), clarke=np.ones((3, 2)))
