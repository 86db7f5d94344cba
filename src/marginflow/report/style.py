"""The one style of printed charts: column or page width, 8 pt, light or dark, real superscripts, legends that fit.

A printed chart carries its font (`bundle`), an SVG as data, PNG and PDF as drawn or embedded letters: it looks
the same wherever it is opened, and legends are laid out for the letters that the reader sees.
"""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal

from marginflow.report.bundle import SANS, template_text

Width = Literal["column", "page"]
Mode = Literal["light", "dark"]
INCHES: Final[Mapping[str, float]] = {"column": 3.25, "page": 6.75}
FONT: Final = f"{SANS}, system-ui, sans-serif"
_PIXELS: Final = 96.0  # of an inch, as in CSS
_SIZE: Final = 8.0 * _PIXELS / 72.0  # 8 pt
_LETTER: Final = 0.5 * _SIZE  # mean width of a letter of the font
_SYMBOL: Final = 40.0  # of an entry of a legend, with its margin

# A number below 1e-3 or above 1e4 as a power of ten with a real superscript, others as they are; an expression of Vega.
_DIGITS: Final = "['⁰','¹','²','³','⁴','⁵','⁶','⁷','⁸','⁹']"
_EXPONENT: Final = "floor(log(datum.value) / LN10 + 1e-9)"
_MANTISSA: Final = f"datum.value / pow(10, {_EXPONENT})"
POWER_OF_TEN: Final = (
    f"datum.value <= 0 || ({_EXPONENT} > -4 && {_EXPONENT} < 4) ? format(datum.value, '~g') : "
    f"(abs({_MANTISSA} - 1) < 1e-6 ? '' : format({_MANTISSA}, '.3~g') + '·') + "
    f"'10' + ({_EXPONENT} < 0 ? '⁻' : '') + "
    f"(abs({_EXPONENT}) > 9 ? {_DIGITS}[floor(abs({_EXPONENT}) / 10)] : '') + {_DIGITS}[abs({_EXPONENT}) % 10]"
)
# The same with every number as a power, for axes of many decades.
ALL_POWERS: Final = POWER_OF_TEN.replace(f"({_EXPONENT} > -4 && {_EXPONENT} < 4)", f"({_EXPONENT} == 0)")
_SUPERSCRIPTS: Final = str.maketrans("0123456789-+.α", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺·ᵅ")


def superscript(text: str) -> str:
    """A text with carets as one with real superscripts.

    Examples
    --------
    >>> from marginflow.report.style import superscript
    >>> superscript("m = d^0.5, d^α, 10^-4")
    'm = d⁰·⁵, dᵅ, 10⁻⁴'
    """
    text = re.sub(r"\^1(?![0-9.])", "", text)  # d^1 is d
    return re.sub(r"\^([0-9.+-]*[0-9]|α)", lambda found: found[1].translate(_SUPERSCRIPTS), text)


def raised(text: str) -> str:
    """A text in which numbers such as 1.5e-15 and powers such as 10^-20 have real superscripts, and -1 a real minus.

    Examples
    --------
    >>> from marginflow.report.style import raised
    >>> raised("residual 1.5e-15 at 1e-08, loss 10^-20, x^2")
    'residual 1.5·10⁻¹⁵ at 10⁻⁸, loss 10⁻²⁰, x²'
    >>> raised("a sample -1 of [-2, 2], rows 3-5")
    'a sample −1 of [−2, 2], rows 3-5'
    """

    def power(found: re.Match[str]) -> str:
        exponent = str(int(found[2])).translate(_SUPERSCRIPTS)
        return f"10{exponent}" if float(found[1]) == 1.0 else f"{found[1]}·10{exponent}"

    text = superscript(re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)", power, text))
    return re.sub(r"(?<![\w.)\]}^|‖-])-(?=\d)", "−", text)  # a number below zero, not a range or a difference


_WORDS: Final = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "xi": "ξ"},
    **{"lambda": "λ", "mu": "μ", "omega": "ω", "sigma": "σ", "Delta": "Δ", "sqrt": "√", "ell": "ℓ", "pi": "π"},
    **{"Gamma": "Γ", "tau": "τ", "rho": "ρ", "kappa": "κ"},
}
_SIGNS: Final = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "||": "‖", "+-": "±", "⋅": "·", "^T": "ᵀ", "1/2 ‖": "½‖"}
_OPERAND_BEFORE: Final = r"(?<=[\d)\]}‖|ᵢⱼ₀-₉⁰-⁹²³])|(?<=(?<![\w'’])[A-Za-zα-ω])"
_OPERAND_AFTER: Final = r"(?=[\d(\[‖|√Σ∇α-ω]|[A-Za-z](?![a-z]))"
_LOWERED: Final = str.maketrans("0123456789ij+-", "₀₁₂₃₄₅₆₇₈₉ᵢⱼ₊₋")


def signs(text: str) -> str:
    """A sentence with mathematics in plain letters as one with its signs: relations, norms, roots, Greek, indices.

    Names of options, files and functions keep their letters: what stands between backticks is left alone.

    Examples
    --------
    >>> from marginflow.report.style import signs
    >>> signs("||theta||^2 >= sqrt(m), eta_1 <= 1e-08, y_i N(x_i - y_i z); let `a_1 <= b` be")
    '‖θ‖² ≥ √m, η₁ ≤ 10⁻⁸, yᵢ N(xᵢ − yᵢ z); let `a_1 <= b` be'
    >>> signs("j in J_+, ||a||_1 <= Gamma(n), C sum_i lambda_i")
    'j in J₊, ‖a‖₁ ≤ Γ(n), C Σᵢ λᵢ'
    >>> signs("min 1/2 ||theta||^2, d theta / dt = -grad L, 1 - y N(x); a - dash - stays")
    'min ½‖θ‖², dθ/dt = −∇L, 1 − y N(x); a - dash - stays'
    >>> signs("the modulus of w . x is needed.")
    'the modulus of w · x is needed.'
    """
    parts = text.split("`")
    return "`".join(part if index % 2 else _signs(part) for index, part in enumerate(parts))


def _signs(text: str) -> str:
    for written, sign in _SIGNS.items():
        text = text.replace(written, sign)
    text = re.sub(rf"(?<![A-Za-z])({'|'.join(_WORDS)})(?![A-Za-z])", lambda found: _WORDS[found[1]], text)
    text = re.sub(r"(?<![A-Za-z])sum_(?=[ij]\b)", "Σ_", text)
    text = re.sub(
        r"(?:(?<![A-Za-z_])([A-Za-zα-ωΓΔΣ])|(‖))_([0-9]+(?!\w)|[ij](?!\w)|[+-](?![\w(]))",
        lambda m: (m[1] or m[2]) + m[3].translate(_LOWERED),
        text,
    )
    text = re.sub(r"(?<![A-Za-z])d ([α-ω]) / d", r"d\1/d", text)
    text = re.sub(r"√\(([A-Za-zα-ω])\)(?![\w(])", r"√\1", text)
    text = re.sub(r"(?<=[\w)\]]) \. (?=[\w(\[])", " · ", text)
    text = re.sub(r"-(?=∇)", "−", re.sub(r"(?<![A-Za-z])grad (?=[A-Z(]|ln )", "∇", text))
    return re.sub(rf"(?:{_OPERAND_BEFORE}) - {_OPERAND_AFTER}", " − ", raised(text))


@cache
def colours(mode: Mode = "light") -> Mapping[str, str]:
    """The variables of the style sheet in one of its modes.

    Examples
    --------
    >>> from marginflow.report.style import colours
    >>> colours("light")["paper"], colours("dark")["paper"]
    ('#ffffff', '#14171a')
    """
    light, dark = template_text("page.css").split("prefers-color-scheme: dark", 1)
    found = dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6})", light.split("}", 1)[0]))
    if mode == "dark":
        found |= dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6})", dark.split("}", 1)[0]))
    return found


def printed(
    specification: Mapping[str, Any], *, title: str, width: Width | int = "page", mode: Mode = "light"
) -> dict[str, Any]:
    """The specification of a chart for print.

    Parameters
    ----------
    specification : mapping
        As a page has it, with the variables of its style sheet for colours.
    title : str
        Written over the chart.
    width : "column", "page" or int
        3.25 or 6.75 inches for everything that is drawn, with letters of 8 pt; or the width of the drawing area.
    mode : "light" or "dark"
    """
    known = colours(mode)
    text = re.sub(
        r"var\(--([a-z0-9-]+)\)", lambda found: known[found.group(1)], json.dumps(dict(specification), allow_nan=False)
    )
    text = superscript(text)
    made: dict[str, Any] = json.loads(text) | {"background": known["paper"]}
    square = isinstance(made.get("width"), int)
    if isinstance(width, int):
        return made | {"width": width, "title": {"text": superscript(title), "color": known["ink"]}}
    inches = INCHES[width]
    pixels = inches * _PIXELS
    inner = pixels - 14.0
    made["width"] = min(inner - 56.0, 330.0) if square else inner
    made["height"] = made["width"] if square else round((0.72 if width == "column" else 0.46) * inner)
    made["padding"] = {"left": 4, "right": 10, "top": 4, "bottom": 7}
    if not square:
        made["autosize"] = {"type": "fit-x", "contains": "padding"}
        made["width"] = pixels
    made["title"] = {
        "text": _wrapped(superscript(title), int(inner / _LETTER)),
        "anchor": "start",
        "fontSize": _SIZE,
        "fontWeight": "bold",
        "color": known["ink"],
        "offset": 6,
    }
    config = made.setdefault("config", {})
    sizes = {"labelFontSize": _SIZE, "titleFontSize": _SIZE}
    config["axis"] = {**config.get("axis", {}), **sizes, "titlePadding": 4, "labelPadding": 3}
    config["legend"] = {
        **config.get("legend", {}),
        **sizes,
        "layout": {"top": {"anchor": "start", "direction": "vertical", "margin": 2}},
        "titleOrient": "left",
        "rowPadding": 1,
        "columnPadding": 10,
        "symbolStrokeWidth": 1.6,
        "offset": 4,
    }
    config["mark"] = {**config.get("mark", {}), "fontSize": _SIZE}
    _fit_legends(made, inner)
    if width == "column":
        _smaller_marks(made)
    return made


def _wrapped(text: str, letters: int) -> list[str]:
    """The words of a title in lines that fit."""
    words = " ".join(text.split())
    return textwrap.wrap(words, letters, break_long_words=False, break_on_hyphens=False) or [""]


def _smaller_marks(node: Any) -> None:
    """Dots and the ends of bars at half of their size, in every mark of a specification."""
    for part in _parts(node):
        if isinstance(mark := part.get("mark"), dict):
            smaller = {"point": ("size",), "tick": ("width",)}.get(str(mark.get("type")), ())
            part["mark"] = mark | {name: mark[name] / 2 for name in smaller if name in mark}


def _fit_legends(node: Any, pixels: float) -> None:
    """As many names beside each other as there is room for, in every legend of a specification."""
    for part in _parts(node):
        domain = part.get("scale", {}).get("domain") if isinstance(part.get("scale"), dict) else None
        if isinstance(legend := part.get("legend"), dict) and isinstance(domain, list) and domain:
            widest = max(len(str(name)) for name in domain) * _LETTER + _SYMBOL
            room = pixels - len(str(part.get("title") or "")) * _LETTER
            symbol = 260 if legend.get("symbolType") == "stroke" else 60
            part["legend"] = legend | {"columns": max(1, min(len(domain), int(room / widest))), "symbolSize": symbol}
        if part.get("type") == "text" and "fontSize" in part:
            part["fontSize"] = _SIZE


def _parts(node: Any) -> Iterator[dict[str, Any]]:
    """Every object in a specification, the outer before the inner."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _parts(child)
