r"""[VYS22, Theorem 3.1]: where no two samples are nearly parallel, a robust network exists."""

from functools import partial
from typing import Final

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.robustness.rays import steps_along
from marginflow.theory.frame import (
    Check,
    Erratum,
    Findings,
    Instance,
    at_least,
    at_most,
    below,
    equal,
    require,
    stated,
    unmet,
    value,
)
from marginflow.theory.instances import orthogonal_point
from marginflow.theory.vys22.presets import random_samples
from marginflow.theory.vys22.setting import Setting

_EXACT: Final = 1e-12
"""The construction is a formula: its margins are 1 to rounding."""


def _nearly_parallel() -> Instance:
    X = np.sqrt(2.0) * np.array([[1.0, 0.0], [0.9, np.sqrt(1 - 0.9**2)]])
    data = Dataset(X=X, y=np.array([1.0, -1.0]))
    return Instance(name="two samples at a cosine of 0.9, c = 0.1 claimed", data=data, parameters={"c_corr": 0.1})


_stated = partial(
    stated,
    needs=("data",),
    parameters={"c_corr": "the c of the theorem; by default max |<x_i, x_j>| / d"},
    control=_nearly_parallel,
    control_shows="two samples at a cosine of 0.9, while c = 0.1 is claimed: each wakes the neuron of the other",
)


def _construction(instance: Instance) -> tuple[Setting, float, tuple[Check, ...], TwoLayer]:
    """The letters, the c of the theorem, what is asked of the data, and the network w_j = 2 x_j / (d (1 - c)),
    b_j = -(1 + c)/(1 - c), v_j = y_j; a judge ends here where there is none.
    """
    setting = Setting.of(instance.the_data())
    d = setting.d
    c = instance.number("c_corr", setting.p / d)
    hypotheses = (
        setting.equal_norms(),
        at_most("largest <x_i, x_j> / d", setting.largest_cosine, c, note=f"two-sided {setting.p / d:.6g}"),
        below("c_corr", c, 1.0),
    )
    exists = c < 1.0 - 1e-9 and not unmet(hypotheses[0])
    require(hypotheses, "there is no such network for these data", given=exists)
    network = TwoLayer(W=2 * setting.X / (d * (1 - c)), b=np.full(setting.m, -(1 + c) / (1 - c)), v=setting.y)
    return setting, c, hypotheses, network


@_stated(
    id="VYS22/Thm3.1",
    meaning="A network of width m has margin 1 and keeps its sign within (1 - c)/4 sqrt(d) of every sample.",
    formula=r"v_j = y_j,\ w_j = \frac{2 x_j}{d(1-c)},\ b_j = -\frac{1+c}{1-c}: \quad "
    r"\|x' - x_i\| \le \frac{1-c}{4} \sqrt{d} \implies y_i N(x') \ge \tfrac12",
    example=lambda: random_samples(300, 200),
    printed=r"|\langle x_i, x_j \rangle| \le c\,d,\ 0 < c < 1: \quad R = \frac{1-c}{4} \sqrt{d}",
    sharp=r"\langle x_i, x_j \rangle \le c\,d,\ c < 1: \quad R = \frac{1-c}{2} \sqrt{d}",
    remark="The radius may be doubled, which is what Section 5.1 uses at c = 0, a value that the printed "
    "hypothesis excludes. The network is not a KKT point: its biases have the wrong sign.",
    errata=Erratum.slip(
        "The hypothesis excludes c = 0, which Section 5.1 uses.", repair="c < 1 suffices; VYS22/Thm3.1-sharp"
    ),
)
def theorem_3_1(instance: Instance) -> Findings:
    """The construction w_j = 2 x_j / (d (1 - c)), b_j = -(1 + c)/(1 - c), v_j = y_j, certified by ||w_j||."""
    setting, c, hypotheses, network = _construction(instance)
    d, m = setting.d, setting.m
    stated = (1 - c) / 4 * float(np.sqrt(d))
    margins = network.margins(setting.X, setting.y)
    pre = network.preactivations(setting.X)
    own, others = np.diag(pre), pre[~np.eye(m, dtype=np.bool_)]
    norms = np.linalg.norm(network.W, axis=1)
    kept = interval_bound(network, setting.X, setting.y).radii
    return Findings(
        value("stated radius", stated, "(1 - c)/4 sqrt(d)"),
        hypotheses=hypotheses,
        claims=(
            at_least("margins y_i N(x_i)", margins, 1.0, tolerance=_EXACT),
            at_least("certified radius against the stated one", kept, stated),
        ),
        proof_steps=(
            equal("y_i N(x_i)", margins, 1.0, tolerance=_EXACT),
            equal("own pre-activation", own, 1.0, tolerance=_EXACT),
            at_most("other pre-activations", np.append(others, -np.inf), -1.0, scale=3.0),
            equal("||w_j||", norms, 2 / (np.sqrt(d) * (1 - c))),
            at_least("own neuron on the stated ball", float((own - stated * norms).min()), 0.5),
            at_most(
                "other neurons on the stated ball", others.max(initial=-np.inf) + stated * float(norms.max()), -0.5
            ),
        ),
    )


@_stated(
    id="VYS22/Thm3.1-sharp",
    number="Theorem 3.1, sharp",
    meaning="The network of Theorem 3.1 keeps its sign within twice the printed radius, and for c = 0 as well.",
    formula=r"\|x' - x_i\| < \frac{1-c}{2} \sqrt{d} \implies y_i N(x') > 0, \quad c < 1",
    example=lambda: Instance(name="32 orthogonal samples", data=orthogonal_point(100, 32).data),
    sharp=r"R = \frac{1-c}{2} \sqrt{d}",
    known="Attained along -x_i; Section 5.1 uses it at c = 0.",
)
def theorem_3_1_sharp(instance: Instance) -> Findings:
    """The certified radius of the construction against (1 - c)/2 sqrt(d), and the flip along -x_i that attains it."""
    setting, c, hypotheses, network = _construction(instance)
    sharp = (1 - c) / 2 * float(np.sqrt(setting.d))
    kept = interval_bound(network, setting.X, setting.y).radii
    flips = steps_along(network, setting.X, setting.y, -setting.X, at_zero="flips").sizes
    return Findings(
        value("(1 - c)/2 sqrt(d)", sharp),
        value("shortest flip along -x_i", float(flips.min())),
        hypotheses=hypotheses,
        claims=(at_least("certified radius", kept, sharp, tolerance=1e-8),),
    )
