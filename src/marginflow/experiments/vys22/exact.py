"""Ours: VYS22's runs again, each beside the exact KKT point of the same data, for widths that are lazy and not."""

from functools import partial

from marginflow.certificates import EXACT_TOLERANCE
from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.outcome import ROUNDING, Finding, Mean, Outcome, column, most, ours, values, where
from marginflow.experiments.panel import Panel, Rows, over_seeds
from marginflow.experiments.vys22.samples import METHODS
from marginflow.experiments.vys22.sphere import sphere_run

_FAR, _FARTHER = ours("a tenth is far from zero"), ours("farther means not nearer")


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Residual and flip against the width."""
    named = [{**row, "size": f"m = d^{row['alpha']:g}"} for row in rows]
    titles = {"width": "Width", "size": "Samples", "method": "Network"}
    drawn = partial(over_seeds, named, x="width", series="size", variant="method", x_scale="log")
    residuals = drawn(
        y="residual",
        band=False,
        titles={**titles, "residual": "Relative KKT residual"},
        title="Relative KKT residual",
        description="How far from a KKT point the networks are, against the width.",
        y_scale="log",
    )
    flips = drawn(
        y="flip_over_radius",
        least=0.0,
        titles={**titles, "flip_over_radius": "Perturbation size / √d"},
        title="Flip of all samples on the margin, relative to √d",
        description="Size of the multiple of Σ yᵢxᵢ that flips every sample on the margin, against the width.",
    )
    return residuals, flips


def judge(rows: Rows) -> Outcome:
    """The recipe is far from every KKT point, farther for wider networks; KKT points are exact; flips are alike."""
    recipe, exact = where(rows, method="recipe", separated=True), where(rows, method="KKT point", separated=True)
    findings, few = [], []
    if exact:
        worst = most(column(exact, "residual"))
        findings.append(
            Finding.about("largest residual of the KKT points", worst, "<=", EXACT_TOLERANCE, basis=ROUNDING)
        )
    else:
        few.append("No KKT point was found.")
    for alpha in values(rows, "alpha"):
        curve = where(recipe, alpha=alpha)
        widths = sorted(set(column(curve, "width")))
        if len(widths) < 2:
            few.append(f"With m = d^{alpha:g} the recipe got every sample right at fewer than two widths.")
            continue
        narrow, wide = (Mean.of(column(curve, "residual", width=width)) for width in (widths[0], widths[-1]))
        name = f"residual of the recipe at width {widths[-1]:g}, m = d^{alpha:g}"
        farther = f"how much larger it is than at width {widths[0]:g}, m = d^{alpha:g}"
        change, fewest = wide.value - narrow.value, min(wide.count, narrow.count)
        findings += [
            Finding.about(name, wide, ">=", 0.1, basis=_FAR, least=0.0),
            Finding.about(farther, change, ">=", 0.0, basis=_FARTHER, draws=fewest),
        ]
    lost = [row for row in rows if not row["separated"]]
    remarks = tuple(
        f"Left out: the {row['method']} of width {row['width']} on {row['samples']} samples, seed {row['seed']}, which "
        "stalled before every sample was correct."
        for row in lost
    )
    return Outcome(findings=tuple(findings), remarks=remarks, lost=" ".join(few), gaps=bool(few))


FIGURE = Figure(
    id="VYS22/Exact.ours",
    title="how far from a KKT point the published networks are, and what an exact KKT point changes",
    claim=(
        "At a loss of 1e-30 the published networks are far from every KKT point, the wider the farther, while exact "
        "KKT points of the same data can be found and certified."
    ),
    cell=sphere_run,
    panels=panels,
    judge=judge,
    sizes={
        "smoke": Grid.product(method=METHODS, alpha=(0.5,), dimension=(20,), width=(10, 40), seeds=2),
        "laptop": Grid.product(
            method=METHODS, alpha=(0.5, 1.0), dimension=(60,), width=(20, 50, 100, 200, 500, 1000), seeds=4
        ),
        "paper": Grid.product(
            method=METHODS,
            alpha=(0.5, 0.8, 1.0, 1.2),
            dimension=(100, 400, 1000),
            width=(100, 1000, 8000),
            schedule=("published, mean loss",),
            seeds=5,
        ),
    },
    deviations="Not in the paper. The residual is that of the best multipliers and Clarke weights there are.",
)
