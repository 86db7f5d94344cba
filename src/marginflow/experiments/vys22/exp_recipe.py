"""[VYS22, section 6, Experimental setting]: the published schedule of the rate beside faster ones."""

from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.vys22.sphere import sphere_run
from marginflow.experiments.vys22.variants import flip_panels, similar

SCHEDULES = ("published", "every 20", "every 5", "normalised")

FIGURE = Figure(
    id="VYS22/Exp.recipe",
    title="flips after the published schedule of the rate and after faster ones",
    claim=(
        "A rate that grows by 1.1 every 100 steps accelerates the way to the limit without changing it: schedules that "
        "grow 5 and 20 times as fast, and steps that lower ln L by 0.02, end at the same flips."
    ),
    cell=sphere_run,
    panels=flip_panels("schedule", "Schedule of the rate", "Flip for four schedules"),
    judge=similar("schedule", bound=0.02),
    sizes={
        "smoke": Grid.product(
            schedule=("every 20", "every 5", "normalised"), alpha=(0.5,), dimension=(12,), width=(8,), seeds=1
        ),
        "laptop": Grid.product(schedule=SCHEDULES, alpha=(0.5, 1.0), dimension=(30, 50), width=(50,), seeds=3),
        "paper": Grid.product(schedule=SCHEDULES, alpha=(0.5, 1.0), dimension=(100, 500, 1000), width=(1000,), seeds=5),
    },
    deviations="m ≤ d only: with more samples than dimensions the fastest growth can diverge.",
)
