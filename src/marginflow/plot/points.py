"""A KKT point, or the certificate of any network, in a notebook: residuals, margins and multipliers."""

from collections.abc import Sequence

from marginflow.certificates import Certificate, ClassifierKKT
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
    return framed(found, rows, result.status if isinstance(result, Limit) else None)


def framed(found: Certificate | ClassifierKKT, rows: Sequence[tuple[object, ...]], status: str | None) -> Showing:
    """The rows of a certificate under a sentence: the status of what it belongs to, or what it says by itself."""
    sentence = f"{'a KKT point' if found.holds() else 'not a KKT point'}, residual {found.residual:.1e}."
    table = Table(columns=("", ""), rows=tuple(rows), caption="The certificate")
    return Showing(sentence=sentence if status is None else status, table=table)


def charts(result: Limit | Certificate) -> list[Chart]:
    """Margins, and multipliers against margins."""
    found = result.certificate if isinstance(result, Limit) else result
    return sample_charts(Fields(found.to_dict(arrays=True)))
