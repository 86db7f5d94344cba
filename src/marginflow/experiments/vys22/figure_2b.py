"""[VYS22, Figure 2(b)]: the number of samples that are not on the margin, for m = d^alpha samples."""

from marginflow.experiments.outcome import PAPER, Finding, Mean, Outcome, column, grouped, most, number, where
from marginflow.experiments.panel import Panel, Rows
from marginflow.experiments.vys22.samples import CLAIMED_SHARE, at_exact_points, by_samples, figure, least_share


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Number off the margin against d."""
    drawn = by_samples(
        rows,
        "off_margin",
        "Samples not on the margin",
        least=0.0,
        title="Number of samples not on the margin",
        description=(
            "Number of samples with yN(x) above 1.1 times the smallest, against the dimension; mean and 95 % interval "
            "over the seeds."
        ),
    )
    return (drawn,)


def judge(rows: Rows) -> Outcome:
    """None for m = sqrt(d); for the other sizes at most 8 % of the samples, in the dimension where it is most."""
    findings = []
    for alpha, curve in grouped(rows, "alpha", method="recipe", separated=True):
        worst, _ = least_share(curve)
        there = where(curve, dimension=worst)
        bound = 0.0 if alpha == 0.5 else (1.0 - CLAIMED_SHARE) * number(there[0], "samples")
        name = f"samples not on the margin, m = d^{alpha:g}, d = {worst}"
        off = Mean.of(column(there, "off_margin"))
        findings.append(Finding.about(name, off, "<=", bound, basis=PAPER, least=0.0))
    remarks = tuple(
        f"At {len(counts)} exact KKT points with m = d^{alpha:g} at most {most(counts):g} are not on it."
        for alpha, counts in at_exact_points(rows, "off_margin")
    )
    return Outcome(findings=tuple(findings), remarks=remarks, gaps=not findings)


FIGURE = figure(
    id="VYS22/Fig2b",
    title="number of samples not on the margin against the dimension, for m = d^α samples",
    claim="Few samples are not on the margin: none for m = √d, and at most 8 % of them for larger sample sizes.",
    panels=panels,
    judge=judge,
)
