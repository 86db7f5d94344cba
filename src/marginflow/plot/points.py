"""A KKT point, or the certificate of any network, in a notebook: residuals, margins and multipliers."""

from marginflow.plot.results import Showing, endless
from marginflow.report.charts import strips
from marginflow.report.content import Chart
from marginflow.report.results.certificates import RESIDUALS, sample_charts
from marginflow.report.results.summary import Fields


def point(result: Fields) -> Showing:
    """The residuals and the sizes of what remains, under the status of the point or what the certificate says."""
    found = _certificate(result)
    rows: list[tuple[object, ...]] = [(name, endless(found[key])) for key, name in RESIDUALS.items()]
    rows += [("‖θ‖² at margin 1", found["norm_squared"]), *(_of_classes if "n_classes" in found else _of_signs)(found)]
    sentence = f"{'a KKT point' if found['holds'] else 'not a KKT point'}, residual {endless(result['residual']):.1e}."
    if "certificate" in result:
        sentence = result["status"]
        if "live_neurons" in result:
            rows.append(("Neurons that differ", result["live_neurons"]))
        rows.append(("Seconds", result["seconds"]))
    return Showing.of(sentence, rows, caption="The certificate")


def _certificate(result: Fields) -> Fields:
    return result.object("certificate") if "certificate" in result else result


def _of_signs(found: Fields) -> list[tuple[object, ...]]:
    n = found["n_samples"]
    return [
        ("Samples on the margin", f"{found['on_margin']} of {n}"),
        ("Samples with a multiplier", f"{found['support_size']} of {n}"),
        ("Neurons that are not zero", f"{found['live_neurons']} of {found['width']}"),
        ("Sample and neuron on a kink", found["kinks"]["count"]),
    ]


def _of_classes(found: Fields) -> list[tuple[object, ...]]:
    held = sum(any(weight > 0 for weight in row) for row in found["multipliers"])
    return [
        ("Classes", found["n_classes"]),
        ("Neurons", found["width"]),
        ("Samples with a multiplier", f"{held} of {found['n_samples']}"),
        ("Pairs of sample and rival with one", found["active_pairs"]),
        ("Sample and neuron on a kink", found["kink_count"]),
    ]


def point_charts(result: Fields) -> list[Chart]:
    """Margins, and multipliers against margins; of more than two classes the margin to the nearest rival by class."""
    found = _certificate(result)
    if "n_classes" not in found:
        return sample_charts(found)
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
