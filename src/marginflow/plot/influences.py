"""Exact leave-one-out in a notebook: which samples the others would get wrong."""

import numpy as np

from marginflow.influences import Influence
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import points
from marginflow.report.table import Table


def showing(influence: Influence) -> Showing:
    """The groups that matter most, first."""
    rows = tuple(
        (
            ", ".join(map(str, influence.groups[group][:6].tolist())),
            float(np.nanmin(influence.margins[influence.groups[group]])),
            float(influence.drops[group]),
            influence.ways[group],
            float(influence.residuals[group]),
        )
        for group in influence.rank()
    )
    what = "Added" if influence.added else "Left out"
    columns = (what, "Its margin then", "Drop of ‖θ‖²", "How", "Residual")
    return Showing(
        sentence=f"{influence.sentence}.", table=Table(columns=columns, rows=rows, caption="What each sample did")
    )


def charts(influence: Influence) -> list[Chart]:
    """The margin of each sample at the point without it, against its multiplier; below 0 it is wrong then."""
    rows: list[dict[str, object]] = [
        {
            "sample": int(sample),
            "margin": float(influence.margins[sample]),
            "multiplier": float(influence.multipliers[sample]) if sample < influence.multipliers.size else None,
            "verdict": "right" if influence.margins[sample] > 0 else "wrong",
        }
        for group in influence.groups
        for sample in group
    ]
    if influence.added:
        return []
    return [
        points(
            rows,
            x="multiplier",
            y="margin",
            series="verdict",
            titles={
                "multiplier": "Multiplier with all samples",
                "margin": "Margin at the point without it",
                "verdict": "Without it",
                "sample": "Sample",
            },
            title="Every sample, judged by the point without it",
            description="Exact margins of left-out samples; below 0 the others get the sample wrong.",
        )
    ]
