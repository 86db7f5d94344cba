"""The page: a verdict, sections of text, tables and charts, and how to get the same again, in one HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from marginflow.display import Brief
from marginflow.report.bundle import style_text, template_text, vega_script
from marginflow.report.content import Chart, Formula, Table, Verbatim, mathml, text_of
from marginflow.report.static import inline_svg
from marginflow.report.style import raised, signs
from marginflow.storage import write_text

if TYPE_CHECKING:
    import jinja2

Tone = Literal["holds", "violated", "open", "neutral"]


@dataclass(frozen=True, kw_only=True)
class Section(Brief):
    """A heading, paragraphs of text, then formulas, tables and charts in the order given."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    content: tuple[Table | Chart | Formula, ...] = ()

    @classmethod
    def of(cls, heading: str, *parts: str | Table | Chart | Formula) -> Section:
        """The section of a heading, texts and what is drawn or listed below them."""
        texts = tuple(part for part in parts if isinstance(part, str))
        return cls(
            heading=heading, paragraphs=texts, content=tuple(part for part in parts if not isinstance(part, str))
        )


@dataclass(frozen=True, kw_only=True)
class Page(Brief):
    """All that a page says.

    Parameters
    ----------
    title : str
        What was looked at.
    verdict : str
        The outcome in one sentence; it comes first.
    tone : "holds", "violated", "open" or, of what makes no claim, "neutral"
        How the verdict is marked.
    remark : str
        What else a reader should know at once, below the verdict.
    sections : tuple of Section
    parameters : mapping of plain values
        Everything that the numbers depend on, the seed included.
    versions : mapping of str
        Versions of the software that computed the numbers.
    command : str
        The command lines that give the same page again, one per line.
    references : tuple of str
        The papers behind what the page says.
    """

    title: str
    verdict: str
    tone: Tone
    remark: str = ""
    sections: tuple[Section, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    references: tuple[str, ...] = ()

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart of the page that has something to draw, from top to bottom."""
        return charts_of(self.sections)


def charts_of(sections: Iterable[Section]) -> tuple[Chart, ...]:
    """Every chart in them that has something to draw, from top to bottom."""
    content = (item for section in sections for item in section.content)
    return tuple(item for item in content if isinstance(item, Chart) and item.numbers.rows)


def render(page: Page, *, interactive: bool = True) -> str:
    """The page as one HTML document that asks nothing of any other machine.

    Vega, Vega-Lite and Vega-Embed are written into the page, and a content security policy forbids it to load
    anything from anywhere. Charts that need not answer are drawn as pictures, and the page is a tenth of the size.
    """
    drawn = {f"chart-{number}": chart for number, chart in enumerate(page.charts, 1)}
    return render_template(
        "page.html.j2",
        title=page.title,
        page=page,
        style=style_text("page.css"),
        id=id,
        names={id(chart): name for name, chart in drawn.items()},
        specifications={name: script_safe(chart.specification) for name, chart in drawn.items() if interactive},
        pictures={} if interactive else {name: _pictures(chart) for name, chart in drawn.items()},
        bundle=vega_script() if drawn and interactive else "",
        keyboard=template_text("keyboard.js"),
    )


def _pictures(chart: Chart) -> str:
    """The chart for a desk and for a telephone, where letters of the wide one could not be read."""
    wide, narrow = (inline_svg(chart, width=width, titled=False) for width in (820, 250))
    return f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'


def write(page: Page, path: str | Path, *, interactive: bool = True) -> Path:
    """Write the page to a file, whole or not at all."""
    return write_text(path, render(page, interactive=interactive))


def render_template(name: str, **values: Any) -> str:
    """A template of the folder of templates, filled."""
    return _environment().get_template(name).render(**values)


def as_html(sentence: str) -> str:
    """A sentence as HTML: mathematics with its signs, and what stands between backticks as code.

    Examples
    --------
    >>> from marginflow.report.page import as_html
    >>> str(as_html("||x|| < 1: see `limit.five_points`"))
    '‖x‖ &lt; 1: see <code>limit.five_points</code>'
    """
    import markupsafe

    parts = [str(markupsafe.escape(part)) for part in signs(sentence).split("`")]
    if len(parts) % 2 == 0:  # a backtick alone is a letter
        return markupsafe.Markup("`".join(parts))
    return markupsafe.Markup("".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)))


@cache
def _environment() -> jinja2.Environment:
    """Templates in which every text is escaped and a missing name is an error; each is compiled once."""
    import jinja2

    from marginflow.theory.check import in_words

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Sentences in cells get their signs; a single word may be the name of a file and keeps its letters.
    made.filters["value"] = lambda value: (
        signs(value) if isinstance(value, str) and " " in value else raised(text_of(value))
    )
    made.filters["listed"] = lambda versions: ", ".join(f"{name} {version}" for name, version in versions.items())
    made.filters["raised"] = raised
    made.filters["signs"] = signs
    made.filters["as_html"] = as_html
    made.filters["in_words"] = in_words
    made.filters["mathml"] = mathml
    made.tests["verbatim"] = lambda item: isinstance(item, Verbatim)
    made.tests["table"] = lambda item: isinstance(item, Table)
    made.tests["formula"] = lambda item: isinstance(item, Formula)
    return made


def script_safe(value: object) -> str:
    """JSON in which no character can end the script element that holds it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
