"""What a page carries with it: its templates and style sheets, and Vega with Vega-Lite and Vega-Embed as one script."""

import importlib.resources
from functools import cache

from marginflow.report.typeface import font_faces


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
