"""How results show themselves: a repr of one to five lines, and in a notebook a table and a picture.

Nothing here draws. `marginflow.plot` knows how, and is imported when somebody looks: the library alone runs without
charts, and no room imports the one above it.
"""

import dataclasses
import importlib
import math
import numbers
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Final

_COLUMNS: Final = 100
_LINES: Final = 5
_SHORT: Final = 60
_DIGITS: Final = 10


class Brief:
    """A dataclass whose repr has at most five lines: arrays by their shapes, long sequences by their lengths.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from marginflow.display import Brief
    >>> @dataclass(frozen=True)
    ... class Pair(Brief):
    ...     W: np.ndarray
    ...     residual: float
    >>> Pair(W=np.zeros((3, 2)), residual=1 / 3)
    Pair(W=array of 3 × 2, residual=0.333333)
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__repr__" not in vars(cls):  # else `dataclass` writes one that shows everything
            setattr(cls, "__repr__", Brief.__repr__)  # noqa: B010

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # only dataclasses inherit from this
        inside = ", ".join(f"{field.name}={brief_text(getattr(self, field.name))}" for field in fields if field.repr)
        return shortened(f"{type(self).__name__}({inside})")


class Displayed(Brief):
    """A result that shows itself in a notebook: a sentence, a table, and a picture where there is one."""

    def _repr_html_(self) -> str:
        return str(_pictures().html_of(self))


class Plotted(Displayed):
    """A result that also draws itself on demand."""

    def plot(self, **options: Any) -> Any:
        """The picture that is natural for this result, as an Altair chart (see `marginflow.plot`)."""
        return _pictures().plot_of(self, **options)


def shortened(text: str) -> str:
    """A text in at most five lines."""
    lines = textwrap.wrap(text, _COLUMNS, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "  ...)"])


def duration(seconds: float) -> str:
    """A time in words.

    Examples
    --------
    >>> from marginflow.display import duration
    >>> duration(8.2), duration(200), duration(90_000)
    ('8 s', '3 min', '25.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def brief_text(value: object) -> str:
    """A value of a field in a few characters."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"array of {' × '.join(map(str, shape))}"
    if isinstance(value, numbers.Real) and not isinstance(value, bool | int):
        whole = repr(float(value))
        return whole if len(whole) <= _DIGITS else f"{float(value):.6g}"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHORT else value[: _SHORT - 3] + "...")
    if isinstance(value, tuple | list | set | frozenset | Mapping):
        if not value or _lies_flat(value):
            return repr(value)
        return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
    text = repr(value)
    if len(text) <= _SHORT and "\n" not in text:
        return text
    record = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return f"{type(value).__name__}(...)" if record else f"a {type(value).__name__}"


def _lies_flat(value: Any) -> bool:
    """Whether a collection is a few numbers and words."""
    entries = [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)
    plain = all(entry is None or isinstance(entry, str | bool | int | float) for entry in entries)
    return len(entries) <= 6 and plain and len(repr(value)) <= _SHORT


def _pictures() -> Any:
    return importlib.import_module("marginflow.plot.results")


def text_of(value: object) -> str:
    """A value as a reader sees it: four significant digits, yes and no, a dash for nothing.

    Examples
    --------
    >>> from marginflow.display import text_of
    >>> [text_of(value) for value in (0.123456, 1e-12, 100, True, None, "sphere")]
    ['0.1235', '1e-12', '100', 'yes', '–', 'sphere']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        x = float(value)
        if math.isnan(x):
            return "–"
        return f"{x:.4g}" if math.isfinite(x) else ("∞" if x > 0 else "-∞")
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text_of(entry)}" for key, entry in value.items())
    if isinstance(value, Iterable):
        return ", ".join(text_of(entry) for entry in value)
    return str(value)


def shortest_sentence(
    upper: float, lower: float, *, samples: int, does: str = "flips", share: float = 1.0, how: str = "", digits: int = 4
) -> str:
    """What is known of the shortest vector that does something to a share of the samples, without the full stop.

    A bound that is not finite says that there is none, as does not-a-number, which is null in a record. `does` is a
    verb, `how` says how the vector acts, `digits` are those of the lengths.

    Examples
    --------
    >>> import math
    >>> from marginflow.display import shortest_sentence
    >>> shortest_sentence(0.5, 0.5, samples=60)
    'one vector of norm 0.5 flips all 60 samples, and none shorter does'
    >>> shortest_sentence(math.inf, 0.25, samples=60, share=0.9)
    'no vector was found that flips 90 % of 60 samples; none shorter than 0.25 does'
    >>> shortest_sentence(math.inf, math.inf, samples=60, how="added to each")
    'no vector, however long, added to each, flips all 60 samples'
    """
    many = f"all {samples} samples" if share == 1.0 else f"{100 * share:g} % of {samples} samples"
    if upper == 0.0:
        those = f"every one of the {samples} samples is" if share == 1.0 else f"{many} are"
        return f"{those} on the wrong side already"
    does_so = f", {how}, {does} {many}" if how else f" {does} {many}"
    if math.isfinite(upper):
        return f"one vector of norm {upper:.{digits}g}{does_so}, and {none_shorter(upper, lower, digits)}"
    if math.isfinite(lower):
        least = none_shorter(upper, lower, digits) if lower > 0.0 else "one may exist"
        return f"no vector was found that{does_so}; {least}"
    return f"no vector, however long,{does_so.removeprefix(',')}"


def none_shorter(upper: float, lower: float, digits: int = 4) -> str:
    """The lower bound in words; a vector is called the shortest where the bounds agree to a millionth."""
    if math.isclose(upper, lower, rel_tol=1e-6):
        return "none shorter does"
    return f"none shorter than {lower:.{digits}g} does" if lower > 0.0 else "a shorter one may"


def capitalised(sentence: str) -> str:
    """A sentence with a large first letter; `capitalize` would make "kkt" of KKT."""
    return sentence[:1].upper() + sentence[1:]
