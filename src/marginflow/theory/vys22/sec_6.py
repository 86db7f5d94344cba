r"""[VYS22, Section 6] Definitions of the experiments: who is on the margin, and the smallest universal perturbation."""

from dataclasses import replace

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.robustness import label_sum, minimal_step
from marginflow.robustness.directions import ON_MARGIN_RTOL, margin_samples
from marginflow.theory.frame import Findings, Instance, above, at_least, at_most, below, equal, stated, true, value
from marginflow.theory.instances import changed, orthogonal_point
from marginflow.theory.vys22.presets import with_longer_samples


@stated(
    id="VYS22/Def.onmargin",
    number="Section 6, Margin",
    meaning="A sample is on the margin, in the experiments, if it is within 10 % of the smallest margin.",
    formula=r"y_i N(x_i) \le 1.1 \cdot \min_l y_l N(x_l)",
    example=lambda: with_longer_samples(1.1, 1.5, 3.0),
    control=lambda: changed(
        with_longer_samples(1.1, 1.5, 3.0),
        "the same network with its outputs reversed",
        lambda network: replace(network, v=-network.v),
    ),
    control_shows="where a sample is misclassified there is no margin",
    control_outcome="not applicable",
)
def on_margin(instance: Instance) -> Findings:
    """The set within 10 % of the smallest margin: who is in, who is out, and that scaling changes nothing."""
    network, data = instance.the_network(), instance.the_data()
    margins = network.margins(data.X, data.y)
    least = float(margins.min())
    fitted = above("smallest margin", least, 0.0)
    if least <= 0:
        return Findings(hypotheses=(fitted,), claims=(true("a margin set exists", False),))
    mask = margin_samples(network, data.X, data.y)
    scaled = margin_samples(network.scaled(7.0), data.X, data.y)
    exact = margin_samples(network, data.X, data.y, tolerance=1e-8)
    return Findings(
        value("samples within 10 %", float(mask.sum())),
        value("samples exactly on the margin", float(exact.sum()), "the I of Corollary 4.1"),
        hypotheses=(fitted,),
        claims=(
            at_most("margins inside, over the smallest", margins[mask] / least, 1 + ON_MARGIN_RTOL),
            above("margins outside, over the smallest", np.append(margins[~mask] / least, np.inf), 1 + ON_MARGIN_RTOL),
        ),
        arithmetic=(
            equal("members that change under scaling", float((mask != scaled).sum()), 0.0),
            at_least("the exact margin set is contained", mask.astype(float), exact.astype(float)),
        ),
    )


def _never_flips() -> Instance:
    """One neuron that is positive everywhere, and positive labels only: nothing ever flips."""
    data = Dataset(X=np.eye(3), y=np.ones(3))
    network = TwoLayer(W=np.zeros((1, 3)), b=np.ones(1), v=np.ones(1))
    return Instance(name="a constant function", network=network, data=data)


@stated(
    id="VYS22/Def.minpert",
    number="Section 6.1",
    meaning="The smallest multiple of u over the margin samples that flips all of them at once.",
    formula=r"\min \left\{ c > 0 : y_i N\left(x_i - y_i c \tfrac{u_I}{\|u_I\|}\right) < 0 "
    r"\text{ for all } i \in I \right\}",
    example=lambda: orthogonal_point(100, 33),
    control=_never_flips,
    control_shows="a constant function is flipped by no perturbation",
    remark="A largest value over the samples: it grows with their number, so the median is reported too. Where "
    "a flip is undone further out, the step for all at once differs from the largest first flip.",
)
def minimal_perturbation(instance: Instance) -> Findings:
    """The smallest c with y_i N(x_i - y_i c u/||u||) < 0 for all i on the margin at once, exactly, and evaluated."""
    network, data = instance.the_network(), instance.the_data()
    margins = network.margins(data.X, data.y)
    fitted = above("smallest margin", float(margins.min()), 0.0)
    if margins.min() <= 0:
        return Findings(hypotheses=(fitted,), claims=(true("a margin set exists", False),))
    mask = margin_samples(network, data.X, data.y)
    u = label_sum(data.X, data.y, mask)
    X, y = data.X[mask], data.y[mask]
    steps = minimal_step(network, X, y, u, at_zero="keeps")
    all_at_once, norm = steps.all_at_once, float(np.linalg.norm(u))
    found = np.isfinite(all_at_once)

    def worst(t: float) -> float:
        return float((y * network(X - t * y[:, None] * u)).max()) if found else np.nan

    d = data.full_dimension
    return Findings(
        value("median over the samples", float(np.median(steps.sizes))),
        value("largest first flip", steps.largest_first * norm, "differs from all at once if a flip is undone"),
        value("samples whose flip is final", float(steps.monotone.mean())),
        value("sqrt(d)", float(np.sqrt(d))),
        value("flip size times sqrt(m/d)", all_at_once * norm * float(np.sqrt(y.size / d))),
        hypotheses=(fitted,),
        claims=(
            at_most(
                "size of the perturbation", all_at_once * norm, 2 * float(np.sqrt(d)), note="it exists and is finite"
            ),
            below("all flipped just beyond", worst(all_at_once * (1 + 1e-6)), 0.0),
            above("not all flipped just before", worst(all_at_once * (1 - 1e-6)), 0.0),
        ),
    )
