r"""LaTeX formulas as text that a terminal can show: letters, signs, indices and fractions in Unicode."""

import re
from typing import Final

_NAMES: Final = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "ell": "ℓ", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ", "Omega": "Ω", "le": "≤", "leq": "≤", "ge": "≥",
    "geq": "≥", "ne": "≠", "neq": "≠", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆", "cup": "∪", "cap": "∩",
    "emptyset": "∅", "forall": "∀", "exists": "∃", "implies": "⟹", "Rightarrow": "⇒", "iff": "⟺", "to": "→",
    "rightarrow": "→", "mapsto": "↦", "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "cdot": "·", "times": "×",
    "pm": "±", "mp": "∓", "approx": "≈", "sim": "~", "simeq": "≃", "propto": "∝", "ll": "≪", "gg": "≫", "nabla": "∇",
    "partial": "∂", "langle": "⟨", "rangle": "⟩", "|": "‖", "lVert": "‖", "rVert": "‖", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "wedge": "∧", "vee": "∨", "neg": "¬", "setminus": "∖", "top": "ᵀ", "ldots": "…",
    "dots": "…", "cdots": "⋯", "mid": "|", "circ": "∘", "equiv": "≡", "odot": "⊙", "perp": "⊥", "star": "⋆",
    "quad": "  ", "qquad": "    ", "ln": "ln", "log": "log", "exp": "exp", "min": "min", "max": "max", "sup": "sup",
    "inf": "inf", "limsup": "lim sup", "lim": "lim", "Pr": "P", "sign": "sign", "Vert": "‖", "prime": "′",
    "begin": "", "end": "", "limits": "", "displaystyle": "", "tr": "tr", "det": "det", "arg": "arg",
}  # fmt: skip
_SPACES: Final = {",": " ", ";": " ", ":": " ", "!": "", " ": " ", "\\": "; ", "{": "{", "}": "}", "%": "%", "_": "_"}
_RAISED: Final = dict(zip("0123456789+-=()niTkdm", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵀᵏᵈᵐ", strict=True))
_LOWERED: Final = dict(zip("0123456789+-=()aeijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_BLACKBOARD: Final = {"R": "ℝ", "E": "𝔼", "P": "ℙ", "N": "ℕ", "B": "𝔹", "S": "𝕊"}
_ACCENTS: Final = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "dot": "\u0307"}
_WRAPPERS: Final = ("mathrm", "text", "operatorname", "mathbf", "mathcal", "mathit", "textstyle")


def readable(latex: str) -> str:
    r"""The formula as one line of Unicode text.

    Examples
    --------
    >>> from marginflow.theory.unicode_math import readable
    >>> readable(r"\|z\| \le \frac{18 \sqrt{2}}{c} \sqrt{\frac{d}{m}}")
    '‖z‖ ≤ 18 √2/c √(d/m)'
    >>> readable(r"y_i N_\theta(x_i) \ge 1")
    'yᵢ N_θ(xᵢ) ≥ 1'
    """
    text, position = _sequence(latex, 0, closing="")
    assert position >= len(latex)
    return re.sub(r"\s+", " ", text).replace("( ", "(").replace(" )", ")").strip()


def _sequence(source: str, position: int, closing: str) -> tuple[str, int]:
    """Everything up to `closing` (or the end)."""
    out: list[str] = []
    while position < len(source):
        if closing and source[position] == closing:
            return "".join(out), position + 1
        piece, position = _piece(source, position)
        out.append(piece)
    return "".join(out), position


def _argument(source: str, position: int) -> tuple[str, int]:
    """The next group or sign."""
    while position < len(source) and source[position] == " ":
        position += 1
    if position < len(source) and source[position] == "{":
        return _sequence(source, position + 1, "}")
    return _piece(source, position) if position < len(source) else ("", position)


def _piece(source: str, position: int) -> tuple[str, int]:
    sign = source[position]
    if sign == "\\":
        return _command(source, position + 1)
    if sign == "{":
        return _sequence(source, position + 1, "}")
    if sign in "^_":
        inner, position = _argument(source, position + 1)
        return _script(inner.strip(), raised=sign == "^"), position
    return ("′" if sign == "'" else " " if sign in "&~" else sign), position + 1


def _command(source: str, position: int) -> tuple[str, int]:
    match = re.match(r"[A-Za-z]+", source[position:])
    if match is None:
        sign = source[position : position + 1]
        return _SPACES.get(sign, _NAMES.get(sign, sign)), position + 1
    name = match.group()
    position += match.end()
    if name in ("frac", "tfrac", "dfrac", "binom"):
        above, position = _argument(source, position)
        below, position = _argument(source, position)
        chosen = f"({above} choose {below})"
        return chosen if name == "binom" else f"{_grouped(above)}/{_grouped(below, tight=True)}", position
    if name == "sqrt":
        inner, position = _argument(source, position)
        return "√" + _grouped(inner, tight=True), position
    if name == "mathbb":
        inner, position = _argument(source, position)
        return "".join(_BLACKBOARD.get(letter, letter) for letter in inner), position
    if name in _ACCENTS:
        inner, position = _argument(source, position)
        return inner + _ACCENTS[name], position
    if name in ("left", "right", "big", "Big", "bigl", "bigr"):
        return "", position + (1 if source[position : position + 1] == "." else 0)
    if name in _WRAPPERS:
        return _argument(source, position)
    known = _NAMES.get(name, name)
    spaced = known in "≤≥≠∈∉⟹⇒⟺→≈~∝≪≫⊂⊆∪∩∧∨"
    return (f" {known} " if spaced else known), position


def _grouped(text: str, *, tight: bool = False) -> str:
    """In brackets where it is more than one term; `tight`: where it is more than one sign with its indices."""
    text = text.strip()
    if tight:
        alone = re.fullmatch(r"√?[^\W\d_][′₀-₉ₐ-ₜᵢⱼᵣᵤᵥⁱⁿ²³]*|[0-9.]+", text) is not None
    else:
        alone = re.search(r"[+−]|(?<=\S) ?-|/", text) is None
    return text if alone else f"({text})"


def _script(text: str, *, raised: bool) -> str:
    table = _RAISED if raised else _LOWERED
    compact = text.replace(" ", "")
    if compact and all(letter in table for letter in compact):
        return "".join(table[letter] for letter in compact)
    if raised and compact in ("ᵀ", "′", "⋆"):
        return compact
    mark = "^" if raised else "_"
    return f"{mark}{compact}" if len(compact) == 1 else f"{mark}({text})"
