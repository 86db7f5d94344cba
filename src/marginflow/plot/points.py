"""A KKT point, or the certificate of any network, in a notebook: residuals, margins and multipliers."""

from __future__ import annotations

from marginflow.certificates import Certificate
from marginflow.limit import Limit
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.certificates import RESIDUALS, sample_charts
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(result: Limit | Certificate) -> Showing:
    """The residuals and the sizes of what remains."""
    found = result.certificate if isinstance(result, Limit) else result
    n, k = found.clarke.shape
    rows: list[tuple[object, ...]] = [(name, getattr(found, key)) for key, name in RESIDUALS.items()]
    rows += [
        ("‖θ‖² at margin 1", found.norm_squared),
        ("Samples on the margin", f"{int(found.margin_set.sum())} of {n}"),
        ("Samples with a multiplier", f"{int(found.support.sum())} of {n}"),
        ("Neurons that are not zero", f"{int(found.live.sum())} of {k}"),
        ("Sample and neuron on a kink", found.kink_report.count),
    ]
    if isinstance(result, Limit):
        rows += [("Neurons that differ", result.compact.width), ("Seconds", result.seconds)]
        sentence = result.status
    else:
        sentence = f"{'a KKT point' if found.holds() else 'not a KKT point'}, residual {found.residual:.1e}."
    return Showing(sentence=sentence, table=Table(columns=("", ""), rows=tuple(rows), caption="The certificate"))


def charts(result: Limit | Certificate) -> list[Chart]:
    """Margins, and multipliers against margins."""
    found = result.certificate if isinstance(result, Limit) else result
    return sample_charts(Fields(found.to_dict(arrays=True)))
