"""What a page says of the audit of a classifier with more than two classes, and of a bracket."""

from __future__ import annotations

import math

from marginflow.report.charts import histogram, lines, points
from marginflow.report.page import Section
from marginflow.report.results.summary import (
    Record,
    Summary,
    number_under,
    numbers_under,
    object_under,
    table_of_objects,
)
from marginflow.report.table import Table, text_of


def classes_audit(record: Record) -> Summary:
    """An audit of K classes as `marginflow audit` writes it."""
    sections = [_universal(record)]
    remarks = record.get("remarks")
    if isinstance(remarks, list) and remarks:
        sections.append(Section(heading="How the network was read", paragraphs=tuple(map(str, remarks))))
    if table_of_objects(record, "radii"):
        sections.append(_radii(record))
    sections += [_kkt(record), _margins(record)]
    return Summary(
        sentence=str(record["verdict"]), tone="holds" if record["holds"] else "open", sections=tuple(sections)
    )


def _universal(record: Record) -> Section:
    found, n = object_under(record, "universal"), text_of(record["samples"])
    upper, lower = found["upper"], text_of(found["lower"])
    if upper is None or not math.isfinite(number_under(found, "upper")):
        sentence = f"No vector was found that changes the class of all {n} samples; none shorter than {lower} does."
        return Section(heading="One vector for all samples", paragraphs=(sentence,))
    sentence = (
        f"One vector of norm {text_of(upper)}, added to every sample, changes the class of all {n}; none shorter than "
        f"{lower} does."
    )
    rows: list[dict[str, object]] = [
        {"size": size, "share": share}
        for size, share in zip(numbers_under(found, "sizes"), numbers_under(found, "shares"), strict=True)
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


def _radii(record: Record) -> Section:
    found = table_of_objects(record, "radii")
    settled = sum(bool(row["settled"]) for row in found)
    stairs: list[dict[str, object]] = []
    for row in table_of_objects(record, "curve"):
        if stairs:
            stairs.append({"size": row["epsilon"], "share": stairs[-1]["share"]})
        stairs.append({"size": row["epsilon"], "share": row["certified"]})
    accuracy = lines(
        stairs,
        x="size",
        y="share",
        titles={"size": "Length of any perturbation", "share": "Share right and at least so far away"},
        title="Certified accuracy",
        description="The share of the samples drawn that are right and that no perturbation of this length changes.",
    )
    spread = points(
        found,
        x="sample",
        y="upper",
        series="status",
        titles={"sample": "Sample", "upper": "Distance to the boundary", "lower": "At least", "status": "Status"},
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
    return Section(
        heading="How far the samples are from another class",
        paragraphs=(
            f"{settled} of {len(found)} distances are exact: every other class is proved to be farther, or exactly "
            "there, and every proof was checked by code that knows nothing of the search.",
        ),
        content=(accuracy, spread, table),
    )


def _kkt(record: Record) -> Section:
    if record["kkt"] is None:
        return Section(heading="Near a KKT point?", paragraphs=(f"{record['reason']}.",))
    c = object_under(record, "kkt")
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


def _margins(record: Record) -> Section:
    margins = numbers_under(record, "margins")
    rows: list[dict[str, object]] = [
        {"margin": margin, "label": text_of(label)}
        for margin, label in zip(margins, numbers_under(record, "labels"), strict=True)
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
