"""A KKT point of K classes, or the certificate of any classifier, in a notebook: residuals and margins by class."""

import numpy as np

from marginflow.certificates import ClassifierKKT
from marginflow.limit import ClassesLimit
from marginflow.plot.points import framed
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import strips
from marginflow.report.results.certificates import RESIDUALS


def showing(result: ClassesLimit | ClassifierKKT) -> Showing:
    """The residuals and the sizes of what remains."""
    found = result.certificate if isinstance(result, ClassesLimit) else result
    n, K = found.margins.shape
    active = found.multipliers > 0
    rows: list[tuple[object, ...]] = [(name, getattr(found, key)) for key, name in RESIDUALS.items()]
    rows += [
        ("‖θ‖² at margin 1", found.network.norm_squared()),
        ("Classes", K),
        ("Neurons", found.network.width),
        ("Samples with a multiplier", f"{int(active.any(axis=1).sum())} of {n}"),
        ("Pairs of sample and rival with one", int(active.sum())),
        ("Sample and neuron on a kink", int(found.kinks.sum())),
    ]
    if isinstance(result, ClassesLimit):
        rows.append(("Seconds", result.seconds))
    return framed(found, rows, result.status if isinstance(result, ClassesLimit) else None)


def charts(result: ClassesLimit | ClassifierKKT) -> list[Chart]:
    """The margin of every sample to its nearest rival, class by class."""
    found = result.certificate if isinstance(result, ClassesLimit) else result
    own = np.isinf(found.margins).argmax(axis=1)  # f_y - f_y is no margin and stands as infinite
    rows = [
        {"margin": float(margin), "label": str(label)}
        for label, margin in sorted(zip(own.tolist(), found.margins.min(axis=1).tolist(), strict=True))
    ]
    return [
        strips(
            rows,
            value="margin",
            category="label",
            titles={"margin": "Margin to the nearest class, smallest one 1", "label": "Class"},
            title="Margins",
            description="Every sample as a stroke in the line of its class.",
        )
    ]
