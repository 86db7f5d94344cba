"""The HTML of a result in a notebook: a sentence, a table, and pictures that need no script and follow the theme."""

import html
import numbers
from functools import cache
from typing import Any, Final

from marginflow.report.content import Table, text_of
from marginflow.report.style import colours, raised, signs

WIDTH: Final = 340  # pixels of one picture
_MOST_ROWS: Final = 12
_LONG: Final = 24  # letters from which on a cell is a sentence, set flush left
# How JupyterLab, Visual Studio Code, Colab and Sphinx say that they are dark.
_DARK_THEMES: Final = ('[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]', 'html[data-theme="dark"]')


def shown(name: str, sentence: str, table: Table, pictures: str, *, formula: str = "") -> str:
    """All of it: the name of the class, the sentence, a formula in MathML, the table, the pictures."""
    heading = f"<p><b>{html.escape(name)}</b>: {html.escape(signs(sentence))}</p>"
    return f'<div class="marginflow">{heading}{formula}{table_html(table)}{pictures}</div>'


def table_html(table: Table) -> str:
    """A table in few words: its first rows."""
    rows = table.rows[:_MOST_ROWS]
    sides = ["right" if _is_numeric(table, column) else "left" for column in range(len(table.columns))]
    head = "".join(_cell("th", name, side) for name, side in zip(table.columns, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', value, side) for value, side in zip(row, sides, strict=True))}</tr>" for row in rows
    )
    left = len(table.rows) - len(rows)
    more = f"<p>… and {left} more rows</p>" if left > 0 else ""
    top = f"<thead><tr>{head}</tr></thead>" if any(table.columns) else ""
    return f'<div style="overflow-x:auto"><table>{top}<tbody>{body}</tbody></table></div>{more}' if rows else ""


def pictures_html(charts: list[Any]) -> str:
    """Charts as pictures beside each other."""
    from marginflow.report.bundle import font_faces
    from marginflow.report.static import svg_of

    drawn = [_themed(svg_of(_still(chart.specification), title=chart.title, width=WIDTH)) for chart in charts]
    style = f"<style>{font_faces('regular', 'bold')}{_dark_rules()}</style>" if drawn else ""
    return style + "".join(f'<div style="display:inline-block">{picture}</div>' for picture in drawn)


def _themed(svg: str) -> str:
    """The picture with a variable in place of every colour of ours; without the style it is light."""
    for name, colour in colours("light").items():
        svg = svg.replace(colour, f"var(--mf-{name},{colour})")
    return svg


@cache
def _dark_rules() -> str:
    values = "".join(f"--mf-{name}:{colour};" for name, colour in colours("dark").items())
    return f"{','.join(f'{theme} .marginflow' for theme in _DARK_THEMES)}{{{values}}}"


def _still(specification: dict[str, Any]) -> dict[str, Any]:
    """Without the line that counts what a brush holds: here there is no brush."""
    layers = specification.get("layer")
    if not isinstance(layers, list):
        return specification
    kept = [layer for layer in layers if layer.get("encoding", {}).get("text", {}).get("field") != "summary"]
    return specification | {"layer": kept}


def _is_numeric(table: Table, column: int) -> bool:
    """Whether a column holds numbers, and beside them short words at most."""
    values = [row[column] for row in table.rows]
    return any(isinstance(value, numbers.Real) for value in values) and not any(
        isinstance(value, str) and len(value) > _LONG for value in values
    )


def _cell(tag: str, value: object, side: str) -> str:
    text = signs(value) if isinstance(value, str) else raised(text_of(value))
    return f'<{tag} style="text-align:{side};padding:0.15em 0.6em">{html.escape(text)}</{tag}>'
