"""[VYS22, Figure 1(a)]: the smallest perturbation that flips every sample on the margin, for m = d^alpha samples."""

from marginflow.experiments.outcome import Finding, Mean, Outcome, column, grouped, number, ours, where
from marginflow.experiments.panel import Panel, Rows
from marginflow.experiments.vys22.samples import METHODS, by_samples, figure, fitted, root

# "Much smaller than sqrt(d)" is not a number in the paper; this is ours.
MUCH_SMALLER = 0.75
_BASIS = ours('"much smaller than √d" is not a number in the paper; three quarters are the most that we call so')


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Flip size against d, one colour for each sample size, full for the recipe and dashed for exact KKT points."""
    flips = by_samples(
        rows,
        "flip",
        "Perturbation size",
        least=0.0,
        title="Smallest perturbation that flips all samples on the margin",
        description=(
            "Size of the multiple of z = Σ yᵢxᵢ that flips every sample on the margin, against the dimension; mean and "
            "95 % interval over the seeds. Above √d a perturbation is not adversarial."
        ),
        references={"√d": root(rows)},
        y_scale="log",
    )
    residuals = by_samples(
        rows,
        "residual",
        "Relative KKT residual",
        title="How far from a KKT point each network of the figure is",
        description="Relative residual of the KKT conditions with the best multipliers, against the dimension.",
        band=False,
        y_scale="log",
    )
    return flips, residuals


def judge(rows: Rows) -> Outcome:
    """Every curve is far below sqrt(d), for the recipe and for the KKT points; judged at the largest dimension."""
    findings, spreads = [fitted(rows)], list[str]()
    for method in METHODS:
        for alpha, curve in grouped(rows, "alpha", method=method, separated=True):
            largest = max(column(curve, "dimension"))
            flips = Mean.of(column(curve, "flip_over_radius", dimension=largest))
            name = f"flip / √d of the {method}, m = d^{alpha:g}, d = {largest:g}"
            findings.append(Finding.about(name, flips, "<=", MUCH_SMALLER, basis=_BASIS, least=0.0))
            if flips.count > 1:  # the paper's way to show the spread
                spreads.append(f"{flips.value:.3f} ± {flips.deviation:.3f} ({method}, α = {alpha:g}, d = {largest:g})")
    recipe = column(rows, "residual", method="recipe", separated=True)
    remarks = []
    separated = where(rows, separated=True)
    if separated:
        worst = max(separated, key=lambda row: number(row, "flip_over_radius"))
        remarks.append(
            f"The largest flip / √d of all runs is {worst['flip_over_radius']:.3g} ({worst['method']}, "
            f"d = {worst['dimension']}, m = {worst['samples']}, seed {worst['seed']})."
        )
    if spreads:
        remarks.append(
            f"Flip / √d as the paper has it, mean ± standard deviation over the seeds: {'; '.join(spreads)}."
        )
    if recipe:
        remarks.append(
            f"The networks of the recipe are not KKT points: relative residuals from {min(recipe):.2g} to "
            f"{max(recipe):.2g}."
        )
    return Outcome(findings=tuple(findings), remarks=tuple(remarks))


FIGURE = figure(
    id="VYS22/Fig1a",
    title="smallest flip of all samples on the margin against the dimension, for m = d^α samples",
    claim=(
        "One multiple of Σ yᵢxᵢ, much smaller than √d, flips every sample on the margin, also for many more samples "
        "than Theorem 4.1 allows."
    ),
    panels=panels,
    judge=judge,
)
