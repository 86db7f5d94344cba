"""The page: a verdict, sections of text, tables and charts, and how to get the same again, in one HTML file."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from marginflow.report.charts import Chart
from marginflow.report.table import Table, shown
from marginflow.storage import write_text

Tone = Literal["holds", "violated", "open"]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, paragraphs of text, then tables and charts in the order given."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    content: tuple[Table | Chart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that a page says.

    Parameters
    ----------
    title : str
        What was looked at.
    verdict : str
        The outcome in one sentence; it comes first.
    tone : "holds", "violated" or "open"
        How the verdict is marked.
    sections : tuple of Section
    parameters : mapping of plain values
        Everything that the numbers depend on, the seed included.
    versions : mapping of str
        Versions of the software that computed the numbers.
    command : str
        The command line that gives the same page again.
    """

    title: str
    verdict: str
    tone: Tone
    sections: tuple[Section, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


def render(page: Page) -> str:
    """The page as one HTML document that asks nothing of any other machine.

    Vega, Vega-Lite and Vega-Embed are written into the page, and a content security policy forbids it to load
    anything from anywhere.
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = shown
    template = environment.from_string(_text("page.html.j2"))
    charts = [item for section in page.sections for item in section.content if isinstance(item, Chart)]
    drawn = {f"chart-{number}": chart for number, chart in enumerate(charts, 1) if chart.numbers.rows}
    return template.render(
        page=page,
        style=_text("page.css"),
        id=id,
        tables={id(item) for section in page.sections for item in section.content if isinstance(item, Table)},
        names={id(chart): name for name, chart in drawn.items()},
        specifications={name: _script_safe(chart.specification) for name, chart in drawn.items()},
        bundle=_vega_bundle() if drawn else "",
    )


def write(page: Page, path: str | Path) -> Path:
    """Write the page to a file, whole or not at all."""
    return write_text(path, render(page))


def _text(name: str) -> str:
    return importlib.resources.files("marginflow.report").joinpath("templates", name).read_text(encoding="utf-8")


def _script_safe(specification: Mapping[str, object]) -> str:
    """JSON in which no character can end the script element that holds it."""
    return json.dumps(specification, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


@cache
def _vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, in the Vega-Lite version that altair writes."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    bundle: str = vl_convert.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=wanted if wanted in known else known[-1]
    )
    return bundle.replace("</script", "<\\/script")
