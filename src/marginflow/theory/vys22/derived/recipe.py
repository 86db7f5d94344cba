r"""X.floor and X.iters: what the published recipe can never reach, and how many steps it takes."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from marginflow.certificates import training_floor
from marginflow.certificates.floor import outside_span
from marginflow.flow import Geometric, LossBelow
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, stated, true, undefined, value
from marginflow.theory.recorded import recipe_run

# The estimate of the number of steps neglects lower-order terms; this is how well it is meant.
_STEPS_RTOL: Final = 0.01


def _another_start() -> Instance:
    """The trained network of the recipe with a larger start than its own."""
    good = recipe_run()
    start = replace(good.the_start(), W=30.0 * good.the_start().W)
    return replace(good, name="the recipe with another start", run=None, start=start)


@stated(
    id="VYS22/X.floor",
    kind="theorem",
    number="from equation (3)",
    meaning="Training never changes W outside the span of the samples, so the KKT residual cannot fall below a floor.",
    formula=r"\text{stationarity} \ge \frac{\|P_\perp W_0\|_F}{\|\theta_T\|}",
    needs=("network", "data", "start"),
    example=recipe_run,
    control=_another_start,
    control_shows="a start that is thirty times as large is not where training began: W outside the span has changed",
)
def floor(instance: Instance) -> Findings:
    """The part of W outside the span of the samples is where it was at the start, and no multipliers explain it."""
    start, network, data = instance.the_start(), instance.the_network(), instance.the_data()
    floor = training_floor(start, network, data)
    outside = float(np.linalg.norm(outside_span(network.W - start.W, data.X)))
    k, m, d = network.width, data.n_samples, network.dimension
    size = float(np.sqrt(network.norm_squared()))
    sizes = [float((trained.v**2).mean() - (trained.augmented**2).sum(axis=1).mean()) for trained in (start, network)]
    said = floor > 1e-9
    return Findings(
        value("floor", floor),
        value("sqrt((k/3)(1 - m/d)) / ||theta_T||", math.sqrt(k / 3 * max(0.0, 1 - m / d)) / size, "torch's law"),
        value("mean of v_j^2 - ||(w_j, b_j)||^2 at the start", sizes[0]),
        value("the same at the end", sizes[1]),
        value("margin needed for a residual of 0.1", k / (3 * 0.01 * instance.certificate.norm_squared)),
        hypotheses=(
            equal("change of W outside the span of the samples", outside, 0.0, scale=float(np.linalg.norm(network.W))),
        ),
        claims=(
            at_least("stationarity of the trained network", instance.certificate.stationarity, floor, vacuous=not said),
            at_least("least total over all multipliers", instance.certificate.total, floor, vacuous=not said),
        ),
    )


def _half_way() -> Instance:
    """The record of the recipe with half of its steps and another reason to end."""
    run = recipe_run().the_run()
    half = replace(run, steps=run.steps // 2, status="interrupted")
    return replace(recipe_run(), name="the recipe, interrupted half way", run=half)


@stated(
    id="VYS22/X.iters",
    kind="remark",
    number="from Section 6, Experimental setting",
    meaning="The number of steps of the published recipe is known in advance to about a per cent.",
    formula=r"T \approx \frac{100}{\ln 1.1} \ln \left( \frac{\ln 1.1}{100} \cdot "
    r"\frac{\|\theta_T\|^2 / \min q}{4 \min q \cdot L_{\mathrm{stop}} \cdot \eta_0} \right)",
    needs=("run", "data"),
    example=recipe_run,
    control=_half_way,
    control_shows="the record of a run that ended half way, by no rule of the recipe",
)
def steps(instance: Instance) -> Findings:
    """Steps that the recipe made against the closed formula for them."""
    run, data = instance.the_run(), instance.the_data()
    schedule = run.plan.schedule
    stops = [rule for rule in run.plan.stop if isinstance(rule, LossBelow)]
    geometric = isinstance(schedule, Geometric) and len(stops) == 1
    recipe = true("a rate that grows geometrically, and a loss to stop at", geometric)
    if not isinstance(schedule, Geometric) or not geometric:
        return undefined((recipe,), "the formula is about a rate that grows geometrically")
    assert stops[0].log_value is not None
    least = float(run.network.margins(data.X, data.y).min())
    growth = math.log(schedule.factor) / schedule.every
    scale = 4 * least * math.exp(stops[0].log_value) * schedule.rate
    predicted = math.log(growth * (run.network.norm_squared() / least) / scale) / growth
    return Findings(
        value("steps made", run.steps),
        value("predicted steps", predicted),
        value("relative difference", predicted / run.steps - 1),
        hypotheses=(recipe, true("the run ended by its loss", run.status == stops[0].status)),
        claims=(at_most("|predicted / made - 1|", abs(predicted / run.steps - 1), _STEPS_RTOL, tolerance=0.0),),
    )
