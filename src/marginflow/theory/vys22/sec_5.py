r"""[VYS22, Section 5.1]: the worked example, a robust network and a less robust one with smaller weights."""

from typing import Final

import numpy as np

from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.robustness import one_neuron_per_sample
from marginflow.robustness.constructions import one_neuron_per_sample_without_bias
from marginflow.robustness.directions import one_sided_direction
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.theory.frame import Findings, Instance, above, at_least, below, equal, stated, value
from marginflow.theory.vys22.setting import Setting

_EXACT: Final = 1e-12


@stated(
    id="VYS22/Sec5.1",
    kind="example",
    number="Section 5.1",
    meaning="Dropping the biases shortens the weights at equal margins, and a vector of size 2 sqrt(2) then flips.",
    formula=r"N'(x) = \sum_j y_j \sigma\left(\tfrac{x_j^\top x}{d}\right), \ z = \tfrac{4}{d} \sum_{j > d/2} x_j, "
    r"\quad \|z\| = 2\sqrt{2}, \quad N'(x_i + z) = -1",
    needs=("parameters",),
    parameters={"dimension": "d, even"},
    example=lambda: Instance(name="d = 100", parameters={"dimension": 100}),
    control=lambda: Instance(name="d = 9", parameters={"dimension": 9}),
    control_shows="with an odd number of samples the halves differ, and z reaches -7/9 only",
    remark="An illustration: m = d exceeds the (d + 1)/3 of Theorem 4.1, z aims at one class only, and N' is no "
    "KKT point (v^2 = 1 differs from ||w'||^2 = 1/d, and b = 0 contradicts eq. (10) even after balancing).",
)
def section_5_1(instance: Instance) -> Findings:
    """x_i = sqrt(d) e_i, the first half positive; N with bias -1 against N' without."""
    d = instance.whole("dimension", 100)
    X = np.sqrt(d) * np.eye(d)
    y = np.where(np.arange(d) < (d + 1) // 2, 1.0, -1.0)
    data = Dataset(X=X, y=y)
    robust = one_neuron_per_sample(X, y, correlation=0.0)
    plain = one_neuron_per_sample_without_bias(X, y)
    assert robust.network.b is not None
    pre = robust.network.preactivations(X)
    away = -pre[~np.eye(d, dtype=np.bool_)] / np.linalg.norm(robust.network.W[0])
    down, up = one_sided_direction(X, y, -1), one_sided_direction(X, y, 1)
    plus = y > 0
    setting = Setting.of(data)
    return Findings(
        hypotheses=(equal("d modulo 2", d % 2, 0), at_least("dimension", d, 2)),
        constants=(
            value("allowed m of Theorem 4.1", setting.allowed, f"exceeded here by m = d = {d}"),
            value("KKT stationarity of N'", certify(plain, data).stationarity, "N' is not a KKT point"),
            value("||theta||^2 of N", robust.network.norm_squared()),
            value("||theta||^2 of N'", plain.norm_squared()),
        ),
        claims=(
            equal("margins of N", robust.network.margins(X, y), 1.0, tolerance=_EXACT),
            equal("margins of N'", plain.margins(X, y), 1.0, tolerance=_EXACT),
            equal("distance to the other active regions in N", away, np.sqrt(d) / 2, tolerance=_EXACT),
            at_least(
                "certified radius of N", interval_bound(robust.network, X, y).radii, np.sqrt(d) / 2, tolerance=1e-8
            ),
            equal("other pre-activations in N'", plain.preactivations(X)[~np.eye(d, dtype=np.bool_)], 0.0),
            equal("||z||", float(np.linalg.norm(down)), 2 * np.sqrt(2), tolerance=_EXACT),
            equal("N'(x_i + z), positive samples", plain(X[plus] + down), -1.0, tolerance=_EXACT),
            equal("N'(x_i + z'), negative samples", plain(X[~plus] + up), 1.0, tolerance=_EXACT),
            below("||w'|| against ||w||", np.linalg.norm(plain.W, axis=1), np.linalg.norm(robust.network.W, axis=1)),
            above("|b| of N against |b'| = 0", np.abs(robust.network.b), 0.0),
        ),
    )
