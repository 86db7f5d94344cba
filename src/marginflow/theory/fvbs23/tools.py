r"""[FVBS23, derived] Tools that make the paper executable: reduced coordinates, exact KKT points, certificates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

import numpy as np
from scipy import stats

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.robustness import minimal_step
from marginflow.theory.frame import (
    Check,
    Findings,
    Forms,
    Instance,
    Statement,
    at_least,
    at_most,
    below,
    equal,
    is_kkt_point,
    value,
)
from marginflow.theory.fvbs23.generalisation import test_clusters
from marginflow.theory.fvbs23.neurons import Neurons
from marginflow.theory.fvbs23.presets import (
    A,
    B,
    flipped_label,
    means_point,
    preset,
    specialist_point,
)
from marginflow.theory.fvbs23.setting import Sample, Setting

_SIGNIFICANT: Final = 1e-4


@dataclass(frozen=True, kw_only=True)
class Radii:
    """Bounds on inner products (the +1 of the bias included), proved from P1-P3 or measured; see `SharpBounds`.

    Training samples of one cluster lie in [a, A], a test point and its cluster in [a_test, A_test], everything across
    clusters is at most B in size, |<x_i, xi>| <= X, and y_i <x_i, u> >= D.
    """

    a: float
    A: float
    a_test: float
    A_test: float
    B: float
    X: float
    D: float

    @classmethod
    def proved(cls, s: Setting) -> Radii:
        """What P1 to P3 give, for any sigma."""
        spread = (2 + math.sqrt(2) * s.sigma) * s.g
        return cls(
            a=s.d - spread + 1,
            A=max(s.d + spread, (1 + 2 * s.sigma**2) * s.d + 2 * s.g) + 1,
            a_test=s.d - spread + 1,
            A_test=s.d + spread + 1,
            B=s.p + spread + 1,
            X=(1 + math.sqrt(2) * s.sigma) * s.g,
            D=s.D_u_sharp,
        )

    @classmethod
    def measured(cls, sample: Sample, X: FloatArray, clusters: IntArray) -> Radii:
        """From a training sample and test points; no assumption on norms or noise."""
        cross = sample.data.X @ X.T
        own = sample.clusters[:, None] == clusters[None, :]
        noise = sample.data.X @ sample.noise.T
        others = np.abs(noise[~np.eye(sample.n, dtype=np.bool_)])
        test = np.abs(sample.data.X @ (X - sample.means[clusters]).T)
        across = max(
            float(np.abs(sample.gram[~sample.same]).max(initial=0.0)), float(np.abs(cross[~own]).max(initial=0.0))
        )
        return cls(
            a=float(sample.gram[sample.same].min()) + 1,
            A=float(sample.gram[sample.same].max()) + 1,
            a_test=float(cross[own].min(initial=math.inf)) + 1,
            A_test=float(cross[own].max(initial=-math.inf)) + 1,
            B=across + 1,
            X=max(float(test.max()), float(others.max(initial=0.0)), -float(np.diag(noise).min())),
            D=float((sample.data.y * (sample.data.X @ sample.u)).min()),
        )


@dataclass(frozen=True, kw_only=True)
class SharpBounds:
    """c'', S_max, S_min, bounds of y N on test points and the step along u, from `Radii`."""

    ratio: float
    S_max: float
    S_min: float
    least_output: float
    largest_output: float
    eta: float

    @classmethod
    def of(cls, r: Radii, k: int, least: int) -> SharpBounds:
        """The lemmas A.10 to D.7 with (k - 1) in place of k and the radii as they are."""
        ratio = (k - 1) * r.B / r.a if r.a > 0 else math.inf
        if ratio >= 1 / 3 or r.D <= 0 or least == 0:
            nothing = math.nan
            return cls(
                ratio=ratio, S_max=nothing, S_min=nothing, least_output=nothing, largest_output=nothing, eta=nothing
            )
        S_max = 1 / (r.a * (1 - 2 * ratio))
        S_min = (1 - 3 * ratio) / ((1 - 2 * ratio) * r.A)
        up = (r.A_test + (k - 1) * r.B) * S_max
        return cls(
            ratio=ratio,
            S_max=S_max,
            S_min=S_min,
            least_output=r.a_test * S_min - 2 * (k - 1) * r.B * S_max,
            largest_output=up,
            eta=max(2 * r.X, r.B) / r.D + up / (r.D * least * S_min),
        )


def sharp_checks(neurons: Neurons, test: Dataset, bounds: SharpBounds, name: str) -> tuple[Check, ...]:
    """Sums, outputs and flips against one set of bounds; a negative lower bound of the output says nothing."""
    sample = neurons.sample
    s = sample.setting
    plus, minus = neurons.S
    own = np.where(s.y > 0, plus, minus)
    outputs = test.y * neurons.outputs(test.X)
    moved = test.y * neurons.outputs(test.X - test.y[:, None] * (bounds.eta * sample.u))
    empty = bounds.least_output <= 0
    size = bounds.eta * s.u_norm / math.sqrt(s.d)
    return (
        at_most(f"{name}: max(S_q^+, S_q^-)", np.maximum(plus, minus), bounds.S_max),
        at_least(f"{name}: S_q of the own sign", own, bounds.S_min),
        at_least(f"{name}: y N(x), from below", outputs, bounds.least_output, vacuous=empty),
        at_most(f"{name}: y N(x)", outputs, bounds.largest_output),
        at_most(f"{name}: y N(x - y eta u)", moved, 0.0, scale=1.0, note=f"||z|| = {size:.4g} sqrt(d)"),
    )


@partial(
    Statement,
    id="FVBS23/X.SharpCertificate",
    kind="lemma",
    number="Derived from Lemmas A.10 to A.12 and D.2 to D.7",
    meaning="The same chain with any bounds on inner products, proved or measured, certifies outputs and a shorter z.",
    formula=r"c'' = \frac{(k-1) B}{a}, \ S_{max} = \frac{1}{a (1 - 2c'')}, \ S_{min} = \frac{1 - 3c''}{(1 - 2c'') "
    r"A}, \ "
    r"\eta > \frac{\max(2X, B)}{D} + \frac{(A_t + (k-1) B) S_{max}}{D c k S_{min}}",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(A),
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    forms=Forms(remark="Needs neither equal norms nor Assumption 2.2; the measured z depends on the sample."),
)
def x_sharp(instance: Instance) -> Findings:
    neurons = Neurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    test, clusters = test_clusters(instance)
    measured = SharpBounds.of(Radii.measured(sample, test.X, clusters), s.k, s.least)
    proved = SharpBounds.of(Radii.proved(s), s.k, s.least)
    root = math.sqrt(s.d)
    conclusions = sharp_checks(neurons, test, measured, "measured")
    if proved.ratio < 1 / 3:
        conclusions += sharp_checks(neurons, test, proved, "proved")
    return Findings(
        hypotheses=(
            below("(k - 1) B / a, measured", measured.ratio, 1 / 3),
            sample.P6(),
            sample.own_labels(),
            is_kkt_point(instance),
        ),
        constants=(
            value("(k - 1) B / a, proved", proved.ratio),
            value("y N(x) from below, measured", measured.least_output),
            value("y N(x) from below, proved", proved.least_output),
            value("||z|| / sqrt(d), measured", measured.eta * s.u_norm / root),
            value("||z|| / sqrt(d), proved", proved.eta * s.u_norm / root),
        ),
        claims=conclusions,
    )


@cache
def naive_reduction() -> Instance:
    """Gaussian noise in k + n coordinates that claims to stand for d: its norms are those of k + n dimensions."""
    good = preset(A)
    data = good.the_data()
    assert data.means is not None
    assert data.clusters is not None
    rng = np.random.default_rng(0)
    X = data.means[data.clusters] + A[0] ** -0.5 * rng.standard_normal(data.X.shape)
    return Instance(name="plain Gaussian coordinates", data=replace(data, X=X), law=good.law, test=good.test)


@partial(
    Statement,
    id="FVBS23/X.GramReduction",
    kind="construction",
    number="Derived: weights lie in the span of samples, u in that of means",
    meaning="Clusters in any dimension d can be drawn in k + n coordinates with the exact law of all inner products.",
    formula=r"(\mu, 0) + \sigma (g, T), \quad g \sim \mathcal{N}(0, I_k), \quad T \text{ lower triangular}, \ "
    r"T_{ii}^2 \sim "
    r"\chi^2_{d - k - i}",
    needs=("data", "law", "test"),
    example=lambda: preset(A),
    control=naive_reduction,
    control_shows="plain Gaussian coordinates have the norms of 82 dimensions, not of 549",
    control_outcome="violated",
)
def x_reduction(instance: Instance) -> Findings:
    """Exact laws that the inner products of a reduced sample must have, by goodness of fit."""
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    squares = (sample.noise_norms / s.sigma) ** 2
    # Given xi_0, the numbers <xi_0, xi_i> / (sigma ||xi_0||) are independent standard normal.
    first = sample.noise[0] / sample.noise_norms[0]
    inner = sample.noise[1:] @ first / s.sigma
    fresh = (test.X - sample.means[clusters]) @ first / s.sigma
    along = sample.noise @ sample.u / (s.sigma * s.u_norm)
    return Findings(
        constants=(value("coordinates used", sample.data.dimension), value("d", s.d)),
        claims=(
            at_most("columns", sample.data.dimension, min(s.d, s.k + sample.n)),
            at_most("<mu, mu'> against the law", np.abs(sample.means @ sample.means.T - s.gram), 0.0, scale=s.d),
            at_least(
                "p-value: ||xi||^2 / sigma^2 ~ chi^2_d", stats.kstest(squares, "chi2", (s.d,)).pvalue, _SIGNIFICANT
            ),
            at_least("p-value: <xi_0, xi_i>", stats.kstest(inner, "norm").pvalue, _SIGNIFICANT),
            at_least("p-value: <xi_0, xi> of test points", stats.kstest(fresh, "norm").pvalue, _SIGNIFICANT),
            at_least("p-value: <u, xi_i>", stats.kstest(along, "norm").pvalue, _SIGNIFICANT),
        ),
    )


@partial(
    Statement,
    id="FVBS23/X.ConvexPairKKT",
    kind="construction",
    number="Derived: a convex program whose optimality conditions are those of Problem (2)",
    meaning="On separable data one positive and one negative neuron from a convex program are an exact KKT point.",
    formula=r"\min \|U_+\| + \|U_-\| \text{ s.t. } U_{y_i}^\top \tilde x_i \ge 1, \quad (U_{y_i} - U_{-y_i})^\top "
    r"\tilde x_i \ge 1",
    needs=("network", "data"),
    example=lambda: preset(B),
    control=specialist_point,
    control_shows="one neuron per cluster is no pair",
)
def x_pair(instance: Instance) -> Findings:
    """One direction per sign, active on its own class, and the residual of the certificate."""
    certificate = instance.certificate
    network, data = certificate.network, instance.the_data()
    b = np.zeros(network.width) if network.b is None else network.b
    U = network.v[:, None] * np.column_stack([network.W, b])
    plus, minus = U[network.v > 0], U[network.v < 0]
    sums = [part.sum(axis=0) for part in (plus, minus)]
    norms = [float(np.linalg.norm(part)) for part in sums]
    spread = max(
        float(np.linalg.norm(part, axis=1).sum()) - norm for part, norm in zip((plus, minus), norms, strict=True)
    )
    Xt = np.column_stack([data.X, np.ones(data.n_samples)])
    own = np.where(data.y > 0, Xt @ sums[0], -(Xt @ sums[1]))
    other = np.where(data.y > 0, -(Xt @ sums[1]), Xt @ sums[0])
    return Findings(
        hypotheses=(at_most("sum of lengths - length of the sum, per sign", spread, 0.0, scale=sum(norms)),),
        constants=(
            value("support", float(certificate.support.sum()), f"of {data.n_samples}"),
            value("width", network.width),
        ),
        claims=(
            is_kkt_point(instance),
            at_least("U_own . (x, 1)", own, 1.0),
            at_least("U_own . (x, 1) - U_other . (x, 1)", own - other, 1.0),
            equal("||U+|| + ||U-||", sum(norms), certificate.norm_squared / 2),
            equal("sum of the multipliers", float(certificate.multipliers.sum()), sum(norms), rtol=1e-8),
        ),
    )


@partial(
    Statement,
    id="FVBS23/X.ClosedFormKKT",
    kind="construction",
    number="Derived, sigma = 0",
    meaning="Two KKT points in closed form: a pair with every opposite mean on a kink, and one neuron per cluster.",
    formula=r"U_+ = a \sum_{I_+} \tilde x - \beta \sum_{I_-} \tilde x, \ a = \frac{d + k_-}{d (d + k)}, \ "
    r"\beta = \frac{k_+}{d (d + k)}; \qquad \lambda_q = (d + 1)^{-1/2}, \ S_q = \frac{1}{d + 1}",
    needs=("network", "data", "law"),
    parameters={"form": "pair or specialist"},
    example=lambda: replace(specialist_point(), parameters={"form": "specialist"}),
    control=lambda: replace(means_point(), parameters={"form": "specialist"}),
    control_shows="the pair is not the closed form with one neuron per cluster",
    control_outcome="violated",
    forms=Forms(
        sharp=r"\eta_{flip} = \frac{d + 1 + k_- (\rho - 1)}{(d + \rho)(1 + k_-)}",
        remark="The specialists flip at eta of about 1/(1 + k_-), the pair at 1/k: both are KKT points of the "
        "same data.",
    ),
)
def x_closed(instance: Instance) -> Findings:
    """(i) the pair with kinks on orthogonal means; (ii) one neuron per mean with inner products -rho."""
    form = instance.word("form", "pair", ("pair", "specialist"))
    neurons = Neurons.of(instance)
    s, data = neurons.sample.setting, instance.the_data()
    certificate = instance.certificate
    lam = certificate.multipliers
    n_plus, n_minus = int((s.y > 0).sum()), int((s.y < 0).sum())
    d, k = s.d, s.k
    conclusions: list[Check] = [is_kkt_point(instance)]
    eta = float(minimal_step(certificate.network, data.X, data.y, neurons.sample.u).all_at_once)
    if form == "pair":
        a = np.where(data.y > 0, d + n_minus, d + n_plus) / (d * (d + k))
        norm = np.sqrt(a * np.where(data.y > 0, n_plus, n_minus))
        beta = n_plus / (d * (d + k))
        phi = beta / math.sqrt((d + n_minus) / (d * (d + k)) * n_plus) / float((a / norm)[data.y < 0][0])
        pre = neurons.preactivations(data.X)
        kinks = np.abs(pre)[neurons.v[None, :] * data.y[:, None] < 0]
        weights = certificate.clarke[data.y < 0][:, neurons.positive]
        conclusions += [
            equal("lambda", lam, a / norm),
            at_most("inputs of the other class", kinks, 0.0, scale=neurons.input_scale().max()),
            equal("Clarke weight at the kinks", weights, phi, rtol=1e-8),
        ]
    else:
        rho = float(-s.gram[0, 1])
        flips = (d + 1 + n_minus * (rho - 1)) / ((d + rho) * (1 + n_minus))
        plus, minus = neurons.S
        conclusions += [
            equal("lambda", lam, (d + 1) ** -0.5),
            equal("S_q", np.where(s.y > 0, plus, minus), 1 / (d + 1)),
            equal("|v|", np.abs(neurons.v), (d + 1) ** -0.25),
            equal("smallest eta that flips all", eta, flips, note="(d+1+k_-(rho-1))/((d+rho)(1+k_-)), balanced labels"),
        ]
    return Findings(
        hypotheses=(at_most("sigma", s.sigma, 0.0), equal("n", data.n_samples, k), s.two_labels()),
        constants=(value("k times the smallest eta that flips all", k * eta),),
        claims=tuple(conclusions),
    )
