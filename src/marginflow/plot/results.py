"""What results show in a notebook: a sentence, a table and a picture; `plot` gives the picture as an Altair chart.

A result is recognised by the name of its class, so that nothing is imported that is not looked at. `records` turns it
into plain values; tables and charts, which are those of the pages, are made of these alone.
"""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from marginflow.errors import InputError
from marginflow.plot.html import WIDTH, pictures_html, shown
from marginflow.plot.records import record_of
from marginflow.report.content import Table
from marginflow.report.style import printed
from marginflow.report.vega import alt

if TYPE_CHECKING:
    from marginflow.report.content import Chart

# What shows a class, by its name: a file of this room, and the function in it that gives the sentence and the table;
# beside it stands `..._charts`.
PICTURES: Final = {
    "Dataset": "datasets.sample",
    "Run": "runs.run",
    "Limit": "points.point",
    "Certificate": "points.point",
    "Radius": "perturbations.radius",
    "Verdict": "pages.page",
    "Audit": "pages.audit",
    "Influence": "left_out.influence",
    "Sweep": "sweeps.sweep",
    "Results": "sweeps.sweep",
    "ClassesLimit": "points.point",
    "ClassifierKKT": "points.point",
    "ClassesAudit": "pages.audit",
    "Hunt": "pages.page",
    "FigureResult": "pages.page",
    "Universal": "perturbations.perturbation",
    "UniversalChange": "perturbations.perturbation",
    "RaySteps": "perturbations.perturbation",
    "Statement": "statements.statement",
    "Atlas": "statements.atlas",
    "Valuation": "left_out.comparison",
    "Unlearning": "left_out.comparison",
}
_PARAMETERS: Final = r'"(name|param)": "(brush|chosen|zoom|hovered)"'


@dataclass(frozen=True, kw_only=True)
class Showing:
    """What a notebook shows of a result.

    Parameters
    ----------
    sentence : str
        What one wants to know first.
    table : Table
    formula : str
        MathML, above the table.
    """

    sentence: str
    table: Table
    formula: str = ""

    @classmethod
    def of(
        cls,
        sentence: str,
        rows: Iterable[tuple[object, ...]],
        *,
        caption: str,
        columns: tuple[str, ...] = ("", ""),
        formula: str = "",
    ) -> Showing:
        """A sentence over rows, which by default are names and values without headings."""
        table = Table(columns=columns, rows=tuple(rows), caption=caption)
        return cls(sentence=sentence, table=table, formula=formula)


def plot_of(result: object, **options: Any) -> Any:
    """The charts of a result beside each other as one Altair chart."""
    _, charts = _shown_by(result)
    data = options.pop("data", None) if type(result).__name__ == "Run" else None
    return beside_each_other(charts(record_of(result, data), **options))


def html_of(result: object) -> str:
    """The sentence, the table and the pictures of a result; without altair and vl-convert no pictures."""
    (show, charts), record = _shown_by(result), record_of(result)
    showing: Showing = show(record)
    try:
        pictures = pictures_html(charts(record))
    except ModuleNotFoundError:  # the library without charts
        pictures = ""
    return shown(type(result).__name__, showing.sentence, showing.table, pictures, formula=showing.formula)


def beside_each_other(charts: Sequence[Chart]) -> Any:
    """Charts of a page as one Altair chart in light colours, each with its title."""
    if not charts:
        raise InputError("There is nothing to draw in this result.")
    specifications = [_apart(number, chart) for number, chart in enumerate(charts)]
    config, background = specifications[0]["config"], specifications[0]["background"]
    config["legend"].pop("layout")  # Altair's schema does not know it
    views = [
        {
            key: value
            for key, value in specification.items()
            if key not in ("config", "background", "$schema", "padding")
        }
        for specification in specifications
    ]
    if len(views) == 1:
        return alt.Chart.from_dict(views[0] | {"config": config, "background": background})
    parameters = [parameter for view in views for parameter in view.pop("params", [])]  # they name their views
    datasets = {name: rows for view in views for name, rows in view.pop("datasets", {}).items()}
    whole = {
        "hconcat": views,
        "params": parameters,
        "datasets": datasets,
        "resolve": {"scale": {"color": "independent"}},
    }
    return alt.Chart.from_dict(whole | {"config": config, "background": background})


def endless(value: float | None) -> float:
    """A length or a step of a record, in which nothing stands for infinity."""
    return math.inf if value is None else value


def _apart(number: int, chart: Chart) -> dict[str, Any]:
    """The specification with names of selections that no other view has."""
    fixed = printed(chart.specification, title=chart.title, width=WIDTH)
    text = re.sub(_PARAMETERS, lambda found: f'"{found[1]}": "{found[2]}_{number}"', json.dumps(fixed, allow_nan=False))
    made: dict[str, Any] = json.loads(text)
    return made


def _shown_by(result: object) -> tuple[Any, Any]:
    """What makes the sentence and the table of a record, and what makes its charts."""
    name = type(result).__name__
    if name not in PICTURES:
        raise InputError(f"{name} has no picture; {', '.join(PICTURES)} have one.")
    file, _, kind = PICTURES[name].partition(".")
    room = importlib.import_module(f"marginflow.plot.{file}")
    return getattr(room, kind), getattr(room, f"{kind}_charts")
