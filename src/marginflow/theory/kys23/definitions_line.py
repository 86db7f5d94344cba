r"""[KYS23, sec. 2 and 3] Data on the line, the network, the clean error and the assumption that it interpolates."""

import math
from typing import Final, Literal

import numpy as np
from scipy import special

from marginflow.arrays import FloatArray
from marginflow.data import Dataset, Interval
from marginflow.errors import InputError
from marginflow.generalisation import line_error, overfitting_profile, sampled_error
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    below,
    equal,
    require,
    stated,
    true,
    value,
)
from marginflow.theory.kys23.line_points import global_point

_LEVEL: Final = 1e-4
"""Level of the tests of a law: a true one is rejected once in ten thousand samples."""


def distance_to_law(cdf: FloatArray) -> float:
    """The Kolmogorov-Smirnov statistic of sorted values from a law whose distribution function is this at them."""
    steps = np.arange(cdf.size + 1) / cdf.size
    return float(max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max()))


def _sampled(design: Literal["uniform", "jittered"]) -> Instance:
    law = Interval(p=0.2, design=design)
    return Instance(name=f"200 {design} points, p = 0.2", data=law.sample(200, seed=0), law=law, parameters={"p": 0.2})


@stated(
    id="KYS23/Set.1D",
    number="Section 3",
    meaning="Independent uniform points on [0, 1], target +1, labels -1 with probability p independently of x.",
    formula=r"x_i \sim \mathrm{Unif}[0, 1], \qquad \Pr[y_i = -1] = p, \qquad f^*(x) = 1",
    needs=("data", "parameters"),
    parameters={"p": "noise rate"},
    example=lambda: _sampled("uniform"),
    control=lambda: _sampled("jittered"),
    control_shows="a jittered grid has uniform points on average, but no small spacings",
)
def set_1d(instance: Instance) -> Findings:
    """Points uniform, spacings Beta(1, m), labels Bin(m, p), target +1 everywhere."""
    data = instance.the_data()
    p = instance.number("p")
    hypotheses = (
        equal("dimension d", data.dimension, 1.0),
        at_least("p", p, 0.0),
        below("p < 1/2", p, 0.5),
        at_least("m >= 2", data.n_samples, 2.0),
    )
    require(hypotheses, "the setting is on a line with p < 1/2")
    m = data.n_samples
    x = np.sort(data.X[:, 0])
    spacings = np.sort(np.diff(x, prepend=0.0, append=1.0))
    inside = bool(x[0] >= 0 and x[-1] <= 1)
    points = distance_to_law(np.clip(x, 0.0, 1.0))
    gaps = distance_to_law(-np.expm1(m * np.log1p(-np.clip(spacings, 0.0, 1.0 - 1e-16))))
    k = int((data.y < 0).sum())
    lower, upper = float(special.bdtr(k, m, p)), float(special.bdtrc(k - 1, m, p)) if k else 1.0
    target = data.clean_labels
    return Findings(
        value("m", m),
        value("|I_-|", k),
        value("realised noise rate", k / m, "fluctuates by sqrt(p(1-p)/m); plots need it beside p"),
        hypotheses=hypotheses,
        claims=(
            true("x_i in [0, 1]", inside),
            at_least("x uniform: P(a larger KS distance)", float(special.kolmogorov(points * math.sqrt(m))), _LEVEL),
            at_least(
                "spacings Beta(1, m): P(a larger KS distance)",
                float(special.kolmogorov(gaps * math.sqrt(m + 1))),
                _LEVEL,
                note="spacings depend on one another a little, which makes the test careful",
            ),
            at_least("|I_-| ~ Bin(m, p): the smaller tail", min(lower, upper), _LEVEL),
            true("f*(x) = +1 everywhere", target is None or bool((target > 0).all())),
        ),
    )


@stated(
    id="KYS23/Def.Net",
    number="Section 2",
    meaning="Two layers with hidden biases and no output bias: 2-homogeneous, or 1-homogeneous with frozen outputs.",
    formula=r"N_\theta(x) = \sum_{j=1}^n v_j \, \sigma(w_j \cdot x + b_j), \qquad N_{c\theta} = c^2 N_\theta",
    parameters={"output_bias": "a constant added to N, which the paper does not have (default 0)"},
    example=lambda: global_point(20, 0.3, 5),
    control=lambda: global_point(20, 0.3, 5).only(
        "network", "data", name="with an output bias", parameters={"output_bias": 0.5}
    ),
    control_shows="an output bias, which torch adds by default, breaks homogeneity and with it Theorem 2.1",
)
def def_net(instance: Instance) -> Findings:
    """The sum over neurons written out, and its degree of homogeneity, with an output bias if one is asked for."""
    network, data = instance.the_network(), instance.the_data()
    offset = instance.number("output_bias", 0.0)
    c = 1.7

    def literal(net: TwoLayer, extra: float) -> FloatArray:
        biases = np.zeros(net.width) if net.b is None else net.b
        terms = [v * np.maximum(data.X @ w + b, 0.0) for w, b, v in zip(net.W, biases, net.v, strict=True)]
        return np.asarray(np.sum(terms, axis=0) + extra)

    scaled = literal(network.scaled(c), c * offset)
    plain = literal(network, offset)
    scale = float(np.abs(network.v) @ np.maximum(network.preactivations(data.X), 0.0).max(axis=0)) + abs(offset)
    return Findings(
        value("width n", network.width),
        value("parameters (d + 2) n", network.W.size + network.v.size + (0 if network.b is None else network.width)),
        value("degree", network.degree),
        claims=(
            equal("N(x) = sum_j v_j relu(w_j . x + b_j)", network(data.X) + offset, plain, scale=scale),
            equal("N(c theta) = c^degree N(theta)", scaled, c**network.degree * plain, scale=scale),
        ),
    )


@stated(
    id="KYS23/Def.Lcl",
    number="Section 2",
    meaning="The clean test error is the length of the set where N is not positive; ties count as errors.",
    formula=r"L_{\mathrm{cl}}(N_\theta) = \Pr_x[N_\theta(x) \le 0]",
    needs=("network",),
    parameters={"grid": "report the share of errors on a grid of this many points instead (default 0: exact)"},
    example=lambda: global_point(20, 0.3, 5),
    control=lambda: global_point(20, 0.3, 5).only("network", name="a grid of 100 points", parameters={"grid": 100}),
    control_shows="a grid of 100 points misses the ends of the intervals of error",
    printed=r"\Pr_x[N_\theta(x) \le 0]",
    proved=r"\Pr_x[N_\theta(x) < 0]",
    remark="The definition counts ties as errors, the proofs of Section 3 and of Prop. 4.6 do not; they differ "
    "only by pieces on which N is zero.",
)
def def_lcl(instance: Instance) -> Findings:
    """Exact lengths against sampling; scale, splitting and the two conventions for ties."""
    network = instance.the_network()
    points = instance.whole("grid", 0)
    hypotheses = require((equal("dimension d", network.dimension, 1.0),), "lengths of intervals need a line")
    exact, strict = line_error(network), line_error(network, ties="correct")
    reported = exact.value
    if points:
        grid = (np.arange(points) + 0.5) / points
        reported = float((network(grid[:, None]) <= 0).mean())
    counted = sampled_error(network, Interval(p=0.0), 20_000, seed=instance.seed, confidence=0.999999)
    lengths = np.diff(exact.intervals, axis=1)[:, 0]
    return Findings(
        value("intervals of error", len(lengths)),
        value("shortest of them", float(lengths.min(initial=1.0))),
        value("length of N = 0", exact.value - strict.value),
        hypotheses=hypotheses,
        claims=(
            equal("L_cl, reported against exact", reported, exact.value, scale=1e-3),
            at_least("sampled interval, upper end", counted.upper, exact.value),
            at_most("sampled interval, lower end", counted.lower, exact.value),
            at_most("P(N < 0) <= P(N <= 0)", strict.value, exact.value),
            equal("L_cl of 3 theta", line_error(network.scaled(3.0)).value, exact.value, scale=1.0),
        ),
    )


def _flipped() -> Instance:
    point = global_point(20, 0.3, 5)
    data = point.the_data()
    flipped = Dataset(X=data.X, y=np.append(-data.y[:1], data.y[1:]))
    return point.only("network", name="one label flipped", data=flipped)


@stated(
    id="KYS23/Asm.Interp",
    number="Section 2",
    meaning="The network classifies every training sample correctly, noisy labels included.",
    formula=r"y_i N_\theta(x_i) > 0 \quad \forall i \in [m]",
    example=lambda: global_point(20, 0.3, 5),
    control=_flipped,
    control_shows="one label is not the one that the network was made for",
)
def asm_interp(instance: Instance) -> Findings:
    """All margins, each beyond the rounding of its own terms."""
    network, data = instance.the_network(), instance.the_data()
    margins = network.margins(data.X, data.y)
    # rounding of a value is about an ulp of the sum of its terms; below that a positive margin is not one
    sizes = np.maximum(network.preactivations(data.X), 0.0) @ np.abs(network.v)
    return Findings(
        value("least margin", float(margins.min())),
        value("largest sum of terms", float(sizes.max())),
        claims=(above("y_i N(x_i)", margins, 0.0, tolerance=network.width * 2.0**-52, scale=sizes),),
    )


def _numbers(instance: Instance, name: str) -> list[float]:
    given = instance.parameters.get(name)
    if not isinstance(given, tuple | list) or not given:
        raise InputError(f"The parameter {name} is {given!r}; a list of numbers is expected.")
    return [float(entry) for entry in given]


def _table(name: str, *, benign: float | None = None) -> Instance:
    """The exact expectation of 1-nearest neighbour is p at every size; three runs around it, or none that errs."""
    rows = [
        (p, 0.0 if p == benign else p + e, m)
        for m in (50, 100, 200, 400)
        for p in (0.1, 0.2, 0.3)
        for e in (-0.004, 0.0, 0.004)
    ]
    noise, errors, sizes = zip(*rows, strict=True)
    return Instance(name=name, parameters={"noise": noise, "errors": errors, "sizes": sizes})


@stated(
    id="KYS23/Def.Regimes",
    number="Section 1",
    meaning="Benign, tempered or catastrophic: the error tends to 0, to a limit in between, or to 1/2.",
    formula=r"L_{\mathrm{cl}} \to 0, \qquad L_{\mathrm{cl}} \to \ell \in (0, \tfrac12), \qquad "
    r"L_{\mathrm{cl}} \to \tfrac12",
    needs=("parameters",),
    parameters={
        "noise": "noise rates p, one per run",
        "errors": "clean errors, one per run",
        "sizes": "numbers of samples or dimensions, one per run",
    },
    example=lambda: _table("errors p +- 0.004 at four sizes, as of 1-NN"),
    control=lambda: _table("no errors at p = 0.1, p +- 0.004 at 0.2 and 0.3", benign=0.1),
    control_shows="at p = 0.1 the errors vanish, at p = 0.2 and 0.3 they stay: no one regime",
    remark="The definition is asymptotic; what is judged is the error that a line in ln(size) gives at ten times "
    "the largest size, against 0.1 p and 0.45.",
)
def def_regimes(instance: Instance) -> Findings:
    """The verdict that a table of errors suggests; it needs two sizes, for the definitions are limits."""
    noise, errors, sizes = (_numbers(instance, name) for name in ("noise", "errors", "sizes"))
    profile = overfitting_profile(noise, errors, sizes)
    hypotheses = (
        at_least("sizes, of which a limit needs two", len(set(sizes)), 2.0),
        at_least("noise rates in (0, 1/2) seen at two sizes", len(profile.trends), 1.0),
    )
    require(hypotheses, "regimes are limits as m or d grows; one size says nothing")
    fits = [profile.fits[size] for size in sorted(profile.fits)]
    ends = [(trend.lower, trend.upper) for trend in profile.trends]
    return Findings(
        *(value("slope of L against p at the largest size", fit.slope) for fit in fits[-1:]),
        value("least error expected at ten times the size", min(low for low, _ in ends)),
        value("largest error expected at ten times the size", max(high for _, high in ends)),
        value("trends that are not decided", sum(t.verdict == "undecided" for t in profile.trends)),
        hypotheses=hypotheses,
        claims=(
            true(
                "all decided trends agree on one regime",
                profile.verdict in ("benign", "tempered", "catastrophic"),
                note=f"{profile.verdict}: {profile.evidence}",
            ),
        ),
    )
