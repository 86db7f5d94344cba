"""The plane as a small offline page, drawn by the script of the demo's first picture."""

from collections.abc import Mapping
from typing import Any

from marginflow.report.bundle import style_text, template_text
from marginflow.report.demo_page import plane_data
from marginflow.report.page import render_template, script_safe


def render_plane(record: Mapping[str, Any], *, title: str) -> str:
    """The page as one HTML document that asks nothing of any other machine."""
    point = record["point"]
    return render_template(
        "plane.html.j2",
        title=title,
        style=style_text("demo.css"),
        script=template_text("demo.js"),
        data=script_safe({"plane": plane_data(record)}),
        n=len(record["samples"]),
        point=point,
    )
