r"""[VYS22, Section 2] The order sqrt(d) is the best possible: no network is robust beyond the norm of its samples."""

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.robustness.rays import steps_along
from marginflow.theory.frame import Findings, Instance, above, at_most, require, stated, true, value
from marginflow.theory.vys22.presets import robust_control
from marginflow.theory.vys22.setting import Setting


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
