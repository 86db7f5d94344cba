"""Tables of pandas and polars, without importing either: the names of their columns, empty cells, cells as text."""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from marginflow.doors import brief
from marginflow.errors import InputError

MISSING = (
    "leave such rows out or fill them, in pandas by dropna() or fillna(X.mean()); of a table with its labels "
    'mf.data.convert(table, label=..., missing="drop") does so, or missing="mean", and of a .csv '
    "marginflow convert --missing drop|mean"
)
_FEW = 8


def is_frame(value: object) -> bool:
    """Whether it is a table with named columns and rows that can be listed."""
    rows = getattr(value, "itertuples", None) or getattr(value, "rows", None)
    return callable(rows) and isinstance(getattr(value, "columns", None), Iterable)


def column_names(X: object, features: object) -> tuple[str, ...] | None:
    """The names of the columns: as given, else those of a table, else None."""
    names = features if features is not None else getattr(X, "columns", None)
    if names is None or callable(names):
        return None
    if isinstance(names, str) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
        raise InputError(f"features is {brief(names)}; the names of the columns are expected.")
    return tuple(map(str, names))


def refuse_words(X: object, names: tuple[str, ...]) -> None:
    """Refuse columns of a table that do not hold numbers, by their names."""
    kinds = getattr(X, "dtypes", ())
    words = [name for name, kind in zip(names, kinds, strict=False) if getattr(kind, "kind", "f") not in "biuf"]
    if words:
        raise InputError(
            f"X has columns that are not numbers: {', '.join(map(repr, words[:_FEW]))}; leave them out, or make "
            "numbers of them (mf.data.convert(table, label=..., one_hot=True) does so for a table with its labels, "
            "`marginflow convert --one-hot` for a .csv)."
        )


def refuse_shuffled(X: object, y: object) -> None:
    """Refuse a table and labels whose indexes name the same rows in another order: they would be paired by position."""
    rows: Any = getattr(X, "index", None)
    labels: Any = getattr(y, "index", None)
    if callable(getattr(rows, "equals", None)) and callable(getattr(labels, "equals", None)):
        same = len(rows) == len(labels) and not rows.equals(labels) and set(rows) == set(labels)
        if same and len(set(rows)) == len(rows):
            raise InputError(
                "The indexes of X and y have the same rows in another order; y.loc[X.index] is expected, or "
                "y.to_numpy() if the labels belong to the rows as they stand."
            )


def refuse_gaps(X: object, names: tuple[str, ...] | None) -> None:
    """Refuse empty cells (NaN, None, NA) with what can be done about them; anything else passes."""
    try:
        asks = getattr(X, "isna", None)
        gaps = np.asarray(asks() if callable(asks) else np.isnan(np.asarray(X, dtype=np.float64)), dtype=bool)
    except (TypeError, ValueError, OverflowError):  # not numbers at all, which is said elsewhere
        return
    if gaps.ndim != 2 or not gaps.any():
        return
    columns = np.flatnonzero(gaps.any(axis=0))
    found = [
        f"{'column ' + str(column) if names is None else repr(names[column])} in {_rows(gaps[:, column])}"
        for column in columns[:_FEW]
    ]
    more = f" and {len(columns) - _FEW} more columns" if len(columns) > _FEW else ""
    raise InputError(f"X has empty cells (NaN): {', '.join(found)}{more}; every entry must be finite: {MISSING}.")


def _rows(gaps: np.ndarray) -> str:
    index = np.flatnonzero(gaps)
    return f"row {index[0]}" if index.size == 1 else f"{index.size} rows, first in row {index[0]}"


def cells_of(frame: Any) -> tuple[tuple[str, ...], dict[str, str], list[tuple[str, ...]]]:
    """The names of the columns as by `distinct_names`, and every row as the text that a `.csv` would have."""
    rows = frame.itertuples(index=False, name=None) if hasattr(frame, "itertuples") else frame.rows()
    return *distinct_names([str(name) for name in frame.columns]), [tuple(map(_text, row)) for row in rows]


def distinct_names(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names of columns with numbers behind those that were there before, and what these were called.

    Examples
    --------
    >>> from marginflow.data.frames import distinct_names
    >>> distinct_names(["a", "b", "a", "a.1"])
    (('a', 'b', 'a.2', 'a.1'), {'a.2': 'a'})
    """
    given = set(names)
    distinct: dict[str, str] = {}
    for name in names:
        numbered = (f"{name}.{number}" for number in itertools.count(1))
        new = next(other for other in numbered if other not in given and other not in distinct)
        distinct[new if name in distinct else name] = name
    return tuple(distinct), {new: name for new, name in distinct.items() if new != name}


def _text(value: object) -> str:
    if is_gap(value):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def is_gap(value: object) -> bool:
    """Whether an entry says that there is nothing: None, NaN, or what pandas has for it.

    Examples
    --------
    >>> from marginflow.data.frames import is_gap
    >>> is_gap(None), is_gap(float("nan")), is_gap(0.0), is_gap("")
    (True, True, False, False)
    """
    nothing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return nothing or (isinstance(value, float) and math.isnan(value))
