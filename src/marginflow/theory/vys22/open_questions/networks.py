"""Probes about the network: depth (OQ2), optimisers (OQ3), tight constant (OQ7), lazy nets (OQ8), uniqueness (OQ9)."""

from functools import cache

import numpy as np
from scipy.optimize import brentq

from marginflow.certificates import certify, certify_deep, training_floor
from marginflow.data import Sphere
from marginflow.limit import kkt_point, orthogonal
from marginflow.networks import MLP, TwoLayer
from marginflow.robustness.explicit_vectors import vys22_vector
from marginflow.theory.frame import Check, Findings, Instance, above, at_most, is_kkt_point, require, stated, value
from marginflow.theory.recorded import deep_run, flow_run, recipe_run, trained_by, unfinished_run
from marginflow.theory.vys22.presets import gram_preset, orthogonal_preset
from marginflow.theory.vys22.remarks import several_networks, with_a_robust_network
from marginflow.theory.vys22.setting import Setting


def flip_along(network: MLP | TwoLayer, setting: Setting) -> float:
    """Size at which the last sample flips along u, by bracketing and bisection; for networks of any depth."""
    direction = setting.u / setting.u_norm

    def worst(t: float) -> float:
        return float((setting.y * network(setting.X - t * setting.y[:, None] * direction)).max())

    top = 1.0
    while worst(top) > 0 and top < 1e3:
        top *= 1.5
    return float(brentq(worst, 0.0, top)) if worst(top) <= 0 else np.inf


@stated(
    id="VYS22/OQ2",
    number="Section 7, second open question",
    meaning="Are deeper trained networks flipped by the same direction u, and at what size?",
    formula=r"N_L(x) = W_L \sigma(W_{L-1} \cdots \sigma(W_1 x + b_1)), \quad L > 2",
    needs=("run", "data"),
    example=deep_run,
    control=lambda: unfinished_run(1),
    control_shows="the run has not fitted the samples",
)
def depth(instance: Instance) -> Findings:
    """The flip along u of a trained network of any depth."""
    run, data = instance.the_run(), instance.the_data()
    setting = Setting.of(data)
    network = run.network
    margins = network.margins(data.X, data.y)
    fitted = above("smallest margin", float(margins.min()), 0.0)
    require(fitted, "", value("smallest margin", float(margins.min())))
    depth = len(network.weights) if isinstance(network, MLP) else 2
    total = certify_deep(network, data).total if isinstance(network, MLP) else certify(network, data).total
    return Findings(
        value("depth", depth),
        value("KKT residual, relu'(0) = 0", total),
        value("flip along u", flip_along(network, setting)),
        value("sqrt(d/m)", float(np.sqrt(setting.d / setting.m)), "the flip at depth 2, orthogonal samples"),
        value("sqrt(d)", float(np.sqrt(setting.d))),
        hypotheses=(fitted,),
    )


@stated(
    id="VYS22/OQ3",
    number="Section 7, last open question",
    meaning="Do other optimisers lead to networks that are more robust along u?",
    formula=r"\theta_{t+1} = \theta_t - \eta\, \mathrm{rule}(\nabla L(\theta_t))",
    needs=("networks", "data"),
    example=lambda: flow_run().only(
        "data",
        name="networks trained by gradient, momentum, sign and Adam steps, in this order",
        networks=tuple(trained_by(name) for name in ("gradient", "momentum", "sign", "adam")),
    ),
    control=lambda: flow_run().only("data", name="a network before training", networks=(flow_run().the_start(),)),
    control_shows="an untrained network does not separate the samples",
)
def optimisers(instance: Instance) -> Findings:
    """The flip along u of one network per optimiser, beside the KKT residual of each."""
    data = instance.the_data()
    setting = Setting.of(data)
    least = [float(network.margins(data.X, data.y).min()) for network in instance.networks]
    fitted = above("smallest margin of any network", min(least), 0.0)
    measured: list[Check] = [value("sqrt(d/m)", float(np.sqrt(setting.d / setting.m)))]
    for index, network in enumerate(instance.networks):
        if least[index] > 0:
            residual = certify(network, data, hard_patterns=False).total
            note = f"KKT residual {residual:.3g}"
            measured.append(value(f"flip along u, network {index + 1}", flip_along(network, setting), note))
    return Findings(hypotheses=(fitted,), constants=tuple(measured))


@stated(
    id="VYS22/OQ7",
    number="Theorem 4.1, its constant",
    meaning="How far is the printed z from the smallest one, over several KKT points?",
    formula=r"\max_\theta \frac{\|z_{\mathrm{exact}}(\theta)\|}{\|z_{\mathrm{printed}}\|}",
    needs=("networks", "data"),
    example=several_networks,
    control=with_a_robust_network,
    control_shows="one of the networks is not a KKT point",
)
def tight_constant(instance: Instance) -> Findings:
    """The exact flip along u at several KKT points, against the printed and the sharp length."""
    data = instance.the_data()
    setting = Setting.of(data)
    judged = [certify(network, data, hard_patterns=False) for network in instance.networks]
    kkt = is_kkt_point(judged, "KKT residuals")
    hypotheses = require((*setting.hypotheses(), kkt), "", value("p", setting.p), given=setting.defines_z)
    sizes = [setting.shortest_flip(certificate.network) for certificate in judged]
    printed = vys22_vector(setting.X, setting.y, ambient_dimension=setting.d).size
    sharp = vys22_vector(setting.X, setting.y, form="sharp", ambient_dimension=setting.d).size
    return Findings(
        value("largest exact flip / printed ||z||", max(sizes) / printed),
        value("largest exact flip / sharp ||z||", max(sizes) / sharp),
        value("spread of the exact flip over the KKT points", max(sizes) / min(sizes) - 1),
        value("largest exact flip", max(sizes)),
        value("printed ||z||", printed),
        hypotheses=hypotheses,
    )


@stated(
    id="VYS22/OQ8",
    number="Section 6, default initialisation",
    meaning="Lazy networks far from any KKT point are flipped along u as well: how far are they, and at what size?",
    formula=r"\frac{\|\theta_0\|}{\|\theta_T\|}, \quad \text{KKT residual}, \quad \|z_{\mathrm{exact}}\|",
    example=recipe_run,
    control=lambda: flow_run().only("data", name="a network before training", network=flow_run().start),
    control_shows="an untrained network does not separate the samples",
)
def lazy(instance: Instance) -> Findings:
    """How far a network from a large start is from a KKT point, and that it flips along u all the same."""
    data = instance.the_data()
    setting = Setting.of(data)
    network, certificate = instance.the_network(), instance.certificate
    fitted = above("smallest margin", float(network.margins(data.X, data.y).min()), 0.0)
    start = instance.start
    share = np.nan if start is None else float(np.sqrt(start.norm_squared() / network.norm_squared()))
    return Findings(
        value("KKT residual", certificate.total),
        value("floor of the residual", np.nan if start is None else training_floor(start, network, data)),
        value("||theta_0|| / ||theta_T||", share),
        value("flip along u", flip_along(network, setting) if fitted.state == "met" else np.inf),
        value("sqrt(d/m)", float(np.sqrt(setting.d / setting.m))),
        value("max q - min q at margin 1", float(certificate.margins.max() - certificate.margins.min())),
        hypotheses=(fitted,),
    )


@cache
def _five_starts() -> Instance:
    data = orthogonal_preset().the_data()
    networks = tuple(kkt_point(data, width=12, seed=seed).network for seed in range(5))
    return Instance(name="KKT points from five starts on the orthogonal preset", data=data, networks=networks)


@stated(
    id="VYS22/OQ9",
    number="X.orthKKT",
    meaning="On orthogonal samples, do KKT points found from different starts all equal the closed form?",
    formula=r"p = 0: \quad N_\theta = N_{\mathrm{closed\ form}} \text{ for all KKT points found}",
    needs=("networks", "data"),
    example=_five_starts,
    control=lambda: gram_preset().only("data", name="samples with p = 2", networks=(gram_preset().the_network(),)),
    control_shows="the samples are not orthogonal",
)
def unique(instance: Instance) -> Findings:
    """KKT points found from several starts, compared as functions with the closed form."""
    setting = Setting.of(instance.the_data())
    flat = require(at_most("p", setting.p, 0.0), "", value("p", setting.p))
    truth = orthogonal(instance.the_data()).network
    points = np.vstack([setting.X, Sphere(dimension=setting.d).sample(200, seed=1).X])
    expected = truth(points)
    apart = [float(np.abs(network(points) - expected).max()) for network in instance.networks]
    norms = [certify(network, instance.the_data(), hard_patterns=False).norm_squared for network in instance.networks]
    return Findings(
        value("KKT points compared", len(apart)),
        value("largest difference from the closed form", max(apart), "on the samples and 200 random points"),
        value("||theta||^2 of the closed form", truth.norm_squared()),
        value("largest ||theta||^2 found", max(norms)),
        hypotheses=flat,
    )
