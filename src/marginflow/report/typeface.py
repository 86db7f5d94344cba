"""The fonts that pages and pictures carry, so that superscripts, Greek and primes look the same everywhere."""

import base64
import importlib.resources
import importlib.resources.abc
from functools import cache
from typing import Final

SANS: Final = "Marginflow Sans"
_FACES: Final = {
    "regular": (SANS, "marginflow-sans-regular", "normal", 400),
    "bold": (SANS, "marginflow-sans-bold", "normal", 700),
    "italic": (SANS, "marginflow-sans-italic", "italic", 400),
    "math": ("Marginflow Math", "marginflow-math-regular", "normal", 400),
}


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
    end = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:end]}<style>{font_faces(*faces)}</style>{svg[end:]}"


def _rule(family: str, file: str, style: str, weight: int) -> str:
    data = base64.b64encode(_folder().joinpath(f"{file}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weight};'
        f"src:url(data:font/woff2;base64,{data}) format('woff2')}}\n"
    )


def _folder() -> importlib.resources.abc.Traversable:
    return importlib.resources.files("marginflow.report").joinpath("fonts")
