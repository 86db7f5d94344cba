"""[KYS23, Figure 2, right]: clean test error against the noise for three layers, beside two."""

from marginflow.experiments.frame import Grid, product
from marginflow.experiments.kys23.profile import curves, tempered_to_benign
from marginflow.experiments.kys23.setting import DEVIATIONS, NOISES, brief, figure
from marginflow.experiments.outcome import Mean, Outcome, pairs, values, where
from marginflow.experiments.panel import Panel, Rows

# At the published size, for the published flow time; two layers are the runs of Figure 1.
RATES = {2: 1.0, 3: 0.5}


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Two and three layers in the same picture."""
    named = [{**row, "method": f"{row['layers']} layers"} for row in rows]
    return (curves(named, "Clean test error, two and three layers"),)


def judge(rows: Rows) -> Outcome:
    """Three layers go from tempered to benign as two do."""
    deep = tempered_to_benign(where(rows, layers=3))
    remarks = []
    for d in values(rows, "dimension"):
        two, three = (where(rows, dimension=d, layers=layers) for layers in (2, 3))
        if both := pairs(two, three, "error", ("noise", "seed")):
            change = Mean.of(b - a for a, b in both)
            remarks.append(f"Three layers have {change.value:+.3g} more error than two on average in dimension {d}.")
    return Outcome(findings=deep.findings, remarks=(*deep.remarks, *remarks))


FIGURE = figure(
    id="KYS23/Fig2R",
    title="clean test error against the noise, three layers beside two",
    claim="Three layers look very similar to two: tempered in low dimension, benign in high dimension.",
    panels=panels,
    judge=judge,
    sizes={
        "smoke": brief(
            layers=(2, 3),
            dimension=(5, 300),
            noise=(0.1, 0.3, 0.5),
            samples=(20,),
            width=(50,),
            time=(300.0,),
            test_points=(1000,),
        ),
        "laptop": brief(
            layers=(2, 3), dimension=(10, 100, 1000), noise=(0.1, 0.3, 0.5), samples=(100,), width=(200,), seeds=3
        ),
        "paper": Grid(
            cells=tuple(
                cell
                for layers, rate in RATES.items()
                for cell in product(
                    layers=(layers,), rate=(rate,), dimension=(250, 2000, 10_000), noise=NOISES, samples=(500,)
                )
            ),
            seeds=10,
        ),
    },
    deviations=DEVIATIONS
    + " Three layers depend more on the rate: at m = 100, d = 100, p = 0.3 two draws have 0.288 and 0.303 with the "
    "published 0.1, 0.288 and 0.303 with 0.2, 0.285 and 0.295 with 0.5, 0.273 and 0.276 with 1. The published size has "
    "0.5 for three layers, a fifth of the published steps. With a bias in every layer a network of three layers is not "
    "homogeneous.",
)
