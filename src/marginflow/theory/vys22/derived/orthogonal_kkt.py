r"""X.orthKKT: the KKT point on orthogonal samples in closed form, and its exact response along u."""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify
from marginflow.limit import orthogonal
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.robustness import minimal_step
from marginflow.theory.frame import (
    Findings,
    Instance,
    at_least,
    at_most,
    below,
    equal,
    is_kkt_point,
    require,
    stated,
    value,
)
from marginflow.theory.vys22.presets import gram_preset, orthogonal_preset
from marginflow.theory.vys22.setting import Setting


def closed_form(setting: Setting) -> tuple[TwoLayer, FloatArray, float]:
    """The two neurons of the formula, lambda (m,) and the Clarke weight of every opposite pair."""
    d, m, n_plus, n_minus = setting.d, setting.m, setting.n_plus, setting.n_minus
    lam_plus = np.sqrt((n_minus + d) / (n_plus * d * (m + d)))
    lam_minus = np.sqrt((n_plus + d) / (n_minus * d * (m + d)))
    s = float(np.sqrt(n_plus * n_minus / ((n_plus + d) * (n_minus + d))))
    v_plus, v_minus = np.sqrt(lam_plus * n_plus), -np.sqrt(lam_minus * n_minus)
    Xt = augmented_samples(setting.X, bias=True)
    sum_plus, sum_minus = Xt[setting.y > 0].sum(axis=0), Xt[setting.y < 0].sum(axis=0)
    A = np.vstack(
        [
            v_plus * (lam_plus * sum_plus - lam_minus * s * sum_minus),
            v_minus * (lam_plus * s * sum_plus - lam_minus * sum_minus),
        ]
    )
    network = TwoLayer(W=A[:, :-1], b=A[:, -1], v=np.array([v_plus, v_minus]))
    lam: FloatArray = np.where(setting.y > 0, float(lam_plus), float(lam_minus))
    return network, lam, s


@stated(
    id="VYS22/X.orthKKT",
    kind="construction",
    number="from equations (9)-(10), for p = 0",
    meaning="On orthogonal samples a KKT point is known in closed form; along u it flips at exactly sqrt(d/m).",
    formula=r"\lambda_\pm = \sqrt{\frac{n_\mp + d}{n_\pm d (m + d)}}, \quad "
    r"\sigma' = \sqrt{\frac{n_+ n_-}{(n_+ + d)(n_- + d)}}, \quad v_\pm = \pm \sqrt{\lambda_\pm n_\pm}",
    needs=("data",),
    example=lambda: Instance(name="32 orthogonal samples in dimension 100", data=orthogonal_preset().data),
    control=lambda: Instance(name="10 samples with p = 2 in dimension 100", data=gram_preset().data),
    control_shows="with inner products 2 the formula is not a KKT point",
)
def orthogonal_kkt(instance: Instance) -> Findings:
    """The formula is certified, agrees with the limit room, and along u falls with slope kappa."""
    data = instance.the_data()
    setting = Setting.of(data)
    hypotheses = (setting.equal_norms(), setting.balanced(), at_most("p", setting.p, 0.0))
    both = setting.n_least > 0 and setting.u_norm > 0
    require(hypotheses, "the formula needs both classes and orthogonal samples", given=both)
    d, m, y = setting.d, setting.m, setting.y
    network, lam, s = closed_form(setting)
    mu = lam[:, None] * np.where((y[:, None] > 0) == (network.v > 0), 1.0, s)
    certificate = certify(network, data, multipliers=(lam, mu))
    v2 = network.v**2
    n_plus, n_minus = setting.n_plus, setting.n_minus
    lam_plus, lam_minus = float(lam[y > 0][0]), float(lam[y < 0][0])
    kappa = d * (
        v2[0] * (lam_plus * n_plus + lam_minus * s * n_minus) + v2[1] * (lam_minus * n_minus + lam_plus * s * n_plus)
    )
    short = 0.5 / kappa  # before the own neuron dies
    slopes = (y * network(setting.X) - setting.moved(network, short)) / short
    flip = setting.shortest_flip(network)
    to_minus_one = minimal_step(network, setting.X, y, setting.u, level=-1.0).all_at_once * setting.u_norm
    root = float(np.sqrt(d / m))
    other = orthogonal(data).network if hypotheses[2].state == "met" else None
    same = np.nan if other is None else float(np.abs(other(setting.X + 0.3) - network(setting.X + 0.3)).max())
    conclusions = [
        equal("margins", network.margins(setting.X, y), 1.0, tolerance=1e-12),
        is_kkt_point(certificate),
        at_least("Clarke weight s, from below", s, 0.0),
        below("Clarke weight s, from above", s, 1.0),
        equal("slope along u", slopes, kappa, tolerance=1e-8),
    ]
    if n_plus == n_minus:
        conclusions += [
            equal("kappa, balanced", kappa, m),
            equal("flip size, balanced", flip, root),
            equal("size that reaches -1, balanced", to_minus_one, 2 * root),
        ]
    return Findings(
        value("||theta||^2", network.norm_squared()),
        value("kappa", float(kappa)),
        value("flip size", flip),
        value("sqrt(d/m)", root),
        hypotheses=hypotheses,
        claims=tuple(conclusions),
        arithmetic=(
            equal("||theta||^2 = 2 sum lambda", network.norm_squared(), 2 * float(lam.sum())),
            at_most("difference from the closed form of the limit room", same, 0.0, scale=1.0),
        ),
    )
