"""[VYS22, Section 2] Definitions: the network, the sign of zero, homogeneity, robustness."""

from dataclasses import replace

import numpy as np

from marginflow.robustness import label_sum, minimal_step
from marginflow.robustness.baselines import nearest_opposite_distance
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.robustness.rays import steps_along
from marginflow.theory.frame import Check, Findings, Instance, above, at_least, equal, require, stated, true, value
from marginflow.theory.instances import changed
from marginflow.theory.vys22.presets import frozen_orthogonal, one_signed, orthogonal_preset, robust_control


@stated(
    id="VYS22/Def.net",
    number="Section 2, Neural networks",
    meaning="A two-layer ReLU network with hidden biases, no output bias; both labels need both signs of v.",
    formula=r"N_\theta(x) = \sum_{j \in [k]} v_j\, \sigma(w_j^\top x + b_j), \qquad \sigma(z) = \max\{0, z\}",
    example=orthogonal_preset,
    control=one_signed,
    control_shows="without a negative output no negative label is fitted",
)
def def_net(instance: Instance) -> Findings:
    """The definition in plain loops against the library's evaluation; both signs of v where both labels occur."""
    network, data = instance.the_network(), instance.the_data()
    few = data.X[:5]
    by_hand = [
        sum(
            float(v) * max(0.0, float(w @ x) + (0.0 if network.b is None else float(network.b[j])))
            for j, (v, w) in enumerate(zip(network.v, network.W, strict=True))
        )
        for x in few
    ]
    return Findings(
        value("width k", network.width),
        value("dimension d", network.dimension),
        value("neurons in J+", float((network.v >= 0).sum()), "v_j = 0 belongs to J+"),
        hypotheses=(true("both labels occur", bool((data.y > 0).any() and (data.y < 0).any())),),
        claims=(
            equal("N(x), by the definition", network(few), by_hand, scale=1.0, tolerance=1e-12),
            above("number of neurons with v_j > 0", float((network.v > 0).sum()), 0.0),
            above("number of neurons in J-", float((network.v < 0).sum()), 0.0),
        ),
    )


@stated(
    id="VYS22/Def.sign",
    number="Section 2, Notations",
    meaning="Zero counts as positive: a positive sample flips only below 0, a negative one already at 0.",
    formula=r"\mathrm{sign}(z) = 1(z \ge 0)",
    example=robust_control,
    control=lambda: changed(
        robust_control(),
        "the robust network with a sign reversed",
        lambda network: replace(network, v=network.v * np.where(np.arange(network.width) == 0, -1.0, 1.0)),
    ),
    control_shows="a sample whose neuron has the wrong sign is not labelled as it should be",
)
def def_sign(instance: Instance) -> Findings:
    """What sign(0) = 1 means: walk each sample to where its own neuron has died and N is exactly zero."""
    network, data = instance.the_network(), instance.the_data()
    norms = np.linalg.norm(data.X, axis=1, keepdims=True)
    long = above("smallest norm of a sample", float(norms.min()), 0.0)
    require(long, "no ray from the origin", given=bool(norms.all()))
    radial = -data.X / norms
    # Along its own ray a sample of the robust network reaches a flat zero: who counts as flipped there?
    positive = steps_along(network, data.X, data.y, radial, at_zero="positive")
    both = steps_along(network, data.X, data.y, radial, at_zero="flips")
    touched = np.isfinite(both.first)
    plus = touched & (data.y > 0)
    minus = touched & (data.y < 0)
    later = positive.first[plus] > both.first[plus]
    return Findings(
        hypotheses=(true("N reaches zero on the ray to the origin for both labels", bool(plus.any() and minus.any())),),
        claims=(
            equal("sign(N(x_i)) against the label", (network(data.X) >= 0).astype(float), (data.y > 0).astype(float)),
            at_least("positive samples flip later than N = 0", positive.first[plus], both.first[plus]),
            equal("negative samples flip at N = 0", positive.first[minus], both.first[minus]),
        ),
        derived=(above("positive samples still flipped where N = 0", later.mean() if later.size else np.nan, 0.0),),
    )


@stated(
    id="VYS22/Def.homog",
    number="Section 2, Neural networks",
    meaning="The network is homogeneous of degree 2 in its parameters; signs and radii depend on direction only.",
    formula=r"N_{\alpha\theta}(x) = \alpha^2 N_\theta(x), \quad \alpha > 0",
    example=orthogonal_preset,
    control=frozen_orthogonal,
    control_shows="with frozen outputs the degree is 1",
)
def def_homog(instance: Instance) -> Findings:
    """N(a theta) = a^2 N(theta) for three factors, and flip steps that do not depend on the factor."""
    network, data = instance.the_network(), instance.the_data()
    before = network(data.X)
    size = np.maximum(network.preactivations(data.X), 0.0) @ np.abs(network.v)
    u = label_sum(data.X, data.y)
    scaled = {a: network.scaled(a) for a in (0.5, 2.0, 7.0)}
    checks = [
        equal(f"N(a theta) at a = {a:g}", moved(data.X), a**2 * before, scale=a**2 * size, tolerance=1e-12)
        for a, moved in scaled.items()
    ]
    if u.any():
        steps = minimal_step(network, data.X, data.y, u).first
        again = minimal_step(scaled[7.0], data.X, data.y, u).first
        checks.append(equal("flip steps along u at a = 7", again, steps))
    return Findings(value("degree", network.degree), claims=tuple(checks))


@stated(
    id="VYS22/Def.robust",
    number="Section 2, Robustness",
    meaning="No perturbation smaller than the given radius changes the sign at any sample.",
    formula=r"\|x' - x_i\| < R \implies \mathrm{sign}(N_\theta(x')) = \mathrm{sign}(N_\theta(x_i))",
    parameters={"radius": "R; by default sqrt(d)/4"},
    example=robust_control,
    control=orthogonal_preset,
    control_shows="at the KKT point a step of sqrt(d/m) along u flips every sample",
    printed=r"\text{for every } r = o(R(d))",
    proved=r"\|x' - x_i\| < R",
    remark="The printed definition is asymptotic in d and cannot be decided at one d; a radius is a number.",
)
def def_robust(instance: Instance) -> Findings:
    """Every sample's radius lies between a certified bound and the first flip along u or towards the origin."""
    network, data = instance.the_network(), instance.the_data()
    d = data.full_dimension
    R = instance.number("radius", 0.25 * float(np.sqrt(d)))
    two = true("both labels occur", bool((data.y > 0).any() and (data.y < 0).any()), "otherwise there is no boundary")
    require(two, "no boundary")
    lower = interval_bound(network, data.X, data.y).radii
    u = label_sum(data.X, data.y)
    upper = np.full(data.n_samples, np.inf)
    if u.any():
        upper = np.minimum(upper, minimal_step(network, data.X, data.y, u).sizes)
    if data.X.any(axis=1).all():
        upper = np.minimum(upper, steps_along(network, data.X, data.y, -data.X).sizes)
    low, high = float(lower.min()), float(upper.min())
    opposite = nearest_opposite_distance(data.X, data.y, data.X, data.y)
    check = Check(
        "smallest radius of a sample",
        low,
        ">=",
        R,
        tolerance=1e-9 * R,
        interval=(low, max(low, high)),
        note="between a bound by intervals and a flip that was found",
    )
    return Findings(
        value("radius asked for", R),
        value("sqrt(d)", float(np.sqrt(d))),
        value("distance to the nearest sample of the other label", float(opposite.min()), "no radius is larger"),
        hypotheses=(two,),
        claims=(check,),
    )
