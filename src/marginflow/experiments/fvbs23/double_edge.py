"""Ours: [FVBS23] as a figure - test error and flip of four classifiers against k, d and sigma."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from marginflow.experiments.frame import Figure, Grid, Size, product
from marginflow.experiments.fvbs23.clusters import CLASSIFIERS, SHARE, cluster_run, hours
from marginflow.experiments.outcome import Finding, Mean, Outcome, column, means, number, values, where
from marginflow.experiments.panel import Panel, Row, Scale

# What "generalises" and "proportional to sqrt(d / k)" mean here; ours.
SMALL_ERROR, FACTOR = 0.01, 1.5
# Larger noise than this is drawn, but the claim is not about it.
SMALL_SIGMA = 0.1


def panels(x: str, heading: str, scale: Scale) -> Callable[[Sequence[Row]], tuple[Panel, ...]]:
    """Flip over sqrt(d), and test error, against one parameter; one colour for each classifier."""

    def made(rows: Sequence[Row]) -> tuple[Panel, ...]:
        titles = {x: heading, "classifier": "Classifier", "low": "95 % from", "high": "95 % to", "seeds": "Seeds"}
        return (
            Panel(
                title=f"Size of the multiple of z that flips {100 * SHARE:g} % of fresh points",
                description=(
                    "Norm of the multiple of z = Σ yᵠμᵠ, subtracted from positive and added to negative points, that "
                    f"flips {100 * SHARE:g} % of them, in units of √d; mean and 95 % interval over the seeds."
                ),
                rows=means(rows, (x, "classifier"), "flip_over_root_d"),
                x=x,
                y="flip_over_root_d",
                low="low",
                high="high",
                series="classifier",
                variant="classifier",  # two pairs of curves coincide: dashes show both
                titles={**titles, "flip_over_root_d": "Perturbation size / √d"},
                x_scale=scale,
            ),
            Panel(
                title="Test error",
                description="Share of fresh points that are misclassified; mean and 95 % interval over the seeds.",
                rows=means(rows, (x, "classifier"), "error"),
                x=x,
                y="error",
                low="low",
                high="high",
                series="classifier",
                variant="classifier",
                titles={**titles, "error": "Test error"},
                x_scale=scale,
            ),
        )

    return made


def judge(rows: Sequence[Row]) -> Outcome:
    """KKT networks err rarely and flip at about sqrt(d / k); the robust network exists and flips farther."""
    small = [row for row in rows if row["sigma"] is None or number(row, "sigma") <= SMALL_SIGMA]
    kkt, robust = where(small, classifier="KKT network"), where(small, classifier="robust network")
    scaled = [number(row, "flip_over_root_d") * math.sqrt(number(row, "clusters")) for row in kkt]
    most = max(column(small, "clusters"))
    ratio = Mean.of(
        b / a
        for a, b in zip(
            column(where(kkt, clusters=most), "flip_over_root_d"),
            column(where(robust, clusters=most), "flip_over_root_d"),
            strict=True,
        )
    )
    findings = [
        Finding(
            name="share of KKT networks that are exact",
            value=sum(bool(row["exact"]) for row in kkt) / len(kkt),
            relation="==",
            bound=1.0,
        ),
        Finding.about("test error of the KKT networks", Mean.of(column(kkt, "error")), "<=", SMALL_ERROR),
        Finding.about("test error of the robust networks", Mean.of(column(robust, "error")), "<=", SMALL_ERROR),
        Finding(name="largest flip · √(k/d) of a KKT network", value=max(scaled), relation="<=", bound=FACTOR),
        Finding.about(f"flip of the robust over that of the KKT network, k = {most:g}", ratio, ">=", 2.0),
    ]
    counts = sorted({number(row, "clusters") for row in kkt})
    remarks = []
    if len(counts) > 2:
        sizes = [Mean.of(column(where(kkt, clusters=k), "flip_over_root_d")).value for k in counts]
        slope = float(np.polyfit(np.log(counts), np.log(sizes), 1)[0])
        findings += [
            Finding(name="exponent of the flip in k", value=slope, relation="<=", bound=-0.4),
            Finding(name="exponent of the flip in k", value=slope, relation=">=", bound=-0.6),
        ]
    for classifier in values(small, "classifier"):
        flips = column(where(small, classifier=classifier), "flip_over_root_d")
        remarks.append(f"{classifier}: flips of {min(flips):.3g} to {max(flips):.3g} √d.")
    return Outcome(findings=tuple(findings), remarks=tuple(remarks))


def _figure(
    name: str, x: str, heading: str, scale: Scale, title: str, claim: str, sizes: Mapping[Size, Grid]
) -> Figure:
    return Figure(
        id=f"FVBS23/{name}.ours",
        title=title,
        claim=claim,
        cell=cluster_run,
        panels=panels(x, heading, scale),
        judge=judge,
        sizes=sizes,
        hours=hours,
        deviations=(
            "The paper has no experiments. Orthogonal means, four samples of each cluster; the linear classifier has "
            "maximal margin without bias, 1-NN is flipped along the same z, exactly."
        ),
    )


BY_CLUSTERS = _figure(
    "Clusters",
    "clusters",
    "Clusters k",
    "log",
    "test error and flip of four classifiers against the number of clusters",
    "KKT networks generalise, but a multiple of z of size about √(d/k) flips them, while a robust network exists.",
    {
        "smoke": Grid(cells=product(classifier=CLASSIFIERS, clusters=(4, 9, 16), dimension=(120,), test_points=(100,))),
        "laptop": Grid(cells=product(classifier=CLASSIFIERS, clusters=(2, 4, 8, 16, 32), dimension=(1000,)), seeds=5),
        "paper": Grid(
            cells=product(classifier=CLASSIFIERS, clusters=(2, 4, 8, 16, 32, 64, 128), dimension=(20_000,)), seeds=10
        ),
    },
)
BY_DIMENSION = _figure(
    "Dimension",
    "dimension",
    "Dimension d",
    "log",
    "test error and flip of four classifiers against the dimension",
    "In every dimension KKT networks generalise and flip at about √(d/k), while a robust network flips at a multiple.",
    {
        "smoke": Grid(cells=product(classifier=CLASSIFIERS, dimension=(60, 120), clusters=(10,), test_points=(100,))),
        "laptop": Grid(cells=product(classifier=CLASSIFIERS, dimension=(50, 100, 200, 400, 800, 1600)), seeds=5),
        "paper": Grid(
            cells=product(classifier=CLASSIFIERS, dimension=(100, 400, 1600, 6400, 25_600), clusters=(20,)), seeds=10
        ),
    },
)
BY_NOISE = _figure(
    "Noise",
    "sigma",
    "Noise σ per coordinate",
    "log",
    "test error and flip of four classifiers against the noise within clusters",
    "For small noise KKT networks generalise and flip at about √(d/k), while a robust network flips at a multiple.",
    {
        "smoke": Grid(
            cells=product(
                classifier=CLASSIFIERS, sigma=(0.01, 0.1), dimension=(100,), clusters=(10,), test_points=(100,)
            )
        ),
        "laptop": Grid(cells=product(classifier=CLASSIFIERS, sigma=(0.01, 0.03, 0.1, 0.3, 1.0)), seeds=5),
        "paper": Grid(
            cells=product(
                classifier=CLASSIFIERS, sigma=(0.001, 0.01, 0.03, 0.1, 0.3, 1.0), dimension=(5000,), clusters=(20,)
            ),
            seeds=10,
        ),
    },
)
