"""Robustness curves on one chart: what is exact, what attacks flip, what no bound excludes."""

from collections.abc import Sequence

from marginflow.errors import InputError
from marginflow.report.charts import lines, stairs
from marginflow.report.content import Chart
from marginflow.report.encodings import Row

TITLES = {"relative_size": "‖δ‖ / √d", "share": "Share of points flipped", "series": "Curve"}
_SENSES = {"exact": "exact", "attack": "attack, at least", "bound": "bound, at most"}


def robustness_curve_chart(rows: Sequence[Row], *, title: str = "Robustness curves") -> Chart:
    """Stairs of the share of points flipped against ||delta|| / sqrt(d), one for each curve.

    Parameters
    ----------
    rows : sequence of mappings
        Of `RobustnessCurve.rows`, for all curves one after the other: "curve", "kind", "relative_size", "share".
    title : str
        Heading of the chart.

    Returns
    -------
    Chart
        Every curve is drawn to the largest size that occurs; its name says whether the share is exact, at least or
        at most this.
    """
    if not rows:
        raise InputError("There are no rows; those of at least one robustness curve are expected.")
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        missing = [column for column in ("curve", "kind", "relative_size", "share") if column not in row]
        if missing or row["kind"] not in _SENSES:
            raise InputError(f"A row of a robustness curve has kind {row.get('kind')!r} and lacks {missing}.")
        name, sense = str(row["curve"]), _SENSES[str(row["kind"])]
        series = name if name == sense else f"{name} ({sense})"
        curves.setdefault(series, []).append((float(str(row["relative_size"])), float(str(row["share"]))))
    end = max(size for steps in curves.values() for size, _ in steps)
    drawn = [
        {"series": series, "relative_size": size, "share": share}
        for series, steps in curves.items()
        for size, share in [*stairs(sorted(steps)), (end, max(steps)[1])]
    ]
    return lines(
        drawn,
        x="relative_size",
        y="share",
        series="series",
        titles=TITLES,
        title=title,
        description=(
            f"Share of points flipped by perturbations of a given length, as stairs: {', '.join(curves)}. "
            "Attacks lie below the exact curve, bounds above it; where they meet, the share is known."
        ),
    )
