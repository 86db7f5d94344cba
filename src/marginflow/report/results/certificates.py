"""What a page tells of a certificate, and of a KKT point that was looked for."""

from marginflow.report.charts import dots, histogram, lines, points
from marginflow.report.content import Chart, Formula, Table, text_of
from marginflow.report.page import Section
from marginflow.report.results.summary import Fields, Rows, Summary

PROBLEM = Formula(
    latex=r"\min_{\theta}\ \tfrac12\|\theta\|^2 \quad\text{subject to}\quad y_i N(x_i;\theta)\ge 1,\ i=1,\dots,n",
    meaning="The max-margin problem whose KKT points are meant",
)
CONDITIONS = Formula(
    latex=r"\theta=\sum_i\lambda_i y_i\,\partial_\theta N(x_i;\theta),\quad \lambda_i\ge 0,\quad "
    r"\lambda_i\,(y_iN(x_i;\theta)-1)=0",
    meaning="Its KKT conditions; the derivative is Clarke's, with a weight in [0, 1] at every kink",
)
# From rounding error to what no multipliers explain: where a residual lies in it is what a picture has to say.
_RESIDUAL_SPAN = (1e-17, 1.0)
RESIDUALS = {
    "stationarity": "Stationarity",
    "complementarity": "Complementarity",
    "feasibility": "Feasibility",
    "dual_feasibility": "Dual feasibility",
}
FACTS = {
    "total": "Stationarity and complementarity together",
    "holds": "All conditions hold",
    "tolerance": "at the tolerance",
    "total_lower_bound": "No multipliers get below",
    "norm_squared": "‖θ‖² at margin 1",
    "multiplier_sum": "Sum of the multipliers",
    "on_margin": "Samples on the margin",
    "support_size": "Samples with a multiplier",
    "n_samples": "Samples",
    "dimension": "Dimension",
    "width": "Neurons",
    "live_neurons": "Neurons that are not zero",
    "penalty": "C of the soft margin",
    "outputs": "Output weights",
    "bias": "Biases",
}
MOVED = {
    "cosine": "Cosine between the outputs before and after",
    "norm_squared_before": "‖θ‖² at margin 1 before",
    "norm_squared_after": "‖θ‖² at margin 1 after",
    "patterns_changed": "Share of activation patterns that changed",
    "neurons_vanished": "Share of neurons that vanished",
}


def certificate(record: Fields) -> Summary:
    """A certificate as `marginflow certify` writes it, with or without its arrays."""
    holds, residual = bool(record["holds"]), record.number("total")
    tolerance = record.number("tolerance")
    sentence = (
        f"The network is a KKT point: its relative residual is {residual:.1e}, and every condition holds at "
        f"{tolerance:.0e}."
        if holds
        else f"The network is not a KKT point at {tolerance:.0e}: its relative residual is {text_of(residual)}."
    )
    sections = (
        *_samples(record),
        Section.of("How far from a KKT point", _residuals(record), _facts(record)),
        Section.of("What a KKT point is", PROBLEM, CONDITIONS),
    )
    return Summary(sentence=sentence, tone="holds" if holds else "violated", sections=sections)


def limit(record: Fields) -> Summary:
    """A KKT point as `marginflow limit` writes it, with or without arrays."""
    judged = certificate(Fields(record.object("certificate"), tolerance=record["tolerance"]))
    holds = bool(record["holds"])
    residual = record.object("certificate").number("total")
    sentence = (
        f"A KKT point was found in {record.number('seconds'):.1f} s and is certified: relative residual {residual:.1e}."
        if holds
        else f"No KKT point was found: the best relative residual is {text_of(residual)}."
    )
    way: list[Table | Chart] = []
    history = record.objects("history")
    if len(history) > 2:
        drawn = [{**row, "record": index} for index, row in enumerate(history)]
        way.append(
            lines(
                drawn,
                x="record",
                y="objective",
                series="stage",
                titles={"record": "Record", "objective": "½‖θ‖²", "stage": "Stage", "gap": "Gap", "flips": "Flips"},
                title="Objective on the way",
                description="The objective ½‖θ‖² at every record of the solver; it falls to that of the KKT point.",
            )
        )
    if record.get("moved") is not None:
        moved = record.object("moved")
        rows = tuple((name, moved.get(key)) for key, name in MOVED.items())
        way.append(Table(columns=("What the polish changed", ""), rows=rows, caption="From the flow to the point"))
    found = Section.of("How it was found", str(record["status"]), *way)
    *sections, meant = judged.sections
    return Summary(sentence=sentence, tone="holds" if holds else "violated", sections=(*sections, found, meant))


def _facts(record: Fields) -> Table:
    found = ((heading, record.get(key)) for key, heading in (RESIDUALS | FACTS).items())
    rows = [(heading, value) for heading, value in found if value is not None]
    return Table(columns=("What", "Value"), rows=tuple(rows), caption="The certificate")


def _residuals(record: Fields) -> Chart:
    rows = [{"condition": name, "residual": record.get(key), "network": "network"} for key, name in RESIDUALS.items()]
    described = (
        "Residual of each KKT condition, on a logarithmic axis; farther left is better, exact zeros are not drawn."
    )
    return residual_chart(rows, network="Of the", description=described)


def residual_chart(rows: Rows, *, network: str, description: str) -> Chart:
    """A dot for the residual of each condition, with a colour for each network under the heading `network`."""
    return dots(
        rows,
        value="residual",
        category="condition",
        series="network",
        titles={"residual": "Relative residual", "condition": "Condition", "network": network},
        title="Residuals",
        description=description,
        scale="log",
        span=_RESIDUAL_SPAN,
    )


def _samples(record: Fields) -> list[Section]:
    """Which samples hold the network in place, as a picture, where the file says what each of them does."""
    charts = sample_charts(record)
    if not charts:
        return []
    held, n = len(record.get("support", ())), len(record["margins"])
    words = (
        f"{held} of {n} samples have a multiplier: they hold the network in place. Without the others it would be a "
        "KKT point as well."
        if record["holds"]
        else f"The best multipliers that there are give a weight to {held} of {n} samples, and they do not hold the "
        "network in place."
    )
    return [Section.of("What holds the network", words, *charts)]


def sample_charts(record: Fields) -> list[Chart]:
    """Multipliers and margins, where the file holds them."""
    if "margins" not in record or "multipliers" not in record:
        return []
    margins, multipliers = record.numbers("margins"), record.numbers("multipliers")
    held = set(record.numbers("support")) if "support" in record else set()
    rows: list[dict[str, object]] = [
        {"sample": i, "margin": margin, "multiplier": weight, "kind": "with a multiplier" if i in held else "without"}
        for i, (margin, weight) in enumerate(zip(margins, multipliers, strict=True))
    ]
    titles = {"margin": "Margin, smallest one 1", "multiplier": "Multiplier", "sample": "Sample", "kind": "Samples"}
    return [
        points(
            rows,
            x="margin",
            y="multiplier",
            series="kind",
            titles=titles,
            title="Multipliers",
            description="The multiplier of every sample against its margin; off the margin it must be zero.",
        ),
        histogram(
            rows,
            value="margin",
            series="kind",
            titles=titles,
            title="Margins",
            description="How the margins are distributed once the smallest is scaled to 1.",
        ),
    ]
