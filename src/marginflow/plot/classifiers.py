"""A KKT point of K classes, or the certificate of any classifier, in a notebook: residuals and margins by class."""

from marginflow.plot.points import framed
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import strips
from marginflow.report.results.summary import Fields


def showing(result: Fields) -> Showing:
    """The residuals and the sizes of what remains."""
    found = result.object("certificate") if "certificate" in result else result
    held = sum(any(weight > 0 for weight in row) for row in found["multipliers"])
    rows: list[tuple[object, ...]] = [
        ("Classes", found["n_classes"]),
        ("Neurons", found["width"]),
        ("Samples with a multiplier", f"{held} of {found['n_samples']}"),
        ("Pairs of sample and rival with one", found["active_pairs"]),
        ("Sample and neuron on a kink", found["kink_count"]),
    ]
    return framed(result, found, rows)


def charts(result: Fields) -> list[Chart]:
    """The margin of every sample to its nearest rival, class by class."""
    found = result.object("certificate") if "certificate" in result else result
    # The margin of a class to itself is none and stands as nothing.
    margins = [(row.index(None), min(value for value in row if value is not None)) for row in found["margins"]]
    return [
        strips(
            [{"margin": margin, "label": str(label)} for label, margin in sorted(margins)],
            value="margin",
            category="label",
            titles={"margin": "Margin to the nearest class, smallest one 1", "label": "Class"},
            title="Margins",
            description="Every sample as a stroke in the line of its class.",
        )
    ]
