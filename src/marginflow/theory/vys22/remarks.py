r"""[VYS22, Sections 2 and 4] Remarks: width 2 suffices, properties of z, samples of unequal norm, sqrt(d) is best."""

from functools import cache

import numpy as np

from marginflow.certificates import DEFAULT_TOLERANCE, certify
from marginflow.data import Dataset
from marginflow.limit import kkt_point, orthogonal
from marginflow.losses import Logistic
from marginflow.networks import TwoLayer
from marginflow.robustness.explicit_vectors import vys22_vector
from marginflow.robustness.rays import steps_along
from marginflow.theory.frame import (
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    equal,
    is_kkt_point,
    require,
    stated,
    true,
    value,
)
from marginflow.theory.instances import at_point
from marginflow.theory.vys22.presets import gram_preset, orthogonal_preset, random_samples, robust_control
from marginflow.theory.vys22.setting import Setting


@stated(
    id="VYS22/Rem.width2",
    number="Section 4, after Example 1",
    meaning="Under the bound on m the data are fitted by a network of width 2.",
    formula=r"w = X^\top G^{-1} y, \quad N(x) = \sigma(w^\top x) - \sigma(-w^\top x) = w^\top x, \quad y_i N(x_i) = 1",
    needs=("data",),
    example=lambda: Instance(name="10 samples with p = 2 in dimension 100", data=gram_preset().data),
    control=lambda: random_samples(60, 20),
    control_shows="three times as many samples as dimensions are not interpolated by a linear function",
)
def width_2(instance: Instance) -> Findings:
    """w = X^T G^{-1} y, N(x) = relu(w . x) - relu(-w . x) = w . x."""
    data = instance.the_data()
    setting = Setting.of(data)
    least = float(np.linalg.eigvalsh(setting.gram)[0])
    w = np.linalg.lstsq(setting.X, setting.y, rcond=None)[0]
    network = TwoLayer(W=np.vstack([w, -w]), b=np.zeros(2), v=np.array([1.0, -1.0]))
    margins = network.margins(setting.X, setting.y)
    residual = certify(network, data, hard_patterns=False).stationarity if margins.min() > 0 else np.inf
    return Findings(
        value("KKT stationarity of this network", residual, "not a KKT point in general"),
        hypotheses=(
            setting.few_samples(),
            above("smallest eigenvalue of the Gram matrix", least, 0.0, scale=setting.d),
        ),
        claims=(
            equal("margins of a network of width 2", margins, 1.0, tolerance=1e-10),
            at_most("m against d", setting.m, setting.d),
        ),
    )


@cache
def several_networks() -> Instance:
    """KKT points on the same samples: the closed form at width 2 and 200, and found from other starts and losses."""
    point = orthogonal_preset()
    data = point.the_data()
    found = [
        kkt_point(data, width=20, seed=0).network,
        kkt_point(data, width=20, seed=1).network,
        kkt_point(data, width=10, seed=2, loss=Logistic()).network,
    ]
    wide = point.the_network().widened(200)
    name = "five KKT points of widths 2 to 200 on one data set"
    return point.only("data", name=name, networks=(point.the_network(), wide, *found))


def with_a_robust_network() -> Instance:
    """A KKT point, and the robust network of Theorem 3.1, which is none."""
    point = orthogonal_preset()
    networks = (point.the_network(), robust_control().the_network())
    return point.only("data", name="a KKT point and the robust network", networks=networks)


@stated(
    id="VYS22/Rem.props",
    number="Section 4, properties of Theorem 4.1",
    meaning="One z, known from the data alone, flips every sample in every KKT network, of any width and any start.",
    formula=r"y_i N_\theta(x_i - y_i z) \le -1 \quad \text{for all } i \text{ and all KKT points } \theta",
    needs=("networks", "data"),
    example=several_networks,
    control=with_a_robust_network,
    control_shows="a network that is not a KKT point keeps its signs",
)
def properties(instance: Instance) -> Findings:
    """One z, computed from the data, against every network that is given."""
    data = instance.the_data()
    setting = Setting.of(data)
    networks = instance.networks
    judged = [certify(network, data, hard_patterns=False) for network in networks]
    widths = sorted({network.width for network in networks})
    hypotheses = (
        *setting.hypotheses(),
        at_least("networks of different width", len(widths), 2, note=f"widths {widths}"),
        is_kkt_point(judged, "KKT residuals"),
    )
    require(hypotheses, "z is not defined for these data", given=setting.defines_z)
    z = vys22_vector(setting.X, setting.y, ambient_dimension=setting.d)
    moved = np.array(
        [setting.y * certificate.network(setting.X - setting.y[:, None] * z.vector) for certificate in judged]
    )
    return Findings(
        value("||z||", z.size),
        value("networks", len(networks)),
        hypotheses=hypotheses,
        claims=(
            at_most("y_i N(x_i - y_i z), every network, every sample", moved, -1.0, scale=1.0),
            above("share of flipped samples", float((moved < 0).mean()), 1.0 - 0.5 / moved.size),
        ),
    )


@cache
def _stretched() -> Instance:
    """Orthogonal samples with norms between 0.8 sqrt(d) and 1.2 sqrt(d), at their closed form."""
    X = np.zeros((20, 100))
    X[:, :20] = np.diag(np.linspace(0.8, 1.2, 20) * np.sqrt(100))
    y = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    return at_point(orthogonal(Dataset(X=X, y=y)), "20 orthogonal samples with norms within 20 % of sqrt(100)")


@stated(
    id="VYS22/Rem.samenorm",
    number="Section 4, after Example 1",
    meaning="The samples need not have equal norms: the proof goes through with the least and largest one.",
    formula=r"D = d_{\min} - (m-1)p, \quad z = \left(\frac{p+1}{D} + \frac{(n-1)(p+1) + d_{\max} + 1}{nD}\right) u, "
    r"\quad y_i N_\theta(x_i - y_i z) \le 0",
    example=_stretched,
    control=robust_control,
    control_shows="the robust network of Theorem 3.1 is not a KKT point, and z does not flip its samples",
    printed=r"\|x_i\| \approx \sqrt{d}",
    proved=r"m - 1 \le \frac{d_{\min} + 1}{3(p+1)}",
    remark="The paper states a belief. The constants here are derived from its proofs, with norms in an interval.",
)
def same_norm(instance: Instance) -> Findings:
    """Lemmas C.1 to C.4 with ||x_i||^2 in [d_min, d_max], in the sharp form.

    C.1 needs m - 1 <= (d_min + 1)/(3 (p + 1)); C.2 gives S >= n / ((n - 1)(p + 1) + d_max + 1); C.3 uses no norm;
    C.4 gives D = d_min - (m - 1) p.
    """
    setting = Setting.of(instance.the_data())
    squares = np.diag(setting.gram)
    d_min, d_max = float(squares.min()), float(squares.max())
    m, p, n = setting.m, setting.p, setting.n_least
    D = d_min - (m - 1) * p
    t = (p + 1) / D + ((n - 1) * (p + 1) + d_max + 1) / (n * D) if n and D > 0 else np.nan
    moved = setting.moved(instance.certificate.network, t) if np.isfinite(t) else np.array([np.nan])
    return Findings(
        value("d_min", d_min),
        value("d_max", d_max),
        value("||z||", t * setting.u_norm),
        value("||z|| / sqrt(d_max)", t * setting.u_norm / float(np.sqrt(d_max)) if d_max > 0 else np.nan),
        hypotheses=(
            setting.balanced(),
            at_most("m - 1", m - 1, (d_min + 1) / (3 * (p + 1)), note=f"p = {p:.6g}"),
            is_kkt_point(instance),
        ),
        claims=(at_most("y_i N(x_i - y_i z)", moved, 0.0, scale=1.0),),
        derived=(equal("margins q_i", instance.certificate.margins, 1.0, tolerance=DEFAULT_TOLERANCE),),
    )


def _longer_samples() -> Instance:
    """A linear rule on two samples of three times the norm: it is robust beyond sqrt(d)."""
    x = 3 * np.sqrt(2.0) * np.array([[1.0, 0.0], [-1.0, 0.0]])
    network = TwoLayer(W=np.array([[1.0, 0.0], [-1.0, 0.0]]), b=np.zeros(2), v=np.array([1.0, -1.0]))
    return Instance(name="two samples of norm 3 sqrt(d)", network=network, data=Dataset(X=x, y=np.array([1.0, -1.0])))


@stated(
    id="VYS22/Rem.best",
    number="Section 2, Robustness",
    meaning="sqrt(d) is the best possible: every network that fits both labels flips some sample within sqrt(d).",
    formula=r"\min_i \min \{ \|x' - x_i\| : \mathrm{sign}(N(x')) \ne \mathrm{sign}(N(x_i)) \} \le \sqrt{d}",
    example=robust_control,
    control=_longer_samples,
    control_shows="samples of norm 3 sqrt(d) are farther than sqrt(d) from the origin",
    known="At the origin a network has one sign, and every sample of the other label is at distance sqrt(d) from "
    "it. The same argument gives the threshold from which on a perturbation says nothing.",
)
def rem_best(instance: Instance) -> Findings:
    """The first flip of every sample on its way to the origin; one label must flip on the way."""
    network, data = instance.the_network(), instance.the_data()
    setting = Setting.of(data)
    two = true("both labels occur", setting.n_least > 0)
    fits = above("smallest y_i N(x_i)", float(network.margins(data.X, data.y).min()), 0.0, tolerance=0.0)
    hypotheses = (setting.equal_norms(), two, fits)
    require(hypotheses, "a sample is at the origin already", given=bool(data.X.any(axis=1).all()))
    way = steps_along(network, data.X, data.y, -data.X, at_zero="flips").sizes
    root = float(np.sqrt(setting.d))
    return Findings(
        value("sqrt(d)", root),
        value("N at the origin", float(network(np.zeros((1, data.dimension)))[0])),
        hypotheses=hypotheses,
        claims=(at_most("shortest flip on the way to the origin", float(way.min()), root),),
    )
