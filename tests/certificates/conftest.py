"""Outside truths of this room: closed-form KKT points, networks that are none, and an evaluator in plain loops."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from marginflow.data import Dataset
from marginflow.networks import TwoLayer


def orthogonal_pair(d: int, n_plus: int, n_minus: int) -> SimpleNamespace:
    """[VYS22, X.orthKKT]: x_i = sqrt(d) e_i, one neuron per class, every opposite pair on a kink with weight s."""
    m = n_plus + n_minus
    X = math.sqrt(d) * np.eye(d)[:m]
    y = np.r_[np.ones(n_plus), -np.ones(n_minus)]
    lam_plus = math.sqrt((n_minus + d) / (n_plus * d * (m + d)))
    lam_minus = math.sqrt((n_plus + d) / (n_minus * d * (m + d)))
    s = math.sqrt(n_plus * n_minus / ((n_plus + d) * (n_minus + d)))
    v_plus, v_minus = math.sqrt(lam_plus * n_plus), -math.sqrt(lam_minus * n_minus)
    T = np.column_stack([X, np.ones(m)])
    plus, minus = T[:n_plus].sum(axis=0), T[n_plus:].sum(axis=0)
    A = np.array(
        [v_plus * (lam_plus * plus - lam_minus * s * minus), v_minus * (lam_plus * s * plus - lam_minus * minus)]
    )
    clarke = np.array([[1.0, s]] * n_plus + [[s, 1.0]] * n_minus)
    return SimpleNamespace(
        network=TwoLayer(W=A[:, :-1], b=A[:, -1], v=[v_plus, v_minus]),
        data=Dataset(X=X, y=y),
        lam=np.r_[np.full(n_plus, lam_plus), np.full(n_minus, lam_minus)],
        clarke=clarke,
    )


def five_points(x5: float = 0.9) -> SimpleNamespace:
    """[KYS23, PropA.4]: a strict local minimum on the line that contradicts the printed statement; not global."""
    h, x = 0.1, np.array([0.1, 0.2, 0.3, 0.4, x5])
    s1, s2, s3, s4 = np.sqrt(1 + x[:4] ** 2)
    lam4 = (s4 + s1 / 2 + 1.5 * s3) / (1.5 * h)
    lam3 = s2 / h + 2 * lam4
    lam2 = (2 * s2 + s1) / h + lam4
    lam1 = (lam2 - s3 / h) / 2
    slopes, facing, signs = np.array([3, 4, 4, 3]) / h, np.array([1, 1, -1, -1]), np.array([-1, 1, -1, 1])
    size = np.sqrt(slopes / np.sqrt(1 + x[:4] ** 2))
    w = facing * size
    return SimpleNamespace(
        network=TwoLayer(W=w[:, None], b=-w * x[:4], v=signs * np.sqrt(1 + x[:4] ** 2) * size),
        data=Dataset(X=x[:, None], y=[1, -1, 1, -1, 1]),
        lam=np.array([lam1, lam2, lam3, lam4, 0.0]),
    )


def one_against_many(m: int, k: int, *, balanced: bool, outputs: str, zero_neurons: int = 0) -> SimpleNamespace:
    """[KYS23, Prop4.6]: orthonormal data without bias, a neuron per negative sample and one for all positive ones."""
    q = m - k
    X = np.eye(m)
    y = np.r_[-np.ones(k), np.ones(q)]
    root = q**0.25 if balanced else 1.0
    W = np.vstack([X[:k], X[k:].sum(axis=0) / root, np.zeros((zero_neurons, m))])
    v = np.r_[-np.ones(k), root, np.zeros(zero_neurons)]
    return SimpleNamespace(
        network=TwoLayer(W=W, v=v, outputs=outputs),
        data=Dataset(X=X, y=y),
        lam=np.r_[np.ones(k), np.full(q, 1.0 if outputs == "frozen" else q**-0.5)],
    )


def specialists(d: int, k: int, rho: float) -> SimpleNamespace:
    """[FVBS23, 7.3 (ii)]: means with inner product -rho < -1, one neuron per mean, nothing on a kink."""
    X = np.linalg.cholesky((d + rho) * np.eye(k) - rho * np.ones((k, k)))
    y = np.where(np.arange(k) % 2, -1.0, 1.0)
    lam = (d + 1) ** -0.5
    v = y * math.sqrt(lam)
    return SimpleNamespace(
        network=TwoLayer(W=(v * lam * y)[:, None] * X, b=v * lam * y, v=v),
        data=Dataset(X=X, y=y),
        lam=np.full(k, lam),
    )


def robust_network(d: int, m: int, seed: int = 0) -> SimpleNamespace:
    """[VYS22, Thm 3.1]: margin 1 everywhere and robust, hence not a KKT point."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    X *= math.sqrt(d) / np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(np.arange(m) % 2, -1.0, 1.0)
    gram = X @ X.T
    c = max(0.0, float((gram - np.diag(np.diag(gram))).max()) / d)
    network = TwoLayer(W=2 * X / (d * (1 - c)), b=np.full(m, -(1 + c) / (1 - c)), v=y)
    return SimpleNamespace(network=network, data=Dataset(X=X, y=y))


def section_5_1(d: int) -> SimpleNamespace:
    """[VYS22, Sec. 5.1]: N' with w_j = x_j / d, b_j = 0, v_j = y_j; margin 1, balanced nowhere, not a KKT point."""
    X = math.sqrt(d) * np.eye(d)
    y = np.where(np.arange(d) < d // 2, 1.0, -1.0)
    return SimpleNamespace(network=TwoLayer(W=X / d, b=np.zeros(d), v=y), data=Dataset(X=X, y=y))


def separating(n: int, d: int, k: int, seed: int, *, bias: bool = True, outputs: str = "trained") -> SimpleNamespace:
    """A random network and random samples with its own labels: separated, far from KKT."""
    rng = np.random.default_rng(seed)
    network = TwoLayer(
        W=rng.normal(size=(k, d)), b=rng.normal(size=k) if bias else None, v=rng.normal(size=k), outputs=outputs
    )
    X = rng.normal(size=(8 * n, d))
    values = network(X)
    chosen = np.argsort(-np.abs(values), kind="stable")[:n]
    return SimpleNamespace(network=network, data=Dataset(X=X[chosen], y=np.where(values[chosen] > 0, 1.0, -1.0)))


def in_plain_loops(certificate, data) -> dict[str, float]:
    """Every number of a certificate again: scalar sums by math.fsum, no matrix product, no shared code."""
    net, lam, clarke = certificate.network, certificate.multipliers, certificate.clarke
    n, k = clarke.shape
    trained, has_bias = net.outputs == "trained", net.b is not None
    x = [[*map(float, row), *([1.0] if has_bias else [])] for row in data.X]
    w = [[*map(float, net.W[j]), *([float(net.b[j])] if has_bias else [])] for j in range(k)]
    pre = [[math.fsum(a * b for a, b in zip(x[i], w[j], strict=True)) for j in range(k)] for i in range(n)]
    q = [float(data.y[i]) * math.fsum(net.v[j] * max(pre[i][j], 0.0) for j in range(k)) for i in range(n)]
    degree = 2 if trained else 1
    norm2 = math.fsum([a * a for row in w for a in row] + ([float(c) ** 2 for c in net.v] if trained else []))
    hidden, output = [], []
    for j in range(k):
        hidden.append(
            [
                w[j][c] - net.v[j] * math.fsum(data.y[i] * lam[i] * clarke[i, j] * x[i][c] for i in range(n))
                for c in range(len(x[0]))
            ]
        )
        output.append(
            net.v[j] - math.fsum(lam[i] * data.y[i] * max(pre[i][j], 0.0) for i in range(n)) if trained else 0.0
        )
    hidden2 = [math.fsum(a * a for a in row) for row in hidden]
    penalty = certificate.penalty
    if penalty is None:
        excess = [lam[i] * abs(q[i] - 1.0) for i in range(n)]
    else:
        excess = [lam[i] * max(q[i] - 1.0, 0.0) + (penalty - lam[i]) * max(1.0 - q[i], 0.0) for i in range(n)]
    stationarity = math.sqrt((math.fsum(hidden2) + math.fsum(c * c for c in output)) / norm2)
    complementarity = degree * math.fsum(excess) / norm2
    lengths = [math.sqrt(math.fsum(a * a for a in row)) for row in w]
    return {
        "stationarity": stationarity,
        "hidden_stationarity": math.sqrt(math.fsum(hidden2) / norm2),
        "output_stationarity": math.sqrt(math.fsum(c * c for c in output) / norm2),
        "neuron_stationarity": [math.sqrt((hidden2[j] + output[j] ** 2) / norm2) for j in range(k)],
        "feasibility": max(0.0, 1.0 - min(q)) if penalty is None else 0.0,
        "complementarity": complementarity,
        "total": math.hypot(stationarity, certificate.residuals.complementarity_weight * complementarity),
        "epsilon": stationarity * math.sqrt(norm2),
        "delta": max(excess),
        "norm_identity": abs(degree * math.fsum(lam[i] * q[i] for i in range(n)) / norm2 - 1.0),
        "balance": max(abs(abs(net.v[j]) - lengths[j]) for j in range(k)) / max(lengths) if trained else None,
        "margins": q,
        "pre": pre,
        "scale_of_pair": [[math.sqrt(math.fsum(a * a for a in x[i])) * lengths[j] for j in range(k)] for i in range(n)],
    }


@pytest.fixture(scope="session")
def known() -> SimpleNamespace:
    """The closed forms and controls, by name."""
    return SimpleNamespace(
        orthogonal_pair=orthogonal_pair,
        five_points=five_points,
        one_against_many=one_against_many,
        specialists=specialists,
        robust_network=robust_network,
        section_5_1=section_5_1,
        separating=separating,
    )


@pytest.fixture(scope="session")
def evaluator():
    """The independent evaluator."""
    return in_plain_loops
