"""[VYS22, section 6, Margin]: every run ended with all samples correct."""

from marginflow.experiments.outcome import Outcome, where
from marginflow.experiments.panel import Panel, Rows
from marginflow.experiments.vys22.samples import by_samples, figure, fitted


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Largest over smallest margin against d: positive and finite where all samples are correct."""
    drawn = by_samples(
        where(rows, method="recipe"),
        "margin_ratio",
        "Largest / smallest margin",
        variant=None,
        least=1.0,
        title="Largest over smallest margin at the end of training",
        description=(
            "Ratio of the largest to the smallest yN(x) of the recipe's networks, against the dimension; it exists "
            "where all samples are correct, and would be 1 if all were on the margin."
        ),
    )
    return (drawn,)


def judge(rows: Rows) -> Outcome:
    """All samples of all runs of the recipe."""
    return Outcome(findings=(fitted(where(rows, method="recipe")),))


FIGURE = figure(
    id="VYS22/Exp.fit",
    title="margins at the end of training: is every sample correct?",
    claim="Every run ended with all samples classified correctly.",
    panels=panels,
    judge=judge,
)
