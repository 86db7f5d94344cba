"""A chart as a file of its own: SVG, PNG or PDF, in the light colours of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from marginflow.errors import InputError
from marginflow.report.bundle import template_text, vega_lite_version
from marginflow.report.chart import Chart
from marginflow.storage import write_bytes

FORMATS: Final = (".svg", ".png", ".pdf")


def draw(chart: Chart, path: str | Path, *, width: int = 640) -> Path:
    """Write the chart to a file whose ending says how.

    Parameters
    ----------
    chart : Chart
    path : path that ends in .svg, .png or .pdf
        PNG has two pixels per unit of `width`, so that it is sharp in print.
    width : int
        Width of the drawing area.

    Returns
    -------
    Path
        Of the file, which is written whole or not at all.
    """
    import vl_convert

    target = Path(path)
    specification = fixed(chart, width=width)
    version = vega_lite_version()
    writers: dict[str, Callable[[], bytes]] = {
        ".svg": lambda: svg_text(chart, width=width).encode(),
        ".png": lambda: bytes(vl_convert.vegalite_to_png(specification, vl_version=version, scale=2.0)),
        ".pdf": lambda: bytes(vl_convert.vegalite_to_pdf(specification, vl_version=version)),
    }
    if target.suffix.lower() not in writers:
        raise InputError(f"{target} ends in {target.suffix!r}; {', '.join(FORMATS)} can be drawn.")
    return write_bytes(target, writers[target.suffix.lower()]())


def svg_text(chart: Chart, *, width: int = 640) -> str:
    """The chart as the text of an SVG element."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(fixed(chart, width=width), vl_version=vega_lite_version()))


def fixed(chart: Chart, *, width: int = 640) -> dict[str, Any]:
    """The specification with a width in numbers, a white ground and colours in place of the page's variables."""
    text = json.dumps(dict(chart.specification) | {"width": width, "background": "white", "title": chart.title})
    colours = light_colours()
    text = re.sub(r"var\(--([a-z0-9-]+)\)", lambda found: colours[found.group(1)], text)
    specification: dict[str, Any] = json.loads(text.replace("system-ui, sans-serif", "sans-serif"))
    return specification


@cache
def light_colours() -> Mapping[str, str]:
    """The variables of the style sheet, as they are in light mode.

    Examples
    --------
    >>> from marginflow.report.static import light_colours
    >>> light_colours()["paper"]
    '#ffffff'
    """
    first = template_text("page.css").split("}", 1)[0]
    return dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6})", first))
