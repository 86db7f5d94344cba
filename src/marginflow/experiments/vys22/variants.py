"""What the remarks of [VYS22, section 6] have in common: two variants of the same runs, said to be similar."""

from collections.abc import Mapping

from marginflow.experiments.frame import Grid, Size
from marginflow.experiments.outcome import Finding, Judge, Mean, Outcome, column, draws, ours, pairs, values, where
from marginflow.experiments.panel import Drawing, Panel, Rows, over_seeds
from marginflow.experiments.vys22.samples import ALPHAS, fitted

# "Similar results" is not a number in the paper; this relative difference of the mean flips is ours.
SIMILAR = 0.25


def sizes(by: str, words: tuple[str, ...]) -> Mapping[Size, Grid]:
    """The grids of two variants of the same runs."""
    variants = {by: words}
    dimensions = tuple(range(100, 1001, 100))
    return {
        "smoke": Grid.product(**variants, alpha=(0.5,), dimension=(16,), width=(20,), seeds=2),
        "laptop": Grid.product(**variants, alpha=(0.5, 1.0), dimension=(40, 60, 80), width=(200,), seeds=5),
        "paper": Grid.product(
            **variants, alpha=ALPHAS, dimension=dimensions, width=(1000,), schedule=("published, mean loss",), seeds=5
        ),
    }


def flip_panels(by: str, heading: str, title: str) -> Drawing:
    """Flip over the norm of the inputs against d; a panel for each sample size, as the curves of variants coincide."""

    def panels(rows: Rows) -> tuple[Panel, ...]:
        return tuple(
            over_seeds(
                where(rows, alpha=alpha),
                x="dimension",
                y="flip_over_radius",
                series=by,
                variant=by,
                least=0.0,
                titles={
                    "dimension": "Dimension d",
                    by: heading,
                    "flip_over_radius": "Perturbation size / norm of the inputs",
                },
                title=f"{title}, m = d^{alpha:g}",
                description=(
                    "Size of the multiple of Σ yᵢxᵢ that flips every sample on the margin, relative to the norm of the "
                    f"inputs, against the dimension, for m = d^{alpha:g}; mean and 95 % interval over the seeds."
                ),
            )
            for alpha in values(rows, "alpha")
        )

    return panels


def similar(by: str, bound: float = SIMILAR) -> Judge:
    """The flips of every variant are close to those of the first on the same draws; all samples are correct."""

    def judge(rows: Rows) -> Outcome:
        findings = [fitted(rows)]
        base, *variants = values(rows, by)
        for variant in variants:
            for alpha in values(rows, "alpha"):
                name = f"relative difference of the flip, {variant} against {base}, m = d^{alpha:g}"
                own = where(rows, alpha=alpha)
                change = difference(own, by, base, variant)
                basis = ours('"similar results" is not a number in the paper')
                findings += Finding.within(name, change, bound, basis=basis, draws=draws(where(own, **{by: variant})))
        return Outcome(findings=tuple(findings))

    return judge


def difference(rows: Rows, by: str, base: object, variant: object) -> Mean:
    """How much larger the flips of a variant are than those of the base, relative to the mean of the latter."""
    standard, other = (where(rows, **{by: word}) for word in (base, variant))
    middle = Mean.of(column(standard, "flip_over_radius")).value
    both = pairs(standard, other, "flip_over_radius", ("alpha", "dimension", "width", "seed"))
    return Mean.of((b - a) / middle for a, b in both)
