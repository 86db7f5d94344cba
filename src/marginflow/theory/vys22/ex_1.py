r"""[VYS22, Example 1]: how large z is on almost orthogonal data, and on random data."""

import math
from dataclasses import replace

import numpy as np

from marginflow.data import GramReduction, Orthogonal, Sphere
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, below, equal, require, stated, value
from marginflow.theory.vys22.setting import Setting


def slope(dimensions: tuple[int, ...], sizes: list[float]) -> float:
    """Least-squares slope of ln ||z|| against ln d; not a number where a size is none."""
    return float(np.polyfit(np.log(dimensions), np.log(sizes), 1)[0]) if min(sizes) > 0 else math.nan


def _all_apply(settings: list[Setting]) -> tuple[Check, ...]:
    """The hypotheses of Theorem 4.1 in every dimension, one check for each dimension and hypothesis."""
    return tuple(
        replace(check, name=f"d = {setting.d}: {check.name}") for setting in settings for check in setting.hypotheses()
    )


_DIMENSIONS_A = (100, 300, 1000)


@stated(
    id="VYS22/Ex1a",
    number="Example 1, first item",
    meaning="On m = Theta(d) almost orthogonal samples the vector z has bounded size, whatever d is.",
    formula=r"\max_{i \ne j} |\langle x_i, x_j \rangle| = O(1),\ m = \Theta(d) \implies \|z\| = O(1)",
    needs=("parameters",),
    parameters={"p": "the common inner product", "exponent": "m is the allowed number to this power; 1 for Theta(d)"},
    example=lambda: Instance(name="p = 1, d = 100, 300, 1000", parameters={"p": 1.0}),
    control=lambda: Instance(name="two samples in every dimension", parameters={"p": 0.0, "exponent": 0.1}),
    control_shows="two samples in every dimension: m = Theta(d) fails, and z grows beyond any bound for Theta(d)",
    printed=r"\|z\| = O(1)",
    proved=r"\|z\| \le \frac{15 \sqrt{2}}{c} \sqrt{\frac{d}{m}}",
    remark="For p = 0, m = (d + 1)/3 and c = 1/2 the literal z tends to 8.66; sqrt(d/m) = 1.73 is enough.",
)
def example_1a(instance: Instance) -> Findings:
    """p fixed, m as large as allowed (or its power), d = 100, 300, 1000: is ||z|| bounded?"""
    p = instance.number("p", 1.0, at_least=0.0)
    exponent = instance.number("exponent", 1.0, at_least=-10.0, at_most=10.0)
    settings = []
    for d in _DIMENSIONS_A:
        allowed = (d + 1) / (3 * (p + 1))
        m = max(2, 2 * int(allowed**exponent / 2))
        law = Orthogonal(dimension=d, design="gram", p=p) if p > 0 else Orthogonal(dimension=d)
        settings.append(Setting.of(law.sample(m)))
    share = min(setting.m / setting.d for setting in settings)
    sizes = [setting.z_norm for setting in settings]
    # ||z|| <= 15 sqrt(2) sqrt(d/m) / c with c = 1/2 and m >= theta d: a bound that does not know d.
    theta = 0.9 / (3 * (p + 1))
    constant = 30 * math.sqrt(2 / theta)
    return Findings(
        hypotheses=(
            *_all_apply(settings),
            at_least("m / d stays bounded below", share, theta, note="0.9 of what the theorem allows"),
        ),
        constants=tuple(value(f"||z|| at d = {d}", size) for d, size in zip(_DIMENSIONS_A, sizes, strict=True)),
        claims=(at_most("largest ||z||", max(sizes), constant, note="15 sqrt(2/theta) / c with m >= theta d"),),
        derived=(
            at_most("slope of ln ||z|| in ln d", slope(_DIMENSIONS_A, sizes), 0.05, tolerance=0.0),
            below("||z|| / sqrt(d) falls", np.diff(np.array(sizes) / np.sqrt(_DIMENSIONS_A)), 0.0),
        ),
    )


_DIMENSIONS_B = (16_000, 160_000, 1_600_000)


@stated(
    id="VYS22/Ex1b",
    number="Example 1, second item",
    meaning="On random data, m of order sqrt(d)/ln d, the vector z has size of order (sqrt(d) ln d)^(1/2).",
    formula=r"m = \Theta\left(\tfrac{\sqrt{d}}{\ln d}\right) \implies \|z\| = O\left(\sqrt{\sqrt{d} \ln d}\right)",
    needs=("parameters",),
    parameters={
        "dimension": "the smallest of three dimensions, each ten times the one before",
        "samples": "m in every dimension; by default the m of the example",
    },
    example=lambda: Instance(name="random data in dimensions 16000, 160000, 1600000"),
    control=lambda: Instance(name="two samples in every dimension", parameters={"dimension": 10**8, "samples": 2}),
    control_shows="two samples in every dimension: z grows like sqrt(d)",
    printed=r"m = \Theta\left(\tfrac{\sqrt{d}}{\log d}\right)",
    proved=r"m = \left\lfloor \frac{d+1}{3(\sqrt{d} \ln d + 1)} \right\rfloor \ge 2 \iff d \ge 2123",
    remark="The literal z is longer than sqrt(d) itself for random data with d below about 400000.",
)
def example_1b(instance: Instance) -> Findings:
    """The explicit m of the example in three dimensions a factor 10 apart; Gram data, so that any d is cheap."""
    first = instance.whole("dimension", _DIMENSIONS_B[0], at_least=1)
    dimensions = (first, 10 * first, 100 * first)
    samples = instance.whole("samples", 0)
    roots = [math.sqrt(d) * math.log(d) for d in dimensions]
    printed = [int((d + 1) / (3 * (root + 1))) for d, root in zip(dimensions, roots, strict=True)]
    enough = at_least("m in the smallest dimension", printed[0], 2, note="needs d >= 2123")
    counts = [samples or m for m in printed]
    require(enough, "fewer than two samples", given=min(counts) > 1)
    laws = [GramReduction(Sphere(dimension=d, labels="balanced")) for d in dimensions]
    settings = [Setting.of(law.sample(m, seed=instance.seed)) for law, m in zip(laws, counts, strict=True)]
    order = equal("m against floor((d+1) / (3 (sqrt(d) ln d + 1)))", [setting.m for setting in settings], printed)
    sizes = [setting.z_norm for setting in settings]
    ratios = np.array(sizes) / np.sqrt(roots)
    # m >= (d + 1)/(3 (sqrt d ln d + 1)) - 1 >= 1/2 of that for m >= 2, so sqrt(d/m) <= sqrt(6.1 sqrt(d) ln d).
    constants = [15 * math.sqrt(2) * math.sqrt(6.1) / setting.c for setting in settings]
    small_p = at_most("p against sqrt(d) ln d", [setting.p for setting in settings], roots)
    return Findings(
        *(value(f"||z|| at d = {d}", size) for d, size in zip(dimensions, sizes, strict=True)),
        value("slope of ln ||z|| in ln d", slope(dimensions, sizes), "1/4 and a little more, for the logarithm"),
        hypotheses=(enough, order, small_p, *_all_apply(settings)),
        claims=(
            at_most("||z|| / sqrt(sqrt(d) ln d)", ratios, constants),
            below("||z|| / sqrt(d) falls", np.diff(np.array(sizes) / np.sqrt(dimensions)), 0.0),
        ),
        derived=(
            at_most("slope of ln ||z||, from above", slope(dimensions, sizes), 0.45, tolerance=0.0),
            at_least("slope of ln ||z||, from below", slope(dimensions, sizes), 0.15, tolerance=0.0),
        ),
    )
