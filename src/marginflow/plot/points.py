"""A KKT point, or the certificate of any network, in a notebook: residuals, margins and multipliers."""

from collections.abc import Sequence

from marginflow.plot.results import Showing, endless
from marginflow.report.chart import Chart
from marginflow.report.results.certificates import RESIDUALS, sample_charts
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(result: Fields) -> Showing:
    """The residuals and the sizes of what remains."""
    found = result.object("certificate") if "certificate" in result else result
    n = found["n_samples"]
    rows: list[tuple[object, ...]] = [
        ("Samples on the margin", f"{found['on_margin']} of {n}"),
        ("Samples with a multiplier", f"{found['support_size']} of {n}"),
        ("Neurons that are not zero", f"{found['live_neurons']} of {found['width']}"),
        ("Sample and neuron on a kink", found["kinks"]["count"]),
    ]
    if "certificate" in result:
        rows.append(("Neurons that differ", result["live_neurons"]))
    return framed(result, found, rows)


def framed(result: Fields, found: Fields, rows: Sequence[tuple[object, ...]]) -> Showing:
    """The residuals of a certificate and what its rows say, under the status of its point or what it says by itself."""
    named: list[tuple[object, ...]] = [(name, endless(found[key])) for key, name in RESIDUALS.items()]
    named += [("‖θ‖² at margin 1", found["norm_squared"]), *rows]
    sentence = f"{'a KKT point' if found['holds'] else 'not a KKT point'}, residual {endless(result['residual']):.1e}."
    if result is not found:
        sentence = result["status"]
        named.append(("Seconds", result["seconds"]))
    return Showing(sentence=sentence, table=Table(columns=("", ""), rows=tuple(named), caption="The certificate"))


def charts(result: Fields) -> list[Chart]:
    """Margins, and multipliers against margins."""
    return sample_charts(result.object("certificate") if "certificate" in result else result)
