"""Exact leave-one-out in a notebook: which samples the others would get wrong."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import points
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(influence: Fields) -> Showing:
    """The groups that matter most, first."""
    margins, groups = influence["margins"], influence["groups"]
    rows = tuple(
        (
            ", ".join(map(str, groups[group][:6])),
            min((margins[sample] for sample in groups[group] if margins[sample] is not None), default=None),
            *(influence[name][group] for name in ("drops", "ways", "residuals")),
        )
        for group in influence["rank"]
    )
    what = "Added" if influence["added"] else "Left out"
    columns = (what, "Its margin then", "Drop of ‖θ‖²", "How", "Residual")
    return Showing(
        sentence=f"{influence['sentence']}.", table=Table(columns=columns, rows=rows, caption="What each sample did")
    )


def charts(influence: Fields) -> list[Chart]:
    """The margin of each sample at the point without it, against its multiplier; below 0 it is wrong then."""
    if influence["added"]:
        return []
    margins, multipliers = influence["margins"], influence["multipliers"]
    rows: list[dict[str, object]] = [
        {
            "sample": sample,
            "margin": margins[sample],
            "multiplier": multipliers[sample],
            "verdict": "right" if (margins[sample] or 0.0) > 0 else "wrong",
        }
        for group in influence["groups"]
        for sample in group
    ]
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
