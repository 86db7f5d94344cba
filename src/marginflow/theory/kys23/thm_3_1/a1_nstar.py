r"""[KYS23, App. A.1] The least width n* that classifies the samples, against the number of label changes."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Findings,
    Forms,
    Instance,
    Statement,
    at_least,
    at_most,
    equal,
    true,
    undefined,
    unmet,
    value,
)
from marginflow.theory.kys23.line import line_samples, on_the_line
from marginflow.theory.kys23.line_points import global_point, spline

_ENUMERATED: Final = 8


def label_changes(y: FloatArray) -> int:
    """Neighbours with different labels."""
    return int((np.diff(y) != 0).sum())


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


def expected_changes(m: int, p: float) -> float:
    """E s over independent labels that are -1 with probability p: the sum over all 2^m of them."""
    labels = np.array(list(itertools.product((-1.0, 1.0), repeat=m)))
    minus = (labels < 0).sum(axis=1)
    chances = p**minus * (1 - p) ** (m - minus)
    return math.fsum((chances * (np.diff(labels, axis=1) != 0).sum(axis=1)).tolist())


@partial(
    Statement,
    id="KYS23/A1.Nstar",
    kind="remark",
    number="Appendix A.1, equation (6)",
    meaning="As many neurons as label changes, and one more, classify any samples on a line; about 2p(1-p)m.",
    formula=r"n^* \le |\{ i : y_i \ne y_{i+1} \}| + 1, \qquad \mathbb{E}[n^*] \le 2 p (1 - p) (m - 1) + 1",
    needs=("data",),
    parameters={"bound": "repaired (s + 1, default) or printed (s)"},
    example=lambda: global_point(20, 0.3, 5),
    control=lambda: Instance(
        name="two samples, one change",
        data=Dataset(X=np.array([[0.2], [0.7]]), y=np.array([-1.0, 1.0])),
        parameters={"bound": "printed"},
    ),
    control_shows="one label change needs two neurons, because one neuron has one sign; print allows one",
    control_outcome="violated",
    forms=Forms(
        printed=r"n^* \le |\{ i : y_i \ne y_{i+1} \}|",
        proved=r"n^* \le |\{ i : y_i \ne y_{i+1} \}| + 1",
        remark="Print is one short for s = 0, 1, 2; it is not always: the five points of the counterexample to Prop. "
        "A.4 have s = 4 and four neurons.",
    ),
)
def a1_nstar(instance: Instance) -> Findings:
    """The width of a network that is constructed, and the expected number of label changes by enumeration."""
    data = instance.the_data()
    printed = instance.word("bound", "repaired", ("repaired", "printed")) == "printed"
    hypotheses = on_the_line(instance)
    if unmet(hypotheses):
        return undefined(hypotheses, "label changes need an order")
    x, y = line_samples(data)
    s = label_changes(y)
    made = classifier_of_least_pieces(x, y)
    # One neuron has one sign, so two labels need two neurons.
    least = 1 if s == 0 else 2
    widths = [made.width]
    given = instance.network
    if given is not None and given.dimension == 1 and bool((given.margins(data.X, data.y) > 0).all()):
        widths.append(given.compact().width)
    p = float((y < 0).mean())
    few = min(x.size, _ENUMERATED)
    # With s + 1 on the right it could not fail, for least is 1 or 2.
    print_fails = (at_most("n*, at least this, <= s", least, s),) if printed else ()
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("label changes s", s),
            value("n*, at most", min(widths)),
            value("n*, at least", least),
            value("2 p (1 - p) (m - 1) + 1 at the realised p", 2 * p * (1 - p) * (x.size - 1) + 1),
        ),
        claims=(
            true("the constructed network classifies every sample", bool((made.margins(data.X, data.y) > 0).all())),
            at_most("its width <= s + 1", made.width, s + 1),
            *print_fails,
            equal(
                "E s over all labels of the first samples",
                expected_changes(few, p),
                2 * p * (1 - p) * (few - 1),
                scale=1.0,
                note=f"enumerated for {few} samples at the realised p",
            ),
            at_least("width >= least possible", min(widths), least),
        ),
    )
