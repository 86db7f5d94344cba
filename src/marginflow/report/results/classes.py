"""What a page says of the audit of a classifier with more than two classes, and of a bracket."""

from __future__ import annotations

import math

from marginflow.report.charts import histogram, lines
from marginflow.report.page import Section
from marginflow.report.results.audits import how_read
from marginflow.report.results.robustness import accuracy_chart, distance_chart, settled
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.table import Table, text_of


def classes_audit(record: Fields) -> Summary:
    """An audit of K classes as `marginflow audit` writes it."""
    sections = (_universal(record), *how_read(record), *_radii(record), _kkt(record), _margins(record))
    return Summary(sentence=str(record["verdict"]), tone="holds" if record["holds"] else "open", sections=sections)


def _universal(record: Fields) -> Section:
    found, n = record.object("universal"), text_of(record["samples"])
    upper, lower = found["upper"], text_of(found["lower"])
    if upper is None or not math.isfinite(found.number("upper")):
        sentence = f"No vector was found that changes the class of all {n} samples; none shorter than {lower} does."
        return Section(heading="One vector for all samples", paragraphs=(sentence,))
    sentence = (
        f"One vector of norm {text_of(upper)}, added to every sample, changes the class of all {n}; none shorter than "
        f"{lower} does."
    )
    rows: list[dict[str, object]] = [
        {"size": size, "share": share}
        for size, share in zip(found.numbers("sizes"), found.numbers("shares"), strict=True)
    ]
    chart = lines(
        rows,
        x="size",
        y="share",
        titles={"size": "Length of the multiple of the vector", "share": "Share of samples with another class"},
        title="Share changed against its size",
        description="The share of all samples that a multiple of the vector gives another class.",
    )
    return Section(heading="One vector for all samples", paragraphs=(sentence,), content=(chart,))


def _radii(record: Fields) -> list[Section]:
    found = record.objects("radii")
    if not found:
        return []
    accuracy = accuracy_chart(
        [(row["epsilon"], row["certified"]) for row in record.objects("curve")],
        share="Share right and at least so far away",
        description="The share of the samples drawn that are right and that no perturbation of this length changes.",
    )
    spread = distance_chart(
        found,
        title="Distance to the nearest other class",
        description="Every sample that was drawn, at the distance of the nearest point with another class.",
    )
    table = Table.of(
        found,
        columns={
            "sample": "Sample",
            "label": "Class",
            "rival": "Nearest class",
            "lower": "At least",
            "upper": "At most",
        },
        caption="Distances, and the class that is nearest",
    )
    words = (
        f"{settled(found)} distances are exact: every other class is proved to be farther, or exactly there, and every "
        "proof was checked by code that knows nothing of the search."
    )
    heading = "How far the samples are from another class"
    return [Section(heading=heading, paragraphs=(words,), content=(accuracy, spread, table))]


def _kkt(record: Fields) -> Section:
    if record["kkt"] is None:
        return Section(heading="Near a KKT point?", paragraphs=(f"{record['reason']}.",))
    c = record.object("kkt")
    rows = (
        ("Stationarity residual", c["stationarity"]),
        ("Complementarity residual", c["complementarity"]),
        ("Feasibility residual", c["feasibility"]),
        ("Pairs (sample, other class) with a multiplier", c["active_pairs"]),
        ("Samples on a kink of a neuron", c["kinks"]),
        (f"KKT conditions hold at {text_of(record['tolerance'])}", record["holds"]),
    )
    table = Table(columns=("Of the multi-class max-margin problem", ""), rows=rows, caption="The certificate")
    wrong = f"{text_of(record['wrong'])} of {text_of(record['samples'])} samples have another class than their own."
    return Section(heading="Near a KKT point?", paragraphs=(wrong,), content=(table,))


def _margins(record: Fields) -> Section:
    margins = record.numbers("margins")
    rows: list[dict[str, object]] = [
        {"margin": margin, "label": text_of(label)}
        for margin, label in zip(margins, record.numbers("labels"), strict=True)
    ]
    chart = histogram(
        rows,
        value="margin",
        series="label",
        titles={"margin": "Own logit minus the largest other one", "label": "Class"},
        title="Margins",
        description=f"The smallest margin is {text_of(min(margins))}, the largest {text_of(max(margins))}.",
    )
    return Section(heading="Margins of the samples", content=(chart,))
