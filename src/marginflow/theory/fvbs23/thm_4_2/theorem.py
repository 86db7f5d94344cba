r"""[FVBS23, Theorem 4.2]: no KKT point is robust."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from marginflow.theory.frame import (
    Check,
    Findings,
    Forms,
    Instance,
    Statement,
    at_least,
)
from marginflow.theory.fvbs23.presets import B, noisier, preset
from marginflow.theory.fvbs23.setting import Sample
from marginflow.theory.fvbs23.thm_3_1.theorem import packaging, window_hypotheses
from marginflow.theory.fvbs23.thm_3_1.thm_a1 import theorem_hypotheses
from marginflow.theory.fvbs23.thm_4_2.lem_d9 import size_checks
from marginflow.theory.fvbs23.thm_4_2.thm_d1 import explicit_vectors, flip_table, networks_of
from marginflow.theory.probability import clopper_pearson


@partial(
    Statement,
    id="FVBS23/Thm4.2",
    kind="theorem",
    number="Theorem 4.2",
    meaning="With probability 1 - delta, one z of length O(sqrt(d/(c^2 k))) flips all but a share epsilon of the "
    "points.",
    formula=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right), \quad \Pr_{(x, y)}[\mathrm{sign}(N_\theta(x)) \ne "
    r"\mathrm{sign}(N_\theta(x - y z))] \ge 1 - \epsilon",
    needs=("network", "data", "law", "test"),
    parameters={"epsilon": "share of points not flipped, 0.05", "delta": "failure probability, 0.05"},
    example=lambda: preset(B),
    control=lambda: noisier(B),
    control_shows="ten times the noise at the smallest dimension: Assumption 2.2 fails",
    forms=Forms(
        printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
        remark="The window for n is that of Theorem 3.1. sign(0) = -1, so a positive point flips at N = 0 already.",
    ),
)
def theorem_4_2(instance: Instance) -> Findings:
    """The share of fresh points that change their sign, with its confidence interval, against 1 - epsilon."""
    sample = Sample.of(instance)
    s = sample.setting
    epsilon, delta = instance.number("epsilon", 0.05), instance.number("delta", 0.05)
    constants, _ = flip_table(instance)
    test = instance.the_test()
    signs = [np.where(network(test.X) > 0, 1, -1) for network in networks_of(instance)]
    rates: list[Check] = []
    for form, vector in explicit_vectors(instance).items():
        X = test.X - test.y[:, None] * vector.vector
        after = [np.where(network(X) > 0, 1, -1) for network in networks_of(instance)]
        flipped = np.all([one != other for one, other in zip(signs, after, strict=True)], axis=0)
        counted = clopper_pearson(int(flipped.sum()), flipped.size)
        told = counted.check(f"share of flipped points, {form} z", ">=", 1 - epsilon)
        rates.append(
            Check(
                name=told.name,
                observed=told.observed,
                relation=told.relation,
                bound=told.bound,
                interval=told.interval,
                note=f"{told.note}; ||z|| = {vector.relative_size:.4g} sqrt(d)",
                vacuous=vector.size > math.sqrt(2 * s.d + 2 * s.p),
            )
        )
    if not rates:
        rates.append(at_least("share of flipped points", math.nan, 1 - epsilon, note="z is not defined here"))
    return Findings(
        hypotheses=(*theorem_hypotheses(instance), *window_hypotheses(s, sample.n, epsilon, delta)),
        constants=constants,
        claims=(*packaging(s, sample.n, epsilon, delta), *rates, *size_checks(s)),
    )
