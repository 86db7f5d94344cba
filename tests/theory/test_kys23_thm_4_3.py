"""[KYS23, Thm 4.3]: KKT points with frozen outputs, in fractions and found; judges on any network and data."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginflow import theory
from marginflow.data import Dataset, NoisySphere
from marginflow.limit import kkt_point
from marginflow.networks import TwoLayer
from marginflow.theory import Instance
from marginflow.theory.kys23.sphere_points import frozen_point
from marginflow.theory.kys23.thm_4_1.lem_b3 import orthonormal
from marginflow.theory.kys23.thm_4_1.max_margin import max_margin
from marginflow.theory.kys23.thm_4_3.orthonormal import closed_form_B
from marginflow.theory.kys23.unit_sphere import beta_of


def outcome(id: str, instance: Instance) -> str:
    return theory.statement(id).judge_instance(instance).outcome


# Theorem 4.3 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "n", "k", "d", "descent"),
    [
        (88, 2, 1, 4 * 10**11, 0.985),
        (60, 2, 6, 10**11, 0.829),
        (60, 4, 15, 10**12, 0.541),
        (60, 8, 6, 3000, 0.80),
    ],
)
def test_biases_of_exact_kkt_points(m: int, n: int, k: int, d: int, descent: float) -> None:
    """B = (q - k)/(1 + m) at the KKT points themselves.

    The catalogue's numbers are of gradient descent with a KKT residual of 0.16 to 0.49: its margins are not yet equal,
    and its B is larger by up to 0.05.
    """
    point = frozen_point(m, n, k, d)
    certificate = point.certificate
    assert certificate.holds(1e-9)
    network = certificate.network
    assert network.b is not None
    B = float(network.v @ network.b)
    assert B == pytest.approx(closed_form_B(m - k, k), abs=0.01 if d < 10**4 else 1e-5)
    assert B < descent < B + 0.06
    assert network.b.min() > 0
    assert certificate.multipliers.max() / (3 * m * n) <= 0.0026
    if (m, n, k) == (88, 2, 1):
        assert network.b.min() == pytest.approx(0.011, abs=5e-4)
        assert 0.015 < certificate.multipliers[point.the_data().y > 0].min() < 0.025  # far below 1/(4n) = 0.125


@given(
    q=st.integers(1, 60),
    k=st.integers(1, 60),
    a_plus=st.fractions(Fraction(1, 50), 50),
    a_minus=st.fractions(Fraction(1, 50), 50),
)
def test_every_kkt_point_on_orthonormal_samples_in_fractions(
    q: int, k: int, a_plus: Fraction, a_minus: Fraction, orthonormal_oracle: ModuleType
) -> None:
    """All equations of the derivation, and B = (q - k)/(1 + m), without rounding."""
    p = orthonormal_oracle.orthonormal_kkt(q, k, a_plus, a_minus)
    assert min(p.beta_plus, p.beta_minus, p.lam_plus, p.lam_minus) > 0
    assert p.beta_plus == q * p.lam_plus - k * min(p.beta_plus, p.lam_minus)
    assert p.beta_minus == k * p.lam_minus - q * min(p.beta_minus, p.lam_plus)
    assert a_plus * (p.lam_plus + p.beta_plus) - a_minus * max(p.beta_minus - p.lam_plus, Fraction(0)) == 1
    assert a_minus * (p.lam_minus + p.beta_minus) - a_plus * max(p.beta_plus - p.lam_minus, Fraction(0)) == 1
    assert a_plus * p.beta_plus - a_minus * p.beta_minus == Fraction(q - k, 1 + q + k)


@pytest.mark.parametrize("outputs", [(1.0, -1.0), (3.0, 1.0, -0.5), (0.2, -1.0, -2.0), (1.0, 1.0, -1.0, -1.0)])
def test_frozen_outputs_of_any_size_give_the_same_biases_on_orthonormal_samples(
    outputs: tuple[float, ...], orthonormal_oracle: ModuleType
) -> None:
    data = orthonormal(9, 3)
    rng = np.random.default_rng(0)
    v = np.array(outputs)
    sums = np.where(v[:, None] > 0, data.X[data.y > 0].sum(axis=0), data.X[data.y < 0].sum(axis=0))
    W = sums + 0.3 * rng.standard_normal((v.size, 9))
    limit = kkt_point(data, start=TwoLayer(W=W, b=np.ones(v.size), v=v, outputs="frozen"))
    assert limit.exact
    network = limit.certificate.network
    assert network.b is not None
    assert float(v @ network.b) == pytest.approx(closed_form_B(6, 3), abs=1e-9)
    live = network.W.any(axis=1)
    a_plus, a_minus = (Fraction(float((v[live & (s * v > 0)] ** 2).sum())) for s in (1, -1))
    p = orthonormal_oracle.orthonormal_kkt(6, 3, a_plus, a_minus)
    assert limit.certificate.multipliers[data.y > 0] == pytest.approx(float(p.lam_plus), rel=1e-8)
    assert limit.certificate.multipliers[data.y < 0] == pytest.approx(float(p.lam_minus), rel=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_trained_outputs_always_end_in_the_pair_on_orthonormal_samples(seed: int) -> None:
    data = orthonormal(9, 3)
    limit = kkt_point(data, width=12, seed=seed, scale=[0.01, 1.0, 3.0][seed])
    assert limit.exact
    assert limit.network.norm_squared() == pytest.approx(max_margin(data).lower, rel=1e-9)
    assert beta_of(limit.network) == pytest.approx(closed_form_B(6, 3), abs=1e-9)


PRESETS = [(88, 2, 1, 10**13), (200, 2, 2, 10**15), (40, 2, 18, 10**12), (20, 4, 9, 10**12), (30, 6, 3, 10**13)]


@pytest.mark.parametrize("id", ["LemB.5", "LemB.6", "LemB.7", "LemB.8", "LemB.9", "B2.LamMax", "Thm4.3"])
@pytest.mark.parametrize("preset", PRESETS)
def test_lemmas_for_frozen_outputs_are_never_violated(id: str, preset: tuple[int, int, int, int]) -> None:
    m, n, k, d = preset
    found = outcome(f"KYS23/{id}", frozen_point(m, n, k, d))
    B = closed_form_B(m - k, k)
    if id in ("LemB.7", "LemB.8"):
        assert found == ("vacuous" if B > 0.25 else "holds")
    elif id in ("LemB.5", "LemB.6"):
        assert found == "holds"
    elif id == "B2.LamMax":
        assert found == ("holds" if B > 0.25 else "not applicable")
    else:
        regime = k <= m / (22 * n**2)
        assert found == ("holds" if regime else "not applicable")


# Any input -----------------------------------------------------------------------------------------------------------

NETWORK_IDS = [
    "Thm4.1", "Rem4.2", "B1.BiasDom", "LemB.2", "LemB.3", "LemB.3-repaired", "Thm4.3", "LemB.5", "LemB.6", "LemB.7",
    "LemB.8", "LemB.9", "B2.LamMax", "Prop4.4", "Prop4.5", "Prop4.5-repaired", "Prop4.6", "Prop4.6-repaired", "O5",
    "O6", "O7", "O10", "Set.Sphere", "X.InSpan",
]  # fmt: skip


@pytest.mark.parametrize("m", [1, 4])
@pytest.mark.parametrize("labels", ["plus", "minus", "both"])
def test_every_judge_answers_on_any_network_and_data(m: int, labels: str) -> None:
    law = NoisySphere(dimension=3, p=0.3)
    y = {"plus": np.ones(m), "minus": -np.ones(m), "both": np.where(np.arange(m) % 2, 1.0, -1.0)}[labels]
    data = Dataset(X=law.sample(m).X, y=y)
    networks = (
        TwoLayer.initialise(4, 3, seed=0),
        TwoLayer.initialise(4, 3, seed=0, bias=False),
        TwoLayer(W=np.ones((2, 3)), b=np.ones(2), v=np.array([1.0, -1.0]), outputs="frozen"),
        TwoLayer(W=np.zeros((1, 3)), b=np.ones(1), v=np.array([-1.0])),
    )
    for network in networks:
        instance = Instance(network=network, data=data, law=law, networks=(network,))
        for id in NETWORK_IDS:
            assert outcome(f"KYS23/{id}", instance) in theory.verdict.OUTCOMES
