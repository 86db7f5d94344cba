"""What the remarks of [VYS22, section 6] have in common: two variants of the same runs, said to be similar."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from marginflow.experiments.outcome import Finding, Mean, Outcome, column, means, values, where
from marginflow.experiments.panel import Panel, Row

# "Similar results" is not a number in the paper; this relative difference of the mean flips is ours.
SIMILAR = 0.25


def flip_panels(by: str, heading: str, title: str) -> Callable[[Sequence[Row]], tuple[Panel, ...]]:
    """Flip over the norm of the inputs against d, one colour for each variant, one dash for each sample size."""

    def panels(rows: Sequence[Row]) -> tuple[Panel, ...]:
        named = [{**row, "size": f"m = d^{row['alpha']:g}"} for row in rows]
        return (
            Panel(
                title=title,
                description=(
                    "Size of the multiple of Σ yᵢxᵢ that flips every sample on the margin, relative to the norm of the "
                    "inputs, against the dimension; mean and 95 % interval over the seeds."
                ),
                rows=means(named, ("dimension", by, "size"), "flip_over_radius"),
                x="dimension",
                y="flip_over_radius",
                low="low",
                high="high",
                series=by,
                variant="size",
                titles={
                    "dimension": "Dimension d",
                    by: heading,
                    "size": "Samples",
                    "flip_over_radius": "Perturbation size / norm of the inputs",
                    "low": "95 % from",
                    "high": "95 % to",
                    "seeds": "Seeds",
                },
            ),
        )

    return panels


def similar(by: str, bound: float = SIMILAR) -> Callable[[Sequence[Row]], Outcome]:
    """The flips of every variant are close to those of the first on the same draws; all samples are correct."""

    def judge(rows: Sequence[Row]) -> Outcome:
        findings, base = [fitted(rows)], values(rows, by)[0]
        for variant in values(rows, by):
            for alpha in values(rows, "alpha"):
                if variant == base:
                    continue
                own, others = (where(rows, **{by: word, "alpha": alpha}) for word in (variant, base))
                flips, standard = (column(some, "flip_over_radius") for some in (own, others))
                middle = Mean.of(standard).value
                change = Mean.of([(a - b) / middle for a, b in zip(flips, standard, strict=True)])
                name = f"relative difference of the flip, {variant} against {base}, m = d^{alpha:g}"
                size = abs(change.value)
                sign = 1.0 if change.value >= 0 else -1.0
                bounds = sorted((sign * change.low, sign * change.high))
                many = change.count > 1
                findings.append(
                    Finding(
                        name=name,
                        value=size,
                        relation="<=",
                        bound=bound,
                        low=bounds[0] if many else None,
                        high=bounds[1] if many else None,
                    )
                )
        return Outcome(findings=tuple(findings))

    return judge


def fitted(rows: Sequence[Row]) -> Finding:
    """Every run ended with all samples correct."""
    share = sum(bool(row["separated"]) for row in rows) / len(rows)
    name = "share of runs that ended with every sample correct"
    return Finding(name=name, value=share, relation="==", bound=1.0)
