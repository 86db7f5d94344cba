"""A chart as a file of its own: SVG, PNG or PDF, in the light or the dark colours of the page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from marginflow.errors import InputError
from marginflow.report.bundle import register_fonts, vega_lite_version, with_fonts
from marginflow.report.content import Chart
from marginflow.report.legends import with_marked_legends
from marginflow.report.style import Mode, Width, colours, printed
from marginflow.storage import write_bytes

FORMATS: Final = (".svg", ".png", ".pdf")
_POINTS: Final = 72.0 / 96.0  # of a pixel: PDF counts in points


def draw(chart: Chart, path: str | Path, *, width: Width | int = 640, mode: Mode = "light") -> Path:
    """Write the chart to a file whose ending says how.

    Parameters
    ----------
    chart : Chart
    path : path that ends in .svg, .png or .pdf
        PNG has two pixels per unit of `width`, so that it is sharp in print.
    width : "column", "page" or int
        3.25 or 6.75 inches in all with letters of 8 pt, or the width of the drawing area.
    mode : "light" or "dark"

    Returns
    -------
    Path
        Of the file, which is written whole or not at all.
    """
    import vl_convert

    register_fonts()
    target = Path(path)
    specification = fixed(chart, width=width, mode=mode)
    points = isinstance(width, str)
    writers: dict[str, Callable[[], bytes]] = {
        ".svg": lambda: svg_text(chart, width=width, mode=mode).encode(),
        ".png": lambda: bytes(
            vl_convert.vega_to_png(_vega(specification), scale=3.0 if isinstance(width, str) else 2.0)
        ),
        ".pdf": lambda: bytes(
            vl_convert.svg_to_pdf(_in_points(_svg(specification)) if points else _svg(specification))
        ),
    }
    if target.suffix.lower() not in writers:
        raise InputError(f"{target} ends in {target.suffix!r}; {', '.join(FORMATS)} can be drawn.")
    return write_bytes(target, writers[target.suffix.lower()]())


def svg_text(chart: Chart, *, width: Width | int = 640, mode: Mode = "light") -> str:
    """The chart as the text of an SVG element."""
    return with_fonts(_svg(fixed(chart, width=width, mode=mode)))


def svg_of(specification: dict[str, Any], *, title: str, width: int) -> str:
    """A specification in light colours as the text of an SVG element without fonts, for a page that has them."""
    return _svg(printed(specification, title=title, width=width))


def inline_svg(chart: Chart, *, width: Width | int = 640, titled: bool = True) -> str:
    """The chart as an SVG for a page of ours: its colours and fonts are those of the page, in light and in dark."""
    drawn = fixed(chart, width=width)
    svg = _svg(drawn if titled else {name: part for name, part in drawn.items() if name != "title"})
    for name, colour in colours("light").items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg


def fixed(chart: Chart, *, width: Width | int = 640, mode: Mode = "light") -> dict[str, Any]:
    """The specification with a width in numbers, a ground and colours in place of the page's variables."""
    return printed(chart.specification, title=chart.title, width=width, mode=mode)


def _svg(specification: dict[str, Any]) -> str:
    import vl_convert

    return str(vl_convert.vega_to_svg(_vega(specification)))


def _vega(specification: dict[str, Any]) -> dict[str, Any]:
    import vl_convert

    register_fonts()
    return with_marked_legends(dict(vl_convert.vegalite_to_vega(specification, vl_version=vega_lite_version())))


def _in_points(svg: str) -> str:
    """The picture in 72nds of an inch, in which PDF counts, instead of 96ths."""
    head, tail = svg[: svg.index(">")], svg[svg.index(">") :]
    return (
        re.sub(r'\b(width|height)="([\d.]+)"', lambda found: f'{found[1]}="{float(found[2]) * _POINTS:g}"', head) + tail
    )
