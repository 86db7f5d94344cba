"""What pages and pictures carry with them: templates and style sheets, fonts, Vega with Vega-Lite and Vega-Embed.

With fonts of their own superscripts, Greek and primes look the same everywhere.
"""

import base64
import importlib.resources
from functools import cache
from importlib.resources.abc import Traversable
from typing import Final

SANS: Final = "Marginflow Sans"
_FACES: Final = {
    "regular": (SANS, "marginflow-sans-regular", "normal", 400),
    "bold": (SANS, "marginflow-sans-bold", "normal", 700),
    "italic": (SANS, "marginflow-sans-italic", "italic", 400),
    "math": ("Marginflow Math", "marginflow-math-regular", "normal", 400),
}


@cache
def template_text(name: str) -> str:
    """The text of a file in the folder of templates."""
    return importlib.resources.files("marginflow.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def style_text(*names: str) -> str:
    """Style sheets of the folder of templates one after the other, behind the fonts that they use."""
    return font_faces("regular", "bold", "italic", "math") + "".join(map(template_text, names))


@cache
def vega_lite_version() -> str:
    """The Vega-Lite version that altair writes, or the newest one there is, as vl-convert names it."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known: list[str] = vl_convert.get_vegalite_versions()
    return wanted if wanted in known else known[-1]


@cache
def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that can stand inside a page."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=vega_lite_version())
    return bundle.replace("</script", "<\\/script")


@cache
def font_faces(*faces: str) -> str:
    """CSS that declares fonts as data: "regular", "bold", "italic" of the sans serif, and "math" for formulas."""
    return "".join(_rule(*_FACES[face]) for face in faces)


@cache
def register_fonts() -> None:
    """Tell vl-convert of the fonts, once: it lays charts out with them and draws them into PNG and PDF."""
    import vl_convert

    vl_convert.register_font_directory(str(_folder()))


def with_fonts(svg: str) -> str:
    """An SVG that carries the fonts of its texts."""
    faces = ("regular", *(("bold",) if 'font-weight="bold"' in svg or "font-weight:bold" in svg else ()))
    return with_style(svg, font_faces(*faces))


def with_style(svg: str, rules: str) -> str:
    """An SVG with a style sheet of its own."""
    end = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:end]}<style>{rules}</style>{svg[end:]}"


def _rule(family: str, file: str, style: str, weight: int) -> str:
    data = base64.b64encode(_folder().joinpath(f"{file}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weight};'
        f"src:url(data:font/woff2;base64,{data}) format('woff2')}}\n"
    )


def _folder() -> Traversable:
    return importlib.resources.files("marginflow.report").joinpath("fonts")
