"""A table of somebody's own, `.csv` or DataFrame: which columns can be used and how; a sentence on the others."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from marginflow.data.dataset import Dataset
from marginflow.data.numerals import PLAIN, is_empty, number, settled, two_ways, unusual
from marginflow.data.preparation import Column, Preparation
from marginflow.data.raw_table import RawTable, raw_table, same_label, some_of
from marginflow.display import Brief
from marginflow.errors import InputError

Missing = Literal["drop", "mean"]
Decimal = Literal["point", "comma"]
_MOST_CATEGORIES = 50
_FEW = 8


@dataclass(frozen=True, kw_only=True)
class Converted(Brief):
    """Data made from a table, and what became of its lines and columns.

    Attributes
    ----------
    data : Dataset
    left_out : int
        Lines with another label.
    incomplete : int
        Lines with an empty cell, left out by `missing="drop"`.
    how : dict
        For every column of the table, in words, what became of it.
    merged : tuple of str
        Labels that became -1 together.
    """

    data: Dataset
    left_out: int
    incomplete: int
    how: dict[str, str]
    merged: tuple[str, ...] = ()


def convert(
    table: object,
    *,
    label: str | int | None = None,
    positive: str | float | None = None,
    negative: str | float | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    standardise: bool = False,
    one_hot: bool = False,
    missing: Missing | None = None,
    decimal: Decimal | None = None,
    like: Dataset | None = None,
) -> Converted:
    """Make data of a table.

    Parameters
    ----------
    table : DataFrame, str, Path or RawTable
        The name is that of a `.csv` or `.tsv`, read by `read_table`; of a DataFrame the index is left out.
    label : str, int or None
        The column of the labels; None: the last (or that of `like`).
    positive, negative : str or None
        The label that becomes +1; all others become -1, or only `negative` is kept. Without `positive` the labels stay
        what they are: two of them in their order, or more classes.
    drop, keep : names of columns
        To leave out; to use although they look like numbers of the lines.
    standardise : bool
        (x - mean) / scale for every column of numbers, scale the standard deviation (divisor n; 1 if it is 0).
    one_hot : bool
        An indicator for each value of a column of words.
    missing : "drop", "mean" or None
        What to do with empty cells: leave the line out, or take the mean of the column.
    decimal : "point", "comma" or None
        What 1,234 means where no column says it, as one with 1,5 does; None: such a column is asked about.
    like : Dataset or None
        Do to the columns what was done to those of this data set, which was converted before.
    """
    table = raw_table(table)
    label, positive, negative = (None if word is None else str(word) for word in (label, positive, negative))
    before = None if like is None else like.preparation
    if like is not None and before is None:
        raise InputError("The data given as an example were not made from a table: they name no columns.")
    label = before.label if before is not None and label is None else label
    if before is not None and label not in table.names:
        raise InputError(
            f"{table.source} has no column {label!r}, which held the labels before; data need labels. For points "
            "without labels, data.preparation.apply(frame) makes X in Python."
        )
    index = table.column(label) if label is not None else len(table.names) - 1
    left_out = {table.column(name) for name in drop}
    if index in left_out:
        raise InputError(f"The column {table.names[index]!r} holds the labels and cannot be left out.")
    for name in keep:
        table.column(name)
    all_lines = len(table.lines)
    table, unlabelled = _labelled(table, index)
    trouble = [unlabelled] if unlabelled and missing != "drop" else []
    if trouble and before is not None:
        raise InputError(f"{table.source}: {unlabelled}.")
    class_of, classes, merged = _labels(table, index, positive, negative, like)
    numbers = {i: classes.index(class_of[cell]) for i, cell in enumerate(table.cells(index)) if cell in class_of}
    if before is not None:
        columns, how = before.columns, {column.name: "as before" for column in before.columns}
        indices = [table.column(column.name) for column in columns]
    else:
        indices = [column for column in range(len(table.names)) if column != index and column not in left_out]
        if not indices:
            one = len(table.names) == 1 and table.separator is not None
            other = f" (--separator, if its values are not separated by a {table.separator})" if one else ""
            raise InputError(f"{table.source} has no column left besides the labels{other}.")
    gaps = {i for i in numbers if any(is_empty(table.lines[i][1][column]) for column in indices)}
    kept = [i for i in numbers if not (missing == "drop" and i in gaps)]
    if not kept:
        raise InputError(f"Every {table.unit} of {table.source} has an empty cell; --missing mean fills them.")
    cells = {column: [table.lines[i][1][column].strip() for i in kept] for column in indices}
    if before is None:
        options = {"standardise": standardise, "one_hot": one_hot}
        trouble += _labels_again(table, index, indices, keep)
        columns, how = _columns(table, cells, kept, keep, trouble, missing=missing, decimal=decimal, **options)
    preparation = Preparation(columns=columns, label=table.names[index])
    y = np.array([numbers[i] for i in kept], dtype=np.float64)
    data = Dataset(
        preparation.apply({column.name: cells[where] for column, where in zip(columns, indices, strict=True)}),
        2.0 * y - 1.0 if len(classes) == 2 else y,
        classes=classes,
        features=preparation.features,
        preparation=preparation,
    )
    how |= {table.names[column]: "left out" for column in left_out} | {table.names[index]: "label"}
    how |= {name: f"{how.get(name, 'not used')}, called {old!r} in the table" for name, old in table.repeated.items()}
    return Converted(
        data=data,
        left_out=len(table.lines) - len(numbers),
        incomplete=all_lines - len(table.lines) + len(numbers) - len(kept),
        how={name: how.get(name, "not used") for name in table.names},
        merged=merged,
    )


def _labelled(table: RawTable, index: int) -> tuple[RawTable, str]:
    """The table without the lines that have no label, and a sentence on the first of them, or ""."""
    empty = [line for line, row in table.lines if is_empty(row[index])]
    if len(empty) == len(table.lines):
        raise InputError(f"{table.source}: the label, column {table.names[index]!r}, is empty in every {table.unit}.")
    if not empty:
        return table, ""
    lines = tuple(line for line in table.lines if not is_empty(line[1][index]))
    return replace(table, lines=lines), (
        f"the label, column {table.names[index]!r}, is empty in {_many(empty, table.unit)}, first in {table.unit} "
        f"{empty[0]} (--missing drop leaves such {table.unit}s out)"
    )


def _many(found: Sequence[int], unit: str) -> str:
    return f"{len(found)} {unit}{'s' if len(found) > 1 else ''}"


def _labels_again(table: RawTable, index: int, indices: Sequence[int], keep: Sequence[str]) -> list[str]:
    """Columns that would give the labels away: one of the same name, or with the labels in it."""
    label, cells, found = table.names[index], table.cells(index), []
    for name, column in ((table.names[other], other) for other in indices if table.names[other] not in keep):
        if table.repeated.get(name, name) == table.repeated.get(label, label):
            reason = "has the name of the label in the table"
        elif len(cells) >= _FEW and table.cells(column) == cells:
            reason = f"has the label, {label!r}, in every {table.unit}"
        else:
            continue
        quoted = shlex.quote(name)
        found.append(f"{name!r} {reason} (--drop {quoted}, or --keep {quoted} if it means something else)")
    return found


def _labels(
    table: RawTable, index: int, positive: str | None, negative: str | None, like: Dataset | None
) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """What each label that is kept becomes, the classes in order, and which labels became one."""
    cells = table.cells(index)
    found = list(dict.fromkeys(cells))
    if like is not None and positive is None:
        known = tuple(map(str, like.classes))
        rest = known[0] if len(known) == 2 and known[0].startswith("not ") else None  # one was put against the rest
        spelled = {label: next((word for word in known if same_label(word, label)), rest or label) for label in found}
        foreign = next((label for label in found if spelled[label] not in known), None)
        if foreign is not None:
            raise InputError(f"{table.source} has the label {foreign!r}; the classes were {some_of(known)}.")
        return spelled, known, ()
    for wanted in (positive, negative):
        if wanted is not None and not any(same_label(wanted, label) for label in found):
            raise InputError(
                f"No {table.unit} of {table.source} has the label {wanted!r}; the labels are {some_of(found)}."
            )
    first = {label: next(other for other in found if same_label(other, label)) for label in found}  # one spelling
    if positive is None:
        if negative is not None:
            raise InputError("--negative is given without --positive; both are expected, or neither.")
        classes = sorted(set(first.values()), key=lambda word: (number(word) is None, number(word) or 0.0, word))
        if len(classes) < 2:
            raise InputError(
                f"Every {table.unit} of {table.source} has the label {cells[0]!r}; two kinds of labels are expected."
            )
        if len(cells) > _FEW and len(classes) > len(cells) / 2:
            raise InputError(
                f"{table.source}: the label, column {table.names[index]!r}, has {len(classes)} different values in "
                f"{len(cells)} {table.unit}s; classes are expected (--label names another column, --positive a class)."
            )
        return first, tuple(classes), ()
    others = list(dict.fromkeys(first[label] for label in found if not same_label(label, positive)))
    if negative is not None and same_label(positive, negative):
        raise InputError(f"--positive and --negative are both {positive!r}; two labels are expected.")
    if not others:
        raise InputError(
            f"Every {table.unit} of {table.source} has the label {positive!r}; two kinds of labels are expected."
        )
    rest = negative if negative is not None else others[0] if len(others) == 1 else f"not {positive}"
    class_of = {label: rest for label in found if negative is None or same_label(label, negative)}
    class_of |= {label: positive for label in found if same_label(label, positive)}
    return class_of, (rest, positive), tuple(others) if negative is None and len(others) > 1 else ()


def _columns(
    table: RawTable,
    cells: dict[int, list[str]],
    kept: Sequence[int],
    keep: Sequence[str],
    trouble: list[str],
    *,
    standardise: bool,
    one_hot: bool,
    missing: Missing | None,
    decimal: Decimal | None,
) -> tuple[tuple[Column, ...], dict[str, str]]:
    """What becomes of each column; every one that cannot be used is named in one sentence, after what is known."""
    columns: list[Column] = []
    how: dict[str, str] = {}
    first: dict[tuple[str, ...], str] = {}
    marks = {None: None, "point": ".", "comma": ","}
    ways = settled(cells, decimal=marks[decimal], semicolons=table.separator == "semicolon")
    for index, column in cells.items():
        name = table.names[index]
        numeral = ways[index][0] if ways[index] else PLAIN
        numbers = [numeral.value(cell) for cell in column]
        empty = [i for i, cell in enumerate(column) if is_empty(cell)]
        words = [i for i, value in enumerate(numbers) if value is None and not is_empty(column[i])]
        categories = tuple(sorted(set(column))) if words else ()
        known = np.array([value for value in numbers if value is not None])
        quoted = shlex.quote(name)
        same = f", the same as {first[tuple(column)]!r}" if tuple(column) in first and len(set(column)) > 1 else ""
        first.setdefault(tuple(column), name)
        if (reason := _identifier(name, column, numbers)) and name not in keep:
            trouble.append(f"{name!r} {reason} (--drop {quoted}, or --keep {quoted} if it means something)")
        elif len(ways[index]) == 2:
            trouble.append(f"{name!r} can be read in two ways: {two_ways(column, ways[index])}")
        elif words and not one_hot:
            line = table.lines[kept[words[0]]][0]
            nothing = "; if it means no value, leave the cell empty" if 2 * len(words) < len(column) else ""
            trouble.append(
                f"{name!r} is not a number: {column[words[0]]!r} in {table.unit} {line} (--one-hot, or --drop {quoted}"
                f"{nothing})"
            )
        elif len(categories) > _MOST_CATEGORIES:
            trouble.append(f"{name!r} has {len(categories)} different words (--drop {quoted})")
        elif words:
            columns.append(Column(name=name, categories=categories))
            how[name] = f"{len(categories)} indicators{same}"
        elif empty and missing is None:
            line = table.lines[kept[empty[0]]][0]
            trouble.append(
                f"{name!r} is empty in {_many(empty, table.unit)}, first in {table.unit} {line} (--missing drop, "
                f"--missing mean, or --drop {quoted})"
            )
        elif known.size == 0:
            trouble.append(f"{name!r} is empty in every {table.unit} (--drop {quoted})")
        else:
            filled = np.array([known.mean() if value is None else value for value in numbers])
            spread = float(filled.std())
            columns.append(
                Column(
                    name=name,
                    mean=float(filled.mean()) if standardise else 0.0,
                    scale=(spread if spread > 0 else 1.0) if standardise else 1.0,
                    filler=float(known.mean()) if missing == "mean" else None,
                    numeral=numeral,
                )
            )
            gaps = ", empty cells filled" if empty else ""
            constant = ", the same everywhere" if spread == 0.0 and len(filled) > 1 else ""
            notes = constant + gaps + unusual(column, numeral) + same
            how[name] = ("standardised" if standardise else "as it is") + notes
    if trouble:
        what = (
            "This column cannot be used as it is" if len(trouble) == 1 else "These columns cannot be used as they are"
        )
        raise InputError(f"{table.source}: {what}: {'; '.join(trouble)}.")
    return tuple(columns), how


def _identifier(name: str, column: Sequence[str], numbers: Sequence[float | None]) -> str:
    """Why a column looks as if it only named or numbered the lines; "" if it does not."""
    code = next((cell for cell in column if len(cell) > 1 and cell.isdigit() and cell.startswith("0")), None)
    if code is not None and all(cell.isdigit() for cell in column):
        return f"looks like a code, which is not a quantity: {code!r} begins with 0"
    if len(set(column)) < len(column) or len(column) < 2:
        return ""
    if not name or name.lower().startswith("unnamed"):
        return "has no name and a different value in every line"
    if name.lower() in ("id", "index", "key", "uuid", "row") or name.lower().endswith(("_id", " id")):
        return "looks like an identifier: a different value in every line"
    if len(column) < _FEW:  # a feature may well be 1, 2, 3
        return ""
    whole = [int(value) for value in numbers if value is not None and value == int(value)]
    if len(whole) == len(column) and whole == list(range(whole[0], whole[0] + len(whole))):
        return "counts the lines"
    if all(value is None for value in numbers):
        return f"has a different word in every line, such as {column[0]!r}"
    return ""
