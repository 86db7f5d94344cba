"""Left-out samples in a notebook: which the others would get wrong, what each is worth, how near unlearning comes."""

from itertools import count

from marginflow.plot.results import Showing
from marginflow.report.charts import points
from marginflow.report.content import Chart
from marginflow.report.results.summary import Fields


def influence(found: Fields) -> Showing:
    """The groups that matter most, first."""
    margins, groups = found["margins"], found["groups"]
    rows = tuple(
        (
            ", ".join(map(str, groups[group][:6])),
            min((margins[sample] for sample in groups[group] if margins[sample] is not None), default=None),
            *(found[name][group] for name in ("drops", "ways", "residuals")),
        )
        for group in found["rank"]
    )
    what = "Added" if found["added"] else "Left out"
    columns = (what, "Its margin then", "Drop of ‖θ‖²", "How", "Residual")
    return Showing.of(f"{found['sentence']}.", rows, caption="What each sample did", columns=columns)


def influence_charts(found: Fields) -> list[Chart]:
    """The margin of each sample at the point without it, against its multiplier; below 0 it is wrong then."""
    if found["added"]:
        return []
    margins, multipliers = found["margins"], found["multipliers"]
    rows: list[dict[str, object]] = [
        {
            "sample": sample,
            "margin": margins[sample],
            "multiplier": multipliers[sample],
            "verdict": "right" if (margins[sample] or 0.0) > 0 else "wrong",
        }
        for group in found["groups"]
        for sample in group
    ]
    return [
        points(
            rows,
            x="multiplier",
            y="margin",
            series="verdict",
            titles={
                "multiplier": "Multiplier with all samples",
                "margin": "Margin at the point without it",
                "verdict": "Without it",
                "sample": "Sample",
            },
            title="Every sample, judged by the point without it",
            description="Exact margins of left-out samples; below 0 the others get the sample wrong.",
        )
    ]


def comparison(found: Fields) -> Showing:
    """The most harmful groups first; of unlearning those that are farthest from the truth."""
    if "values" in found:
        rows = tuple((g, *(found[name][g] for name in ("values", "margin_values", "shares"))) for g in found["rank"])
        harmful = sum(value < 0 for value in found["values"])
        sentence = (
            f"accuracy {100 * found['accuracy']:.3g} % with all samples; it is higher without {harmful} of "
            f"{len(rows)} groups, each left out alone."
        )
        names = ("Group", "Accuracy lost without it", "Mean margin lost", "Share of the multipliers")
        return Showing.of(sentence, rows, caption="What each group is worth", columns=names)
    groups = zip(count(), found["kept"], found["unlearned"], strict=False)
    rows = tuple(sorted(groups, key=lambda row: (row[1] is None, -(row[1] or 0.0))))
    answer = "no group changes anything"
    if found["helped"] is not None:
        answer = f"the method came nearer for {100 * found['helped']:.0f} % of the groups that matter"
    sentence = f"distances of outputs to those of the exactly retrained network; {answer}."
    columns = ("Group", "Doing nothing", "The method")
    return Showing.of(sentence, rows, caption="Sines of angles between outputs", columns=columns)


def comparison_charts(found: Fields) -> list[Chart]:
    """Each group as a point."""
    if "values" in found:
        names = {"share": "Share of the multipliers", "lost": "Mean margin lost without it", "group": "Group"}
        columns = (found["shares"], found["margin_values"])
        title = "What each group is worth"
    else:
        names = {"share": "Doing nothing", "lost": "The method", "group": "Group"}
        columns = (found["kept"], found["unlearned"])
        title = "Distance to the exactly retrained network"
    rows = [{"group": number, "share": x, "lost": y} for number, (x, y) in enumerate(zip(*columns, strict=True))]
    return [points(rows, x="share", y="lost", titles=names, title=title, description="Every group as a point.")]
