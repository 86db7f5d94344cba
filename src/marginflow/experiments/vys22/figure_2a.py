"""[VYS22, Figure 2(a)]: the share of samples on the margin, for m = d^alpha samples."""

from marginflow.experiments.outcome import PAPER, Finding, Outcome, column, grouped, most
from marginflow.experiments.outcome import least as least_of
from marginflow.experiments.panel import Panel, Rows
from marginflow.experiments.vys22.samples import CLAIMED_SHARE, at_exact_points, by_samples, figure, least_share


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Share on the margin against d."""
    dimensions = column(rows, "dimension")
    drawn = by_samples(
        rows,
        "on_margin",
        "Share on the margin",
        most=1.0,
        title="Share of samples on the margin",
        description=(
            "Share of samples with yN(x) at most 1.1 times the smallest, against the dimension; mean and 95 % interval "
            "over the seeds. The grey line is the 92 % that the paper reports for α > 1/2."
        ),
        references={"92 %": [(d, CLAIMED_SHARE) for d in (min(dimensions), max(dimensions))]},
    )
    return (drawn,)


def judge(rows: Rows) -> Outcome:
    """All samples for m = sqrt(d), at least 92 % for the other sizes: means over the seeds of the recipe's networks."""
    findings = []
    for alpha, curve in grouped(rows, "alpha", method="recipe"):
        d, least = least_share(curve)
        name = f"least share on the margin, m = d^{alpha:g}, d = {d}"
        if alpha == 0.5:
            findings.append(Finding.about(name, least.value, "==", 1.0, basis=PAPER))
        else:
            findings.append(Finding.about(name, least, ">=", CLAIMED_SHARE, basis=PAPER, least=0.0, most=1.0))
    remarks = tuple(
        f"At {len(shares)} exact KKT points with m = d^{alpha:g} the share is {least_of(shares):.3g} to "
        f"{most(shares):.3g}, mean {sum(shares) / len(shares):.3g}."
        for alpha, shares in at_exact_points(rows, "on_margin")
    )
    return Outcome(findings=tuple(findings), remarks=remarks, gaps=not findings)


FIGURE = figure(
    id="VYS22/Fig2a",
    title="share of samples on the margin against the dimension, for m = d^α samples",
    claim="For m = √d all samples are on the margin, and for α = 0.8, 1, 1.2, 1.5 at least 92 % of them.",
    panels=panels,
    judge=judge,
)
