"""Numbers of every size: radii do not depend on the scale of a network, and no proof lives on denormal numbers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.networks import TwoLayer
from marginflow.robustness.radius import (
    ProofNode,
    ProofStep,
    RadiusCertificate,
    check_certificate,
    exact_radii,
    exact_radius,
)
from marginflow.robustness.radius.normal import exact_margin, margin_sign, margins, normal_form

seeds = st.integers(0, 10**6)


def random_network(seed: int) -> tuple[TwoLayer, np.ndarray]:
    rng = np.random.default_rng(seed)
    width, d = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    network = TwoLayer(W=rng.standard_normal((width, d)), b=rng.standard_normal(width), v=rng.standard_normal(width))
    return network, rng.standard_normal(d)


# Scales --------------------------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(seed=seeds, outer=st.integers(-900, 900), inner=st.integers(-900, 900), far=st.integers(-900, 900))
def test_powers_of_two_change_radii_by_powers_of_two_and_nothing_else(seed: int, outer: int, inner: int, far: int):
    network, x = random_network(seed)
    # N(x) = sum v relu(W x + b) with v 2^outer, (W, b) 2^inner, and all distances times 2^far.
    if abs(inner - far) > 900 or abs(inner) > 900:
        inner = far = 0
    scaled = TwoLayer(W=np.ldexp(network.W, inner - far), b=np.ldexp(network.b, inner), v=np.ldexp(network.v, outer))
    plain, again = exact_radius(network, x), exact_radius(scaled, np.ldexp(x, far))
    assert again.status == plain.status
    assert again.lower == np.ldexp(plain.lower, far)
    assert again.upper == np.ldexp(plain.upper, far)
    assert check_certificate(again.certificate, scaled).holds


@pytest.mark.parametrize("outer", [1e-300, 1e-170, 1e-100, 1e100, 1e300])
def test_radii_do_not_depend_on_the_scale_of_the_outputs(outer: float):
    for seed in range(8):
        network, x = random_network(seed)
        plain, scaled = (exact_radius(net, x) for net in (network, replace(network, v=outer * network.v)))
        assert scaled.status == plain.status
        assert scaled.lower == pytest.approx(plain.lower, rel=1e-5)
        assert scaled.upper == pytest.approx(plain.upper, rel=1e-5)


@settings(max_examples=60)
@given(seed=seeds)
def test_margins_are_within_their_bound_of_rational_arithmetic(seed: int):
    rng = np.random.default_rng(seed)
    network, x = random_network(seed)
    inner, outer, far = np.exp2(rng.uniform(-300, 300, 3))
    network = TwoLayer(W=inner * network.W, b=inner * far * network.b, v=outer * network.v)
    x = far * x
    (value,), (error,) = margins(network, x[None, :], 1.0, 0.0)
    exact = exact_margin(network, x, 1.0, 0.0)
    unit = Fraction(2) ** (normal_form(network).outputs + int(np.frexp(np.abs(x).max())[1]))
    assert abs(Fraction(float(value)) - exact / unit) <= Fraction(float(error))
    assert margin_sign(network, x, 1.0, 0.0) == (exact > 0) - (exact < 0)


def test_cancellation_that_float64_cannot_see_is_not_called_the_other_side():
    # relu(x) - relu(x - 1) is 1 for x >= 1, and its zero is at 0; float64 says 1e17 - 1e17 = 0.
    network = TwoLayer(W=[[1.0], [1.0]], b=[0.0, -1.0], v=[1.0, -1.0])
    assert network([[1e17]])[0] == 0.0
    radius = exact_radius(network, [1e17])
    assert radius.status == "bounded"
    assert radius.lower <= 1e17
    assert radius.upper >= 1e17


def test_no_witness_within_a_horizon_is_not_called_infinite():
    # A slope of -1e-9 beyond all neurons: the boundary is farther than the horizon, but it is there.
    network = TwoLayer(W=[[1.0], [-1.0], [1.0], [0.0]], b=[0, 0, -1e3, 1], v=[1.0, 1.0, -1.0 - 1e-9, 1.0])
    radius = exact_radius(network, [0.5])
    assert network([[2e12]])[0] < 0
    assert radius.lower <= 2e12
    assert not radius.proved or radius.upper < np.inf


# Forgeries -----------------------------------------------------------------------------------------------------------


def denormal_forgery(a: float) -> tuple[RadiusCertificate, TwoLayer]:
    """The point is on the wrong side; slopes and scale are the least denormal, whose products round to nothing."""
    network = TwoLayer(W=[[1.0], [1.0]], b=[0.4 * a, 0.0], v=[0.51, -1.49])
    step = ProofStep(scale=5e-324, slopes=np.array([5e-324, -5e-324]), taus=tuple(np.geomspace(1e290, 1.7e308, 60)))
    proof = RadiusCertificate(
        point=np.array([a]),
        label=1.0,
        level=0.0,
        lower=0.016,
        witness=None,
        groups=np.array([0, 1]),
        nodes=(ProofNode(steps=(step,)),),
    )
    return proof, network


@pytest.mark.parametrize("a", [1e10, 1e11, 1e12, 1e14, 1e16, 1e20])
def test_steps_of_denormal_numbers_prove_nothing(a: float):
    proof, network = denormal_forgery(a)
    assert network(proof.point[None, :])[0] < 0
    for lower in (1e-300, 1e-10, 0.016, 1.0, 1e10):
        assert not check_certificate(replace(proof, lower=lower), network).holds


def constructed_forgery(seed: int) -> tuple[RadiusCertificate, TwoLayer]:
    """A false bound, with steps whose numbers lie where products round badly, overflow or cancel."""
    rng = np.random.default_rng(seed)
    width, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    a = 10.0 ** rng.choice([0.0, 10.0, 12.0, 150.0, -150.0, 300.0])
    W, b, v = rng.standard_normal((width, d)), a * rng.standard_normal(width), rng.standard_normal(width)
    network = TwoLayer(W=W, b=b, v=v)
    x = a * rng.standard_normal(d)
    label = -1.0 if margin_sign(network, x, 1.0, 0.0) > 0 else 1.0  # x itself is on the other side: the radius is 0

    def number() -> float:
        return float(rng.choice([5e-324, 1e-320, 1e-308, 1e-200, 1e-60, 1e-16, 1.0, 1e16, 1e60, 1e150, 1e300, 1.7e308]))

    def entry() -> float:
        return number() * float(rng.choice([-1.0, 0.0, 1.0]))

    steps = tuple(
        ProofStep(
            scale=number(),
            slopes=np.array([entry() for _ in range(width)]),
            curvatures=np.array([entry() for _ in range(width)]) if rng.random() < 0.5 else None,
            taus=tuple(number() for _ in range(8)) + tuple(np.geomspace(1e-300, 1e308, 20)),
        )
        for _ in range(3)
    )
    units = (int(rng.choice([0, 0, -1000, 1000, 4000])), int(rng.choice([0, 0, -1000, 1000, 4000])))
    proof = RadiusCertificate(
        point=x,
        label=label,
        level=0.0,
        lower=number(),
        witness=None,
        groups=np.arange(width),
        nodes=(ProofNode(steps=steps),),
        units=units,
    )
    return proof, network


def test_constructed_forgeries_are_refused():
    for seed in range(300):
        assert not check_certificate(*constructed_forgery(seed)).holds


def test_positive_everywhere_is_decided_in_rational_arithmetic():
    # Three products of 2.6e-324 each round up to 4.9e-324, and would seem to exceed a level of 9.9e-324.
    v = [1.6e-162] * 3
    network = TwoLayer(W=np.zeros((3, 1)), b=[1.6e-162] * 3, v=v)
    proof = RadiusCertificate(
        point=np.zeros(1),
        label=1.0,
        level=1e-323,
        lower=np.inf,
        witness=None,
        groups=np.full(3, -1),
        nodes=(),
    )
    assert 3 * (v[0] * v[0]) > proof.level
    assert not check_certificate(proof, network).holds
    assert check_certificate(replace(proof, level=0.0), network).holds


def test_whatever_the_library_calls_proved_the_judge_has_confirmed():
    rng = np.random.default_rng(0)
    network = TwoLayer(W=rng.standard_normal((9, 2)), b=rng.standard_normal(9), v=1e-170 * rng.standard_normal(9))
    X = np.vstack([rng.standard_normal((5, 2)), 1e18 * rng.standard_normal((5, 2))])
    for radius in exact_radii(network, X, certificate=True):
        judgement = check_certificate(radius.certificate, network)
        assert judgement.holds
        assert (judgement.lower, judgement.upper) == (radius.lower, radius.upper)


@pytest.mark.parametrize("power", [0, 100, 190, 196, 200, 203, 206, 207, 208, 210, 250, 600, 1000])
@pytest.mark.parametrize("bias", [0.5, 0.03, 3.0])
def test_a_neuron_that_does_not_see_the_input_counts_however_far_the_boundary_is(power: int, bias: float) -> None:
    """Beside distances of 2^power its bias is tiny and its output weight large; their product is neither."""
    k = 2.0**-power
    network = TwoLayer(W=[[k, k], [0.0, 0.0], [k, -k]], b=[-0.5, bias, -0.7], v=[1.0, -0.2, 0.9])
    point = np.array([2.0, 1.5]) / k
    truth = (3.0 - 0.2 * bias) / np.sqrt(2.0)  # to where the first neuron is 0.2 bias; the third only adds
    radius = exact_radius(network, point)
    assert radius.lower * k <= truth * (1 + 1e-12)
    assert radius.upper * k >= truth * (1 - 1e-12)
    if radius.status == "proved":
        assert radius.lower * k == pytest.approx(truth, rel=1e-8)
        assert radius.certificate is not None
        forged = replace(radius.certificate, lower=3.0 / np.sqrt(2.0) / k * (1 - 1e-9), witness=None)
        assert not check_certificate(forged, network).holds
    assert radius.status == "proved" or power > 190
