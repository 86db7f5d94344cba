r"""[KYS23, sec. 3 and 6] Open questions on the line, measured: KKT points, local minima, 1-NN, other laws."""

from functools import cache

import numpy as np

from marginflow.certificates import certify, minimality
from marginflow.data import Dataset
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.limit import five_points, line
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Check,
    Findings,
    Instance,
    above,
    at_least,
    below,
    equal,
    is_kkt_point,
    require,
    stated,
    value,
)
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.line import Bends, line_samples, on_the_line, symmetric_difference
from marginflow.theory.kys23.line_points import global_point, linearity_counterexample, spikes
from marginflow.theory.kys23.thm_3_1.a1 import label_changes
from marginflow.theory.kys23.thm_3_2.sandwich import lower_core


def _spread(instance: Instance, *, minima: bool) -> Findings:
    """The clean errors of those networks of an instance that are KKT points (or local minima)."""
    data = instance.the_data()

    def counts(network: TwoLayer) -> bool:
        certificate = certify(network, data)
        if is_kkt_point(certificate).state != "met":
            return False
        return not minima or minimality(network, data, certificate=certificate).verdict == "local minimum"

    share = float((data.y < 0).mean())
    hypotheses: tuple[Check, ...] = (*on_the_line(instance), above("samples labelled -1", share, 0.0))
    require(hypotheses, "", value("networks", len(instance.networks)))
    errors = [line_error(network).value for network in instance.networks if counts(network)]
    others = len(instance.networks) - len(errors)
    what = "local minima" if minima else "KKT points"
    hypotheses = (*hypotheses, at_least(f"certified {what}", len(errors), 1.0))
    require(hypotheses, "", value("networks that are none", others))
    x, y = line_samples(data)
    neighbour = nearest_neighbour_line_error(data.X, data.y).value
    return Findings(
        value("least L / share of -", min(errors) / share),
        value("largest L / share of -", max(errors) / share),
        value("least L / L of 1-NN", min(errors) / neighbour),
        value("least L - LO", min(errors) - lower_core(x, y), "negative where the core of Thm 3.2 fails"),
        value(what, len(errors)),
        value("networks that are none", others),
        hypotheses=hypotheses,
    )


def _with_minima(name: str, point: Instance, neurons: int) -> Instance:
    """A KKT point, the global optimum on its samples, and the local minima below four random starts."""
    data = point.the_data()
    below = (line.local_minimum(data, seed=start, neurons=neurons).network for start in range(4))
    return Instance(name=name, data=data, networks=(point.the_network(), line.max_margin(data).network, *below))


@cache
def _alternating_minima() -> Instance:
    """Five points at distances h, h, h and far: the mixed local minimum, the global one, those below random starts.

    With x_1 = h the mixed minimum errs on 2.5 h only, whatever the share of labels -1: the ratio has no lower bound
    over all samples, and the question is how typical such samples are.
    """
    mixed = at_point(five_points(first=0.01, spacing=0.01), "the mixed local minimum")
    return _with_minima("local minima on the five points", mixed, 6)


@cache
def _six_point_minima() -> Instance:
    """Six points with alternating labels: the minimum that bends, the global optimum, and those below random starts."""
    return _with_minima("KKT points on six points", linearity_counterexample(), 5)


@cache
def _no_kkt_points() -> Instance:
    point = spikes(12, 0.3, 1)
    return Instance(name="spikes, which are not KKT points", data=point.data, networks=(point.the_network(),))


@stated(
    id="KYS23/O2",
    number="Section 6",
    meaning="Between p^5 and sqrt(p): how small and how large is L / p over the KKT points of one sample?",
    formula=r"\min_\theta \frac{L_{\mathrm{cl}}(N_\theta)}{p}, \quad \max_\theta \frac{L_{\mathrm{cl}}(N_\theta)}{p} "
    r"\quad \text{over KKT points}",
    needs=("networks", "data"),
    example=_six_point_minima,
    control=_no_kkt_points,
    control_shows="networks that interpolate without being KKT points are not counted",
)
def o2(instance: Instance) -> Findings:
    """Clean errors over the KKT points among the given networks."""
    return _spread(instance, minima=False)


@stated(
    id="KYS23/O3",
    number="Theorem 3.2",
    meaning="Does Theorem 3.2 survive the failure of Prop. A.4? The least L / p over certified local minima.",
    formula=r"\min_\theta \frac{L_{\mathrm{cl}}(N_\theta)}{p} \quad \text{over local minima}",
    needs=("networks", "data"),
    example=_alternating_minima,
    control=_no_kkt_points,
    control_shows="networks that interpolate without being local minima are not counted",
)
def o3(instance: Instance) -> Findings:
    """Clean errors over the certified local minima among the given networks."""
    return _spread(instance, minima=True)


@stated(
    id="KYS23/O4",
    number="Footnote 4",
    meaning="Has the global max-margin network on the line always the sign of 1-nearest neighbour?",
    formula=r"\mathrm{sign}\, N_{\theta^*}(x) = \mathrm{sign}\, \mathrm{1NN}(x) \quad \forall x \in [0, 1] \; ?",
    needs=("parameters",),
    parameters={
        "m": "points in a sample (default 12)",
        "p": "noise rate (default 0.3)",
        "samples": "samples to count over (default 6)",
    },
    example=lambda: Instance(name="six samples of twelve points", parameters={"m": 12, "p": 0.3, "samples": 6}),
    control=lambda: Instance(name="no samples", parameters={"m": 12, "p": 0.3, "samples": 0}),
    control_shows="no sample, no measurement",
)
def o4(instance: Instance) -> Findings:
    """Global optima of this many samples against 1-nearest neighbour."""
    m, p, samples = instance.whole("m", 12), instance.number("p", 0.3), instance.whole("samples", 6)
    hypotheses: tuple[Check, ...] = (
        at_least("m", m, 1.0),
        at_least("samples asked for", samples, 1.0),
        above("p", p, 0.0),
        below("p < 1", p, 1.0),
    )
    require(hypotheses, "", value("samples", samples))
    distances, spare = [], 0
    for seed in range(instance.seed, instance.seed + samples):
        point = global_point(m, p, seed)
        data = point.the_data()
        neighbour = nearest_neighbour_line_error(data.X, data.y)
        distances.append(symmetric_difference(line_error(point.the_network()).intervals, neighbour.intervals))
        x, y = line_samples(data)
        kinks = Bends.of(point.the_network()).inside(float(x[0]), float(x[-1])).size
        spare += kinks > max(label_changes(y) - 1, 0)
    return Findings(
        value("samples", samples),
        value("samples on which the signs agree to 1e-9", sum(d <= 1e-9 for d in distances)),
        value("largest length on which they differ", max(distances)),
        value("samples with more kinks than label changes less one", spare, "a kink between neighbouring zeros"),
        hypotheses=hypotheses,
    )


def target_error(network: TwoLayer, edge: float) -> float:
    """P(sign N(x) != f*(x)) for the target that is +1 up to `edge` and -1 behind it, x uniform on [0, 1]."""
    wrong = edge * line_error(network, interval=(0.0, edge)).value if edge > 0 else 0.0
    if edge < 1:
        negated = TwoLayer(W=network.W, b=network.b, v=-network.v)
        wrong += (1 - edge) * line_error(negated, interval=(edge, 1.0)).value
    return wrong


@cache
def _step_sample() -> Instance:
    """x = U^1.5 (a density that is not uniform), labels of a step at 0.5 with noise 0.2; the global optimum."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(20) ** 1.5)
    y = np.where(x <= 0.5, 1.0, -1.0) * np.where(rng.random(20) < 0.2, -1.0, 1.0)
    limit = line.max_margin(Dataset(X=x[:, None], y=y))
    return Instance(
        name="the global optimum on 20 points of density ~ x^(1/1.5 - 1), a step at 0.5",
        network=limit.network,
        data=limit.data,
        parameters={"edge": 0.5},
    )


@stated(
    id="KYS23/O8",
    number="Section 3",
    meaning="Beyond the paper: a target that changes sign, and points that are not uniform.",
    formula=r"f^*(x) = \mathrm{sign}(e - x), \qquad x = U^a: \qquad L_{\mathrm{cl}} / p \; ?",
    parameters={"edge": "where the target changes from +1 to -1 (default 0.5)"},
    example=_step_sample,
    control=lambda: _step_sample().but(name="an edge outside of [0, 1]", parameters={"edge": 1.5}),
    control_shows="the target changes outside of the interval",
)
def o8(instance: Instance) -> Findings:
    """The global optimum on given samples, judged against a step target and against its own nearest neighbours."""
    data, network = instance.the_data(), instance.the_network()
    edge = instance.number("edge", 0.5)
    hypotheses: tuple[Check, ...] = (
        *on_the_line(instance),
        equal("dimension of the network", network.dimension, 1.0),
        at_least("edge", edge, 0.0),
        at_least("1 - edge", 1.0 - edge, 0.0),
    )
    require(hypotheses, "", value("edge", edge))
    clean = np.where(data.X[:, 0] <= edge, 1.0, -1.0)
    rate = float((data.y != clean).mean())
    error = target_error(network, edge)
    neighbour = nearest_neighbour_line_error(data.X, data.y).intervals
    apart = symmetric_difference(line_error(network).intervals, neighbour)
    return Findings(
        value("L against the step target", error),
        value("realised noise rate", rate),
        value("L / noise rate", error / rate if rate > 0 else float("nan")),
        value("length on which the sign differs from 1-NN", apart),
        hypotheses=hypotheses,
    )
