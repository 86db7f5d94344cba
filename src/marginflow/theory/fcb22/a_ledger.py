r"""Every "for C large enough" of the proofs of [FCB22], written down: what is asked for, and the C that it asks for.

A line is an inequality between the numbers of an instance. `needed` is the C from which (A1)-(A7) imply the line: the
largest of them is the C of the theorem.
"""

import math
from dataclasses import dataclass

from marginflow.theory.fcb22.assumptions import C16, with_numbers
from marginflow.theory.fcb22.constants import C0_PAPER, C1_PAPER, E2, HOEFFDING, C2_proved
from marginflow.theory.fcb22.measures import quotient
from marginflow.theory.fcb22.numbers import NUMBERS, Numbers
from marginflow.theory.fcb22.path import XorSample
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, stated, value


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """One use of "C large enough": the inequality, and the C from which (A1)-(A7) imply it.

    Where it serves a probability, by `chance`, the deterministic half of the proof does without it.
    """

    check: Check
    needed: float
    chance: bool = False


def _for_noise(share: float) -> float:
    """The C from which 1/C + c / sqrt(C) <= share, which bounds |N|/n by (A4) and (A5)."""
    if share <= 0:
        return math.inf
    root = (HOEFFDING + math.sqrt(HOEFFDING**2 + 4 * share)) / (2 * share)
    return root**2


def ledger(s: Numbers, noisy_share: float, C0: float, C1: float, C2: float) -> tuple[LedgerLine, ...]:
    """All lines, in the order of the proofs; c = 1/sqrt(2) is the constant of Hoeffding's inequality."""
    shrink = (1 - 1 / C0) ** 2
    log_m = math.log(s.m / s.delta)
    samples = 14400 * math.pi * math.e * HOEFFDING**2 * C0**2
    edge = 0.2155 / (C0 * math.sqrt(2 * math.pi * math.e))
    slow = E2 * shrink / 6144
    uneven = math.sqrt(3 * math.log(1 / s.delta) / s.n)

    def size(name: str, number: float, bound: float, allowed: float) -> LedgerLine:
        return LedgerLine(check=at_least(name, number, bound), needed=bound / allowed, chance=True)

    def noise(name: str, bound: float, *, chance: bool = False) -> LedgerLine:
        return LedgerLine(check=at_most(name, noisy_share, bound), needed=_for_noise(bound), chance=chance)

    def spread(name: str, bound: float) -> LedgerLine:
        return LedgerLine(check=at_most(name, C1 * s.sd, bound), needed=quotient(C1, bound))

    return (
        size("m, Lemma 4.2", s.m, 16 * C0**2 * math.log(32 / s.delta), math.log(1 / s.delta)),
        size("d, Lemma 4.1", s.d, 32 * math.log(4 * s.m / s.delta), log_m),
        size("n, Eq. (12)", s.n, samples * math.log(64 * s.m / s.delta), log_m),
        noise("|N|/n, Eq. (12)", edge, chance=True),
        LedgerLine(check=at_most("C1^2 sd, Lemma 4.3", C1**2 * s.sd, 1.0), needed=C1**2),
        # |I_mu^C| >= n/8, with the factor 4 that Eq. (6) loses: |N|/n + sqrt(3 log(1/delta)/n) <= 1/8.
        LedgerLine(
            check=at_most("|N|/n + sqrt(3 log(1/delta)/n), Eq. (6)", noisy_share + uneven, 1 / 8),
            needed=((math.sqrt(3) + HOEFFDING + math.sqrt((math.sqrt(3) + HOEFFDING) ** 2 + 0.5)) / 0.25) ** 2,
            chance=True,
        ),
        LedgerLine(check=at_most("omd / alpha, Lemma A.1", s.omd / s.alpha, 1 / 3), needed=6 ** (2 / 3)),
        LedgerLine(check=at_most("alpha, for ||W||_F <= 1", s.alpha, 1 / 4), needed=16.0),
        spread("C1 sd, Eq. (34)", 1 / (64 * C2)),
        LedgerLine(check=at_most("omd, Eq. (32)", s.omd, 1 / (16 * C2)), needed=4 * math.sqrt(C2)),
        noise("|N|/n, Eq. (31)", 1 / (2 * C2)),
        noise("|N|/n, Eq. (37)", E2 / 256),
        spread("C1 sd, Eq. (37)", E2 / 256),
        spread("C1 sd, Eq. (38)", E2 / 512),
        LedgerLine(check=at_most("C1 sd / alpha, Eq. (40)", C1 * s.sd / s.alpha, 4 / 3), needed=4 * C1**2),
        LedgerLine(
            check=at_most("2 C1 sd + 3 |N|/n, Eq. (42)", 2 * C1 * s.sd + 3 * noisy_share, E2 / 32),
            needed=max(4 * C1 * 32 / E2, _for_noise(E2 / 32 / 6)),
        ),
        LedgerLine(check=at_most("alpha, Eq. (20)", s.alpha, slow), needed=quotient(1.0, slow**2)),
        spread("C1 sd, Lemma 4.9", E2 * shrink / 4096),
        spread("C1 sd, Prop. 3.2", E2 / 4096),
        LedgerLine(check=at_most("omd, Prop. 3.2", s.omd, E2 / 4096), needed=math.sqrt(4096 / E2)),
    )


def needed_constant(lines: tuple[LedgerLine, ...]) -> tuple[float, str]:
    """The C from which every line holds, and the line that asks for it."""
    worst = max(lines, key=lambda line: line.needed)
    return worst.needed, worst.check.name


def _astronomic() -> Instance:
    """The smallest numbers that satisfy (A1)-(A7) with the C that the literal constants need."""
    C = 1.0
    for _ in range(5):  # the C needed depends on m a little, through log(64 m/delta) / log(m/delta)
        s = Numbers.smallest(C)
        C = 1.01 * needed_constant(ledger(s, s.noisy_share_bound, C0_PAPER, C1_PAPER, C2_proved(C0_PAPER)))[0]
    s = Numbers.smallest(C)
    return with_numbers(f"the smallest numbers with C = {C:.2g}", s)


@stated(
    id="FCB22/A.ledger",
    number="Sections 4 and A, 'for C large enough'",
    meaning="Everything that the proofs ask of C, with explicit constants: which line binds, and how large C must be.",
    formula=r"m \ge 16 C_0^2 \log\tfrac{32}{\delta}, \; n \ge 7200 \pi e C_0^2 \log\tfrac{64 m}{\delta}, \; "
    r"C_1 \sigma \sqrt{d} \le \tfrac{1}{64 C_2}, \; \tfrac{|\mathcal{N}|}{n} \le \tfrac{1}{2 C_2}, \; "
    r"\alpha \le \tfrac{e^{-2} (1 - 1/C_0)^2}{6144}, \dots",
    needs=("parameters",),
    parameters={
        **NUMBERS,
        "C0": "threshold of the neuron sets, the paper's 5.86e10 by default",
        "C1": "geometry of the samples, 2 by default",
        "C2": "edge of the activations, 12 C0 sqrt(2 pi e) by default",
    },
    example=_astronomic,
    control=lambda: with_numbers("the numbers of the instance C = 16", C16),
    control_shows="C = 16 is far from large enough: the theorem with its literal constants says nothing about it",
    printed=r"\text{for all } C > 1 \text{ sufficiently large}",
    proved=r"C \ge 2.3 \cdot 10^{26} \text{ at } C_0 = 4^5 \cdot 1024^2 e^4,\ \delta = 0.1",
    remark="The sample size of Eq. (12) binds. With it n is above 1e28 and the noise rate below 1e-26: "
    "the literal theorem is vacuous at every feasible size, and the statements report measured constants instead.",
)
def a_ledger(instance: Instance) -> Findings:
    """Every line of the ledger at the numbers given, and the C from which all of them hold."""
    numbers = Numbers.of(instance)
    C0 = instance.number("C0", C0_PAPER)
    C1 = instance.number("C1", C1_PAPER)
    C2 = instance.number("C2", C2_proved(C0))
    share = numbers.noisy_share_bound if instance.data is None else XorSample.of(instance.data).noisy_share
    lines = ledger(numbers, share, C0, C1, C2)
    C, binding = needed_constant(lines)
    return Findings(
        value("C that all of it needs", C, f"binding: {binding}"),
        value("C0", C0),
        value("C1", C1),
        value("C2", C2),
        value("|N|/n", share),
        value("lines that hold", sum(line.check.state == "met" for line in lines), f"of {len(lines)}"),
        *(value(f"C for {line.check.name}", line.needed) for line in lines),
        hypotheses=numbers.confidence(),
        claims=tuple(line.check for line in lines),
    )
