"""What a page says of an audit and of a sweep."""

import math
from dataclasses import replace

from marginflow.display import capitalised, none_shorter, shortest_sentence
from marginflow.report.charts import histogram
from marginflow.report.content import Chart, Table, text_of
from marginflow.report.images import image_chart, image_sums, square_side
from marginflow.report.page import Section, Tone
from marginflow.report.results.certificates import residual_chart
from marginflow.report.results.plain import natural_axes, row_section
from marginflow.report.results.robustness import curve_rows, distance_charts, settled
from marginflow.report.results.summary import Fields, Rows, Summary
from marginflow.report.universal_chart import universal_chart


def audit(record: Fields) -> Summary:
    """An audit as `marginflow audit` writes it."""
    sections = (_flips(record), *_radii(record), *noticed(record), _where(record), _margins(record))
    contradicted, holds = bool(record["contradicted"]), bool(record["holds"])
    return Summary(
        sentence=str(record["headline"]),
        remark=str(record["standing"]),
        tone="violated" if contradicted else "holds" if holds else "open",
        sections=(*sections, _statements(record), *how_read(record)),
    )


def how_read(record: Fields) -> list[Section]:
    """What was folded or assumed when the network was read, where there was something."""
    remarks = record.get("remarks")
    if not isinstance(remarks, list) or not remarks:
        return []
    return [Section.of("How the network was read", *map(str, remarks))]


def _where(record: Fields) -> Section:
    c, training = record.object("certificate"), record.object("training")
    paragraphs = (str(training["sentence"]), str(record["nearby"]))
    if c["status"] == "does not separate":
        wrong = f"{text_of(record['wrong'])} of {text_of(record['samples'])} samples are on the wrong side."
        return Section.of("Near a KKT point?", wrong, *paragraphs)
    rows = (
        ("Stationarity residual", c["stationarity"]),
        ("of it in the first layer (W, b)", c["hidden_stationarity"]),
        ("of it in the second layer (v)", c["output_stationarity"]),
        ("Complementarity residual", c["complementarity"]),
        ("Feasibility residual", c["feasibility"]),
        ("No multipliers reach a residual below", c["total_lower_bound"]),
        (f"KKT conditions hold at {text_of(record['tolerance'])}", record["holds"]),
        ("‖θ‖² at margin 1", c["norm_squared"]),
        ("Samples exactly on the margin", c["on_margin"]),
        ("Neurons that are active on a sample", c["live_neurons"]),
        ("Share of the parameters orthogonal to all samples", training["outside"]),
        ("Residual that training from the given start cannot get below", training["floor"]),
    )
    table = Table(
        columns=("How far from a KKT point", ""), rows=rows, caption="The certificate in numbers", folded=True
    )
    compared = [("yours", c)]
    if record["point"]:
        compared.append(("KKT point nearby", record.object("point").object("certificate")))
    residuals: list[dict[str, object]] = [
        {"network": name, "condition": condition, "residual": certificate[key]}
        for name, certificate in compared
        for condition, key in (
            ("First layer", "hidden_stationarity"),
            ("Second layer", "output_stationarity"),
            ("Complementarity", "complementarity"),
        )
    ]
    described = "Residual of each condition, on a logarithmic axis; farther left is better, zeros are not drawn."
    chart = residual_chart(residuals, network="Network", description=described)
    return Section.of("Near a KKT point?", *paragraphs, chart, table)


def _margins(record: Fields) -> Section:
    margins = record.numbers("margins")
    rows: list[dict[str, object]] = [
        {"margin": margin, "label": _side(record, y)}
        for margin, y in zip(margins, record.numbers("labels"), strict=True)
    ]
    scaled = record.object("certificate")["status"] != "does not separate"
    chart = histogram(
        rows,
        value="margin",
        series="label",
        titles={"margin": "Margin yᵢ N(xᵢ)" + (", smallest one scaled to 1" if scaled else ""), "label": "Label"},
        title="Margins",
        description=(
            f"How the margins are distributed; {text_of(record['wrong'])} of {text_of(record['samples'])} are on "
            f"the wrong side, the smallest margin is {text_of(min(margins))}, the largest {text_of(max(margins))}."
        ),
    )
    return Section.of("Margins of the samples", chart)


def _flips(record: Fields) -> Section:
    universal = record.object("universal")
    upper, lower = universal.number("upper"), universal.number("lower")
    how = f"subtracted from {_samples_of(record, 1.0)} and added to {_samples_of(record, -1.0)}"
    sentence = capitalised(shortest_sentence(upper, lower, samples=int(record.number("samples")), how=how))
    beside = f"The samples have norm {text_of(record['mean_norm'])} (root mean square)."
    directions = Table.of(
        record.objects("flips"),
        columns={"direction": "Direction", "half": "Flips 50 %", "nine_tenths": "Flips 90 %", "all": "Flips all"},
        caption="Directions of the papers: the norm that flips a share of the samples; a dash means never",
        folded=True,
    )
    return Section.of(
        "One vector flips them all" if math.isfinite(upper) else "One vector for all samples",
        f"{sentence}. {beside}",
        *_vector(record),
        directions,
    )


def _vector(record: Fields) -> list[Chart]:
    """The share that the vector flips against its norm, and the vector as an image where the samples are images."""
    universal, n = record.object("universal"), text_of(record["samples"])
    if not universal.get("curve"):
        return []
    examples = [
        {
            "values": example.numbers("values"),
            "sign": -example.number("label"),
            "before": f"label {class_name(record, example.number('label'))}",
            "after": f"read as {class_name(record, -example.number('label'))}",
        }
        for example in (record.objects("examples") if "examples" in record else [])
    ]
    curve = curve_rows("", universal.object("curve"))
    return vector_charts(universal, curve, examples, does=f"flips all {n}", verb="flipped", title="flips")


def vector_charts(universal: Fields, curve: Rows, examples: Rows, *, does: str, verb: str, title: str) -> list[Chart]:
    """What one vector does by its norm and, where samples are images, to an example of each class."""
    upper, heading = universal.number("upper"), f"How much one vector {title}"
    said = (f"norm {text_of(upper)} {does},", none_shorter(upper, universal.number("lower")))
    drawn = universal_chart(curve, size=upper, said=said, verb=verb, title=heading)
    sums = image_sums(examples, universal.numbers("vector"))
    return [drawn, sums] if sums is not None else [drawn]


def class_name(record: Fields, label: float) -> str:
    """What a label -1 or +1 was called in the data; with its sign where that was all."""
    names = _names(record)
    return text_of(names[int(label > 0)]) if names else f"{label:+.0f}".replace("-", "−")


def _names(record: Fields) -> list[object]:
    """The names of two classes, none where they are -1 and +1."""
    classes = record.get("classes")
    return classes if isinstance(classes, list) and len(classes) == 2 and classes != [-1, 1] else []


def _side(record: Fields, label: float) -> str:
    return class_name(record, label) if _names(record) else "positive" if label > 0 else "negative"


def _samples_of(record: Fields, label: float) -> str:
    side = _side(record, label)
    return f"samples of class {side}" if _names(record) else f"the {side} samples"


def _radii(record: Fields) -> list[Section]:
    found = record.objects("radii")
    words = (
        f"{settled(found)} distances are exact: every lower bound has a proof, and every proof was checked by code "
        "that knows nothing of the search."
    )
    heading = "How far the samples are from the boundary"
    return [Section.of(heading, words, *distance_charts(record))] if found else []


def noticed(record: Fields) -> list[Section]:
    """Samples worth a look one by one, as images where they are images."""
    found, tied = _telling(record.objects("noticed") if "noticed" in record else [])
    if not found:
        return []
    if _names(record):
        found = [Fields(row | {"label": class_name(record, row.number("label"))}) for row in found]
    titles = {
        "why": "Why",
        "sample": "Sample",
        "label": "Label",
        "margin": "Margin",
        "radius": "Distance to the boundary",
    }
    caption = "The most fragile samples, and those that look most mislabelled"
    table = Table.of(found, columns=titles, caption=caption)
    side = square_side(found)
    content: tuple[Table | Chart, ...] = (
        (image_chart(found, side), replace(table, caption=f"{caption}, in numbers", folded=True)) if side else (table,)
    )
    image = (f"The samples have {side} × {side} values and are drawn as images.",) if side else ()
    words = "A sample near the boundary is fragile; one with a small or negative margin may carry the wrong label."
    tie = ("Several samples tie for the least margin, so none of them stands out.",) if tied else ()
    return [Section.of("Samples worth a look", " ".join((*image, words, *tie)), *content)]


def _telling(noticed: list[Fields]) -> tuple[list[Fields], bool]:
    """Without the samples of least margin where they tie, as on the margin of a KKT point; and whether they do."""
    least = [row for row in noticed if row["why"] == "least margin"]
    margins = [row.number("margin") for row in least]
    tied = len(margins) > 1 and max(margins) - min(margins) <= _TIE * max(map(abs, margins))
    return [row for row in noticed if not (tied and row in least)], tied


_TIE = 1e-6  # relative, as for samples on the margin


def _statements(record: Fields) -> Section:
    found = record.objects("statements")
    applying = [row for row in found if not row["property"] and row["outcome"] != "not applicable"]
    silent = [row for row in found if not row["property"] and row["outcome"] == "not applicable"]
    properties = [
        row | {"outcome": "yes" if row["outcome"] == "holds" else "no"}
        for row in found
        if row["property"] and row["outcome"] in ("holds", "violated")
    ]
    said = {"id": "Statement", "outcome": "Outcome", "meaning": "What it says"}
    return Section.of(
        "Which theorems apply",
        f"{len(found)} statements of the papers need no more than a network and its data. {len(applying)} "
        f"theorems, lemmas and probes have hypotheses that are fulfilled here; {len(silent)} say nothing about "
        "this network, because a hypothesis fails.",
        Table.of(applying, columns=said, caption="Statements that apply"),
        Table.of(
            properties,
            columns=said,
            caption="What definitions, assumptions and constructions ask for",
            folded=True,
        ),
        Table.of(
            silent,
            columns={"id": "Statement", "reason": "Why"},
            caption=f"{len(silent)} statements that do not apply, and why",
            folded=True,
        ),
    )


def sweep(record: Fields) -> Summary:
    """A sweep as `marginflow sweep --json` writes it."""
    missing, failed = record.number("missing"), record.number("failed")
    sentence = (
        f"The sweep {record['name']} has {text_of(record['done'])} of {text_of(record['cells'])} cells; "
        f"{text_of(int(failed))} failed, {text_of(int(missing))} are missing."
    )
    tone: Tone = "holds" if not missing and not failed else "open"
    rows = record.objects("rows")
    x, y, series = natural_axes(rows)
    return Summary(sentence=sentence, tone=tone, sections=(row_section(rows, x=x, y=y, series=series),))
