r"""[KYS23, App. A.1] The least width n* that classifies the samples, and the number of label changes."""

import itertools
import math
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Check,
    Counterexample,
    Erratum,
    Findings,
    Instance,
    at_most,
    equal,
    require,
    stated,
    true,
    value,
)
from marginflow.theory.kys23.line import line_samples, on_the_line
from marginflow.theory.kys23.line_points import five_point_minimum, spline

ENUMERATED: Final = 8
"""Samples whose labels are all gone through."""


def label_changes(y: FloatArray) -> int:
    """Neighbours with different labels."""
    return int((np.diff(y) != 0).sum())


def least_width(y: FloatArray) -> tuple[int, int]:
    """Bounds of n*: 1 without a change of label, 2 with one, 3 with two, then at least 3 and at most changes + 1.

    One neuron has one sign, and two neurons cannot give +, -, +: of two outputs of one sign N has one sign, and of two
    signs {N > 0} is convex on the half-line where the positive neuron is awake, outside of which N is not positive.
    """
    s = label_changes(y)
    return min(s, 2) + 1, s + 1


def classifier_of_least_pieces(x: FloatArray, y: FloatArray) -> TwoLayer:
    """A network with one neuron more than there are label changes that classifies all samples.

    It passes through zero halfway between neighbours of different labels, and is linear between the middles of these
    zeros: one constant or linear neuron, and one kink for every change but the last.
    """
    changes = np.flatnonzero(np.diff(y) != 0)
    if not changes.size:
        return TwoLayer(W=np.zeros((1, 1)), b=np.ones(1), v=y[:1])
    zeros = (x[changes] + x[changes + 1]) / 2
    knots = np.concatenate([[x[0] - 1.0], (zeros[:-1] + zeros[1:]) / 2, [x[-1] + 1.0]])
    values = np.empty(knots.size)
    values[0] = y[0]
    for i, zero in enumerate(zeros):  # straight through the zero to the next knot
        values[i + 1] = -values[i] * (knots[i + 1] - zero) / (zero - knots[i])
    return spline(knots, values)


def label_law(m: int, p: float) -> tuple[FloatArray, FloatArray]:
    """All 2^m labels of m samples, shape (2^m, m), and their probabilities when each is -1 with probability p."""
    labels: FloatArray = np.array(list(itertools.product((-1.0, 1.0), repeat=m)))
    minus = (labels < 0).sum(axis=1)
    chances: FloatArray = p**minus * (1 - p) ** (m - minus)
    return labels, chances


def expected_changes(m: int, p: float) -> float:
    """E s over independent labels that are -1 with probability p: the sum over all 2^m of them."""
    labels, chances = label_law(m, p)
    return math.fsum((chances * (np.diff(labels, axis=1) != 0).sum(axis=1)).tolist())


@stated(
    id="KYS23/A1.Nstar",
    kind="remark",
    number="Appendix A.1, equation (6)",
    meaning="As many neurons as there are label changes classify any samples on a line. False: one more may be needed.",
    formula=r"n^* \le |\{ i : y_i \ne y_{i+1} \}|, \qquad \mathbb{E}[n^*] \le 2 p (1 - p) (m - 1)",
    needs=("data",),
    example=five_point_minimum,
    control=lambda: Instance(
        name="two samples, one change", data=Dataset(X=np.array([[0.2], [0.7]]), y=np.array([-1.0, 1.0]))
    ),
    control_shows="one label change needs two neurons, because one neuron has one sign; print allows one",
    printed=r"n^* \le |\{ i : y_i \ne y_{i+1} \}|",
    proved=r"n^* \le |\{ i : y_i \ne y_{i+1} \}| + 1",
    remark="Print is one short for s = 0, 1, 2; it is not always: the five points of the counterexample to Prop. "
    "A.4 have s = 4 and four neurons.",
    errata=Erratum.false_statement(
        "s label changes may need s + 1 neurons.",
        headline="Kornowski, Yehudai and Shamir say that as many neurons as labels change along the line classify "
        "any samples on it; one change needs two neurons, and one more than printed always suffices.",
        evidence="one change of label: one neuron has one sign",
        repair="the bound plus 1, which is reached by a construction; the order stays",
    ),
)
def a1_nstar(instance: Instance) -> Findings:
    """n* between what two labels need and the narrowest network at hand; the construction with s + 1 neurons."""
    data = instance.the_data()
    hypotheses = require(on_the_line(instance), "label changes need an order")
    x, y = line_samples(data)
    s = label_changes(y)
    made = classifier_of_least_pieces(x, y)
    least, enough = least_width(y)
    widths = [made.width]
    given = instance.network
    if given is not None and given.dimension == 1 and bool((given.margins(data.X, data.y) > 0).all()):
        widths.append(given.compact().width)
    p, few = float((y < 0).mean()), min(x.size, ENUMERATED)
    most = max(least, min(widths))
    claim = Check("n* <= s", float(most), "<=", float(s), interval=(least, most))
    found = Counterexample(
        summary=f"{s} changes of label need at least {least} neurons",
        proof="a case distinction on the signs of outputs",
    )
    return Findings(
        value("label changes s", s),
        value("n*, at most", most),
        value("n*, at least", least),
        hypotheses=hypotheses,
        claims=(claim,),
        derived=(
            true("the constructed network classifies every sample", bool((made.margins(data.X, data.y) > 0).all())),
            at_most("its width <= s + 1", made.width, enough),
        ),
        arithmetic=(
            equal(
                "E s over all labels of the first samples",
                expected_changes(few, p),
                2 * p * (1 - p) * (few - 1),
                scale=1.0,
                note=f"enumerated for {few} samples at the realised p",
            ),
        ),
        counterexample=found if claim.state == "failed" else None,
    )


@stated(
    id="KYS23/A1.Flip",
    kind="remark",
    number="Appendix A.1, before the end of the proof of Theorem 3.1",
    meaning="Turning one label changes the least width n* by at most 1. False: by 2, inside a run of one label.",
    formula=r"|n^*(y) - n^*(y')| \le 1 \quad \text{for } y, y' \text{ that differ in one label}",
    needs=("data",),
    example=lambda: Instance(
        name="two samples of different labels", data=Dataset(X=np.array([[0.25], [0.75]]), y=np.array([1.0, -1.0]))
    ),
    control=lambda: Instance(
        name="three samples labelled +", data=Dataset(X=np.array([[0.25], [0.5], [0.75]]), y=np.ones(3))
    ),
    control_shows="+, +, + needs one neuron, and +, -, + three",
    control_outcome="refuted",
    printed=r"\text{flipping a single label changes } n^* \text{ by at most } 1",
    proved=r"\text{by at most } 2",
    errata=Erratum.slip(
        "One label changes the least width, and the number of label changes, by up to 2, not 1.",
        evidence="+, +, + needs one neuron; +, -, + needs three",
        repair="by at most 2, which costs a constant only",
    ),
)
def a1_flip(instance: Instance) -> Findings:
    """n* of the labels and of every neighbour, by the exact values for up to two changes."""
    hypotheses = require(on_the_line(instance), "label changes need an order")
    _, y = line_samples(instance.the_data())
    low, high = least_width(y)
    changes = []
    for i in range(y.size):
        low_turned, high_turned = least_width(np.where(np.arange(y.size) == i, -y, y))
        sure = max(low_turned - high, low - high_turned, 0)
        changes.append((sure, max(sure, high_turned - low, high - low_turned)))
    worst = max(changes, key=lambda change: change[0])
    claim = Check("change of n*", worst[0], "<=", 1.0, interval=worst)
    found = Counterexample(
        summary=f"turning one of {y.size} labels changes the least width by {worst[0]:g}",
        proof="a case distinction on whole numbers",
    )
    return Findings(hypotheses=hypotheses, claims=(claim,), counterexample=found if claim.state == "failed" else None)
