"""What the page of an audit says, from what the audit found."""

from __future__ import annotations

import math
from collections.abc import Mapping

from marginflow.audits import Audit
from marginflow.cli.audit import point_sentence, training_sentence
from marginflow.report import Page, Section, Table, dots, histogram, shown

Row = dict[str, object]


def audit_page(found: Audit, *, parameters: Mapping[str, object], versions: Mapping[str, str], command: str) -> Page:
    """The page of an audit; its verdict comes first."""
    sections = [_where(found), _margins(found), _flips(found)]
    if found.radii:
        sections.append(_radii(found))
    return Page(
        title="Audit of a network",
        verdict=found.verdict,
        tone="holds" if found.is_kkt_point and not found.contradicted else "violated" if found.contradicted else "open",
        sections=(*sections, _statements(found)),
        parameters=parameters,
        versions=versions,
        command=command,
    )


def _where(found: Audit) -> Section:
    c = found.certificate
    rows: tuple[tuple[object, ...], ...] = (
        ("Stationarity residual", c.stationarity),
        ("of it in the first layer (W, b)", c.hidden_stationarity),
        ("of it in the second layer (v)", c.output_stationarity),
        ("Complementarity residual", c.complementarity),
        ("Feasibility residual", c.feasibility),
        ("No multipliers reach a residual below", c.total_lower_bound),
        (f"KKT conditions hold at {shown(found.tolerance)}", found.is_kkt_point),
        ("‖θ‖² at margin 1", c.norm_squared),
        ("Samples exactly on the margin", int(c.margin_set.sum())),
        ("Neurons that are active on a sample", int(c.live.sum())),
        ("Pairs (sample, neuron) on a kink", c.kink_report.count),
        ("Share of the parameters orthogonal to all samples", found.outside),
        ("Residual that training from the given start cannot get below", c.floor),
    )
    table = Table(columns=("How far from a KKT point", ""), rows=rows, caption="The certificate")
    paragraphs = (training_sentence(found), point_sentence(found))
    if c.status == "does not separate":
        return Section(heading="Near a KKT point?", paragraphs=(str(c), *paragraphs))
    residuals: list[Row] = [
        {"network": name, "condition": condition, "residual": value}
        for name, one in (("yours", c), *((("KKT point nearby", found.point.certificate),) if found.point else ()))
        for condition, value in (
            ("First layer", one.hidden_stationarity),
            ("Second layer", one.output_stationarity),
            ("Complementarity", one.complementarity),
        )
    ]
    chart = dots(
        residuals,
        value="residual",
        category="condition",
        series="network",
        titles={"residual": "Relative residual", "condition": "Condition", "network": "Network"},
        title="Residuals",
        description="Residual of each condition, on a logarithmic axis; farther left is better, zeros are not drawn.",
        scale="log",
    )
    return Section(heading="Near a KKT point?", paragraphs=paragraphs, content=(table, chart))


def _margins(found: Audit) -> Section:
    margins = found.certificate.margins
    rows: list[Row] = [
        {"margin": float(margin), "label": "positive" if y > 0 else "negative"}
        for margin, y in zip(margins, found.data.y, strict=True)
    ]
    scaled = found.certificate.status != "does not separate"
    chart = histogram(
        rows,
        value="margin",
        series="label",
        titles={"margin": "Margin yᵢ N(xᵢ)" + (", smallest one scaled to 1" if scaled else ""), "label": "Label"},
        title="Margins",
        description=(
            f"How many samples have which margin; {found.wrong} of {found.data.n_samples} are on the wrong side, the "
            f"smallest margin is {shown(float(margins.min()))}, the largest {shown(float(margins.max()))}."
        ),
    )
    return Section(heading="Margins of the samples", content=(chart,))


def _flips(found: Audit) -> Section:
    n = found.data.n_samples
    rows: list[tuple[object, ...]] = [(flip.name, flip.half, flip.nine_tenths, flip.all) for flip in found.flips]
    rows.append(("the shortest vector found", None, None, found.universal.upper))
    table = Table(
        columns=("Direction", "flips 50 %", "flips 90 %", "flips all"),
        rows=tuple(rows),
        caption="Norms at which samples are flipped at once",
    )
    mean_norm = math.sqrt(float((found.data.X**2).sum(axis=1).mean()))
    if math.isfinite(found.universal.upper):
        sentence = (
            f"One vector of norm {shown(found.universal.upper)}, subtracted from the positive and added to the "
            f"negative samples, flips all {n} of them; the samples have norm {shown(mean_norm)} (root mean square). No "
            f"vector shorter than {shown(found.universal.lower)} does."
        )
    else:
        sentence = (
            f"No vector was found that flips all {n} samples at once when it is subtracted from the positive and "
            f"added to the negative ones; none shorter than {shown(found.universal.lower)} does."
        )
    return Section(heading="What flips it", paragraphs=(sentence,), content=(table,))


def _radii(found: Audit) -> Section:
    settled = sum(radius.settled for radius in found.radii)
    table = Table.of(
        [vars(radius) for radius in found.radii],
        columns={"sample": "Sample", "label": "Label", "lower": "At least", "upper": "At most", "status": "Status"},
        caption="Distance to the decision boundary",
    )
    return Section(
        heading="Exact radii",
        paragraphs=(
            f"{settled} of {len(found.radii)} radii are exact: every lower bound has a proof, and every proof was "
            "checked by code that knows nothing of the search.",
        ),
        content=(table,),
    )


def _statements(found: Audit) -> Section:
    def table(caption: str, chosen: list[tuple[object, ...]]) -> tuple[Table, ...]:
        return (Table(columns=("Statement", "Outcome", "What it says"), rows=tuple(chosen), caption=caption),)

    applying: list[tuple[object, ...]] = [(one.id, one.outcome, one.meaning) for one in found.applying]
    properties: list[tuple[object, ...]] = [
        (one.id, "yes" if one.outcome == "holds" else "no", one.meaning)
        for one in found.statements
        if one.property_only and one.outcome in ("holds", "violated")
    ]
    silent: list[tuple[object, ...]] = [
        (one.id, one.outcome, one.reason)
        for one in found.statements
        if not one.property_only and one.outcome == "not applicable"
    ]
    return Section(
        heading="Which theorems apply",
        paragraphs=(
            f"{len(found.statements)} statements of the papers need no more than a network and its data. "
            f"{len(applying)} theorems, lemmas and probes have hypotheses that are fulfilled here; {len(silent)} say "
            "nothing about this network, because a hypothesis fails.",
        ),
        content=(
            *table("Statements that apply", applying),
            *table("What definitions and assumptions ask for, and constructions on these data", properties),
            *table("Statements that do not apply, and why", silent),
        ),
    )
