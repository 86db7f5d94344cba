r"""[KYS23, Introduction] 1-nearest neighbour as the baseline: clean error p, noisy error 2p(1 - p), at every m."""

import itertools
import math

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Interval
from marginflow.generalisation import nearest_neighbour_line_error
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, require, stated, value
from marginflow.theory.kys23.line import line_samples


def _rates(x: FloatArray, p: float, dependence: str) -> FloatArray:
    """P(y_i = -1 | x): p for all, or 2p for the half of the samples with the larger cells and 0 for the others."""
    if dependence == "independent":
        return np.full(x.size, p)
    borders = np.concatenate([[0.0], (x[:-1] + x[1:]) / 2, [1.0]])
    large = np.argsort(np.diff(borders))[x.size // 2 :]
    rates = np.zeros(x.size)
    rates[large] = 2 * p
    return rates


def _points(**parameters: object) -> Instance:
    law = Interval(p=0.3)
    return Instance(name="eight uniform points", data=law.sample(8, seed=0), law=law, parameters=parameters)


@stated(
    id="KYS23/Intro.1NN",
    kind="remark",
    number="Section 1",
    meaning="1-nearest neighbour is tempered: clean error p and noisy error 2p(1-p) in expectation, for every m.",
    formula=r"\mathbb{E}\, L_{\mathrm{cl}}(\mathrm{1NN}) = p, \qquad \mathbb{E}\, L_{\mathrm{noisy}} = 2 p (1 - p)",
    needs=("data",),
    parameters={"p": "noise rate (default 0.3)", "noise": "independent of x (default), or on the larger cells"},
    example=lambda: _points(p=0.3),
    control=lambda: _points(p=0.3, noise="larger cells"),
    control_shows="noise of the same rate that falls on the larger cells: labels are not independent of x",
    control_outcome="violated",
    printed=r"2 p (1 - p) \text{ as } m \to \infty",
    sharp=r"p \text{ and } 2 p (1 - p) \text{ for every } m \text{ and every } x_1, \dots, x_m",
    remark="The cells of the samples fill the interval, whatever the samples are.",
)
def intro_1nn(instance: Instance) -> Findings:
    """The expectation over all 2^m labels, each with its probability; no sampling."""
    data = instance.the_data()
    p = instance.number("p", 0.3)
    dependence = instance.word("noise", "independent", ("independent", "larger cells"))
    hypotheses = (
        equal("dimension d", data.dimension, 1.0),
        at_least("p >= 0", p, 0.0),
        at_most("p <= 1/2", p, 0.5),
        at_most("m, for all 2^m labels", data.n_samples, 10.0),
    )
    require(hypotheses, "the expectation is over all labels of at most ten samples on a line")
    x, _ = line_samples(data)
    rates = _rates(x, p, dependence)
    clean, noisy = [], []
    for y in itertools.product((-1.0, 1.0), repeat=x.size):
        chance = float(np.prod(np.where(np.array(y) < 0, rates, 1 - rates)))
        error = nearest_neighbour_line_error(x, y).value
        clean.append(chance * error)
        noisy.append(chance * (error * (1 - p) + (1 - error) * p))
    return Findings(
        value("m", x.size),
        value("p", p),
        hypotheses=hypotheses,
        claims=(
            equal("E L_cl = p", math.fsum(clean), p, scale=1.0),
            equal("E of the noisy error = 2 p (1 - p)", math.fsum(noisy), 2 * p * (1 - p), scale=1.0),
        ),
    )
