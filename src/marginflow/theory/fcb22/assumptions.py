r"""[FCB22, sec. 2.1] Assumptions (A1)-(A7) with one constant C, and whether one C serves them all."""

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Final

from marginflow.theory.fcb22.numbers import NUMBERS, Numbers
from marginflow.theory.frame import Check, Findings, Instance, Statement, above, at_least, at_most, below, stated, value

# The two feasible sets of numbers that fit on two cores, and those of Figure 1.
C16: Final = Numbers(
    n=400, d=1200, m=100, sigma=1 / 16 / math.sqrt(1200), eta=1 / 16, omega=1 / 256 / math.sqrt(120_000), alpha=1 / 4
)
C64: Final = Numbers(
    n=500, d=4700, m=200, sigma=1 / 64 / math.sqrt(4700), eta=1 / 64, omega=1 / 4096 / math.sqrt(940_000), alpha=1 / 16
)
FIGURE: Final = Numbers(n=5000, d=2, m=500, sigma=math.sqrt(1 / 50), eta=0.15, omega=0.25 / math.sqrt(1000), alpha=0.05)


def with_numbers(name: str, numbers: Numbers, C: float | None = None) -> Instance:
    """An instance that is nothing but numbers."""
    parameters: dict[str, object] = dict(asdict(numbers))
    return Instance(name=name, parameters=parameters if C is None else {**parameters, "C": C})


def _assumption(*, id: str, **said: Any) -> Callable[[Callable[[Instance], Findings]], Statement]:
    """An assumption on numbers alone, which the instance C = 16 meets; its number is that of its id."""
    return stated(
        id=id,
        number=f"Assumption ({id.partition('/')[2]})",
        needs=("parameters",),
        parameters=NUMBERS,
        example=lambda: with_numbers("the numbers of the instance C = 16", C16, 16.0),
        **said,
    )


def _but(**broken: float) -> Callable[[], Instance]:
    """The numbers of the instance C = 16, but for one."""
    return lambda: with_numbers("the same numbers but one", replace(C16, **broken), 16.0)


def _capped(instance: Instance, cap: str, claim: Callable[[Numbers, float], Check]) -> Findings:
    """The inequality at the given C, beside the largest C that it allows."""
    numbers = Numbers.of(instance)
    C = numbers.constant(instance)
    largest = numbers.caps[cap]
    return Findings(
        value("largest C", largest),
        value("slack, largest C / C", largest / C),
        hypotheses=(*numbers.confidence(), above("C", C, 1.0)),
        claims=(claim(numbers, C),),
    )


@_assumption(
    id="FCB22/A1",
    meaning="The dimension is large against the logarithms of the sample size and the width.",
    formula=r"d \ge C \max\{\log^2(n/\delta), \log(m/\delta)\}",
    control=_but(d=1000.0),
    control_shows="1000 dimensions instead of 1200: C is at most 14.5",
)
def a1(instance: Instance) -> Findings:
    """d against the logarithms."""
    return _capped(
        instance, "A1", lambda s, C: at_least("d", s.d, C * max(math.log(s.n / s.delta) ** 2, math.log(s.m / s.delta)))
    )


@_assumption(
    id="FCB22/A2",
    meaning="The width is at least a constant.",
    formula=r"m \ge C \log(1/\delta)",
    control=_but(m=36.0),
    control_shows="36 neurons instead of 100: C is at most 15.6",
)
def a2(instance: Instance) -> Findings:
    """m against log(1/delta)."""
    return _capped(instance, "A2", lambda s, C: at_least("m", s.m, C * math.log(1 / s.delta)))


@_assumption(
    id="FCB22/A3",
    meaning="The clusters are narrow: samples lie within about 1/C of their mean.",
    formula=r"\sigma^2 \le \frac{1}{C^2 d}",
    control=_but(sigma=0.2 / math.sqrt(1200)),
    control_shows="sigma sqrt(d) = 0.2, the spread of Figure 1: C is at most 5",
)
def a3(instance: Instance) -> Findings:
    """sigma^2 against 1/d."""
    return _capped(instance, "A3", lambda s, C: at_most("sigma^2", s.sigma**2, 1 / (C**2 * s.d)))


@_assumption(
    id="FCB22/A4",
    meaning="The sample size is at least a constant times the logarithm of the width.",
    formula=r"n \ge C \log(m/\delta)",
    control=_but(n=110.0),
    control_shows="110 samples instead of 400: C is at most 15.9",
)
def a4(instance: Instance) -> Findings:
    """n against log(m/delta)."""
    return _capped(instance, "A4", lambda s, C: at_least("n", s.n, C * math.log(s.m / s.delta)))


@_assumption(
    id="FCB22/A5",
    meaning="The noise rate is at most a constant.",
    formula=r"\eta \le 1/C",
    control=_but(eta=0.15),
    control_shows="a noise rate of 0.15, as in Figure 1: C is at most 6.7",
)
def a5(instance: Instance) -> Findings:
    """eta against 1/C."""
    return _capped(instance, "A5", lambda s, C: at_most("eta", s.eta, 1 / C))


@_assumption(
    id="FCB22/A6",
    meaning="The start is small.",
    formula=r"\omega_{\mathrm{init}}^2 \le \frac{1}{C^4 m d}",
    control=_but(omega=0.25 / math.sqrt(120_000)),
    control_shows="omega sqrt(m d) = 1/4, the start of Figure 1: C is at most 2",
)
def a6(instance: Instance) -> Findings:
    """omega^2 against 1/(md)."""
    return _capped(instance, "A6", lambda s, C: at_most("omega^2", s.omega**2, 1 / (C**4 * s.m * s.d)))


@_assumption(
    id="FCB22/A7",
    meaning="The step-size is a constant, neither too small nor too large; it bounds C from both sides.",
    formula=r"\frac{1}{2 \sqrt{C}} \le \alpha \le \frac{1}{\sqrt{C}}",
    control=lambda: with_numbers("the step-size of Figure 1", replace(C16, alpha=0.05), 16.0),
    control_shows="a step-size of 0.05 needs C between 100 and 400",
    printed=r"\tfrac{1}{2 \sqrt{C}} \le \alpha \le \tfrac{1}{\sqrt{C}}",
    proved=r"\alpha = \tfrac{1}{4k}, \quad C \in [4 k^2, 16 k^2]",
    remark="T = 1 + 1/(4 alpha) counts steps, so alpha = 1/(4 k); and 2 alpha T <= 1, used for the norm of the "
    "weights, needs alpha <= 1/4.",
)
def a7(instance: Instance) -> Findings:
    """Both bounds on alpha at the given C, and the interval of C that alpha leaves."""
    numbers = Numbers.of(instance)
    C = numbers.constant(instance)
    low, high = numbers.step_size_interval
    return Findings(
        value("smallest C", low, "1/(4 alpha^2)"),
        value("largest C", high, "1/alpha^2"),
        value("T = 1 + 1/(4 alpha)", numbers.steps, "an integer only for alpha = 1/(4 k)"),
        hypotheses=(above("C", C, 1.0),),
        claims=(
            at_least("alpha", numbers.alpha, 1 / (2 * math.sqrt(C))),
            at_most("alpha, from above", numbers.alpha, 1 / math.sqrt(C)),
        ),
    )


@stated(
    id="FCB22/A.joint",
    number="Assumptions (A1)-(A7)",
    meaning="One constant C serves all seven assumptions, and T is a whole number of steps.",
    formula=r"\max\{1, \tfrac{1}{4\alpha^2}\} \le C \le \min\{\tfrac{1}{\alpha^2}, \mathrm{cap}_1, \dots, "
    r"\mathrm{cap}_6\}, \quad \tfrac{1}{4\alpha} \in \mathbb{N}",
    needs=("parameters",),
    parameters=NUMBERS,
    example=lambda: with_numbers("the numbers of the instance C = 64", C64),
    control=lambda: with_numbers("the numbers of Figure 1", FIGURE),
    control_shows="the figure of the paper is outside its theorem: (A1) allows C up to 0.017, (A7) asks for 100",
    remark="(A5) with noise that depends on x needs C > 8: at eta = 1/8 the labels of one cluster can be flipped "
    "for the most part, and then no method can know the clean ones.",
)
def a_joint(instance: Instance) -> Findings:
    """The interval of C that is left by all seven caps, and whether 1/(4 alpha) is whole."""
    numbers = Numbers.of(instance)
    low, high = numbers.interval
    k = 1 / (4 * numbers.alpha)
    return Findings(
        hypotheses=numbers.confidence(),
        constants=(
            *(value(f"cap of ({name})", cap) for name, cap in numbers.caps.items()),
            value("smallest C that (A7) allows", low),
            value("largest C", high, f"{numbers.binding} binds"),
            below("C > 8 for noise that depends on x: 8 against the largest C", 8.0, high),
        ),
        claims=(
            numbers.feasible(),
            at_most("distance of 1/(4 alpha) from a whole number", abs(k - round(k)), 1e-9 * k),
        ),
    )
