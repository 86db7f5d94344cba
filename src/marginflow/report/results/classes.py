"""What a page says of the audit of a classifier with more than two classes, and of a bracket."""

import math

from marginflow.display import capitalised, shortest_sentence
from marginflow.report.charts import strips
from marginflow.report.content import Table, text_of
from marginflow.report.page import Section
from marginflow.report.results.audits import how_read, noticed, vector_charts
from marginflow.report.results.robustness import accuracy_chart, distance_chart, settled
from marginflow.report.results.summary import Fields, Summary


def classes_audit(record: Fields) -> Summary:
    """An audit of K classes as `marginflow audit` writes it."""
    vector, distances = _universal(record), _radii(record)
    # One vector that changes every sample is the picture to begin with; where there is none, the distances are.
    first = (vector, *distances) if vector.content else (*distances, vector)
    return Summary(
        sentence=str(record.get("headline", record["verdict"])),
        remark=str(record.get("standing", "")),
        tone="holds" if record["holds"] else "open",
        sections=(*first, *noticed(record), _margins(record), _kkt(record), *how_read(record)),
    )


def _universal(record: Fields) -> Section:
    found, n = record.object("universal"), text_of(record["samples"])
    upper, samples, does = found.number("upper"), int(record.number("samples")), "changes the class of"
    said = shortest_sentence(upper, found.number("lower"), samples=samples, does=does, how="added to every sample")
    sentence = f"{capitalised(said)}."
    if not math.isfinite(upper):
        return Section.of("One vector for all samples", sentence)
    rows = [
        {"norm": size, "share": share}
        for size, share in zip(found.numbers("sizes"), found.numbers("shares"), strict=True)
    ]
    examples = [
        {
            "values": example.numbers("values"),
            "sign": 1.0,
            "before": f"class {text_of(example['label'])}",
            "after": f"read as {text_of(example['after'])}",
        }
        for example in (record.objects("examples") if "examples" in record else [])
    ]
    drawn = vector_charts(found, rows, examples, does=f"changes all {n}", verb="changed", title="changes")
    return Section.of("One vector changes them all", sentence, *drawn)


def _radii(record: Fields) -> list[Section]:
    found = record.objects("radii")
    if not found:
        return []
    accuracy = accuracy_chart(
        record.objects("curve"),
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
        folded=True,
    )
    words = (
        f"{settled(found)} distances are exact: every other class is proved to be farther, or exactly there, and every "
        "proof was checked by code that knows nothing of the search."
    )
    heading = "How far the samples are from another class"
    return [Section.of(heading, words, accuracy, spread, table)]


def _kkt(record: Fields) -> Section:
    if record["kkt"] is None:
        return Section.of("Near a KKT point?", f"{record['reason']}.")
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
    return Section.of("Near a KKT point?", wrong, table)


def _margins(record: Fields) -> Section:
    margins = record.numbers("margins")
    rows: list[dict[str, object]] = [
        {"margin": margin, "label": text_of(label)}
        for label, margin in sorted(zip(record.numbers("labels"), margins, strict=True))
    ]
    chart = strips(
        rows,
        value="margin",
        category="label",
        titles={"margin": "Own logit minus the largest other one", "label": "Class"},
        title="Margins",
        description=(
            f"Every sample as a stroke in the line of its class; the smallest margin is {text_of(min(margins))}, the "
            f"largest {text_of(max(margins))}, and what is below 0 is wrong."
        ),
    )
    return Section.of("Margins of the samples", chart)
