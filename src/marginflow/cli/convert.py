"""`marginflow convert TABLE`: a table with labels of any two kinds, as data with the labels -1 and +1."""

from __future__ import annotations

import csv
import math
import shlex
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.exit_codes import DONE
from marginflow.cli.options import AsJson, Force, Out
from marginflow.cli.output import check_target, note, tell
from marginflow.data import Dataset
from marginflow.data.files import separator
from marginflow.errors import InputError


def convert(
    table: Annotated[Path, Parameter(help="Table, .csv, with commas between values and names in its first line.")],
    *,
    positive: Annotated[str, Parameter(help="The label that becomes +1; any other becomes -1.", negative="")],
    negative: Annotated[str | None, Parameter(help="Keep only lines with this label or the positive one.")] = None,
    label: Annotated[str | None, Parameter(name="--label", help="Name of the label column; default: the last.")] = None,
    drop: Annotated[
        list[str] | None, Parameter(consume_multiple=(1, None), negative="", help="Names of columns to leave out.")
    ] = None,
    header: Annotated[
        bool | None,
        Parameter(help="Whether the first line holds names; without it columns are called 1, 2, 3 and so on."),
    ] = None,
    out: Out,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0."""
    check_target(out, (".npz", ".csv"), force=force)
    names, lines = _read(table, header=header is not False)
    label_at = _column(table, names, label) if label is not None else len(names) - 1
    if header is None:
        _refuse_samples(table, names, label_at, lines)
    left_out = {_column(table, names, name) for name in drop or []}
    if label_at in left_out:
        raise InputError(f"The column {names[label_at]!r} holds the labels and cannot be left out.")
    found = Counter(row[label_at].strip() for _, row in lines)
    for wanted in (positive, *([negative] if negative is not None else [])):
        if not any(_same(wanted, one) for one in found):
            raise InputError(f"No line of {table} has the label {wanted!r}; the labels are {_some(list(found))}.")
    others = [one for one in found if not _same(one, positive)]
    if negative is not None and _same(positive, negative):
        raise InputError(f"--positive and --negative are both {positive!r}; two labels are expected.")
    if not others:
        raise InputError(f"Every line of {table} has the label {positive!r}; two kinds of labels are expected.")
    kept = [
        (number, row)
        for number, row in lines
        if negative is None or _same(row[label_at], positive) or _same(row[label_at], negative)
    ]
    features = [column for column in range(len(names)) if column != label_at and column not in left_out]
    if not features:
        raise InputError(f"{table} has no column left besides the labels.")
    X = [[_number(table, number, names[column], row[column]) for column in features] for number, row in kept]
    y = [1.0 if _same(row[label_at], positive) else -1.0 for _, row in kept]
    data = Dataset(X=X, y=y)  # type: ignore[arg-type]  # the data set itself makes arrays of lists
    data.save(out)
    if negative is None and any(not _same(one, others[0]) for one in others):
        note(f"Several labels become -1: {_some(others)}; --negative keeps one of them only.")
    record = {
        "out": out,
        "n_samples": data.n_samples,
        "dimension": data.dimension,
        "positive": y.count(1.0),
        "negative": y.count(-1.0),
        "left_out": len(lines) - len(kept),
        "columns": [names[column] for column in features],
    }
    headings = {"n_samples": "Samples", "dimension": "Dimension", "positive": "Labels +1", "negative": "Labels -1"}
    tell(record, as_json=as_json, headings=headings | {"left_out": "Left out", "out": "Written to"})
    return DONE


def _read(source: Path, *, header: bool) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and every line with its number."""
    if source.is_dir():
        raise InputError(f"{source} is a folder, not a file; a table, .csv, is expected.")
    if not source.is_file():
        raise InputError(f"There is no file {source}.")
    if source.suffix.lower() != ".csv":
        raise InputError(f"{source} ends in {source.suffix!r}; .csv is expected.")
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise InputError(f"{source} is not a readable .csv file: {error}.") from None
    body = rows[1:] if header else rows
    if not body:
        first = "names in the first line and " if header else ""
        raise InputError(f"{source} has no samples; {first}one sample per line are expected.")
    width = len(rows[0][1])
    if width == 1 and (mark := separator(rows[0][1][0])):
        raise InputError(f"{source} has {mark}s between its values; commas are expected.")
    for number, row in body:
        if len(row) != width:
            raise InputError(f"{source}, line {number}: {len(row)} values, but the first line has {width}.")
    names = [name.strip() for name in rows[0][1]] if header else [str(column + 1) for column in range(width)]
    return names, body


def _refuse_samples(source: Path, names: Sequence[str], label_at: int, lines: Sequence[tuple[int, list[str]]]) -> None:
    """Refuse a first line that looks like a sample: only numbers, or a label that other lines have too."""
    if all(_is_number(name) for name in names):
        why = "consists of numbers"
    elif any(_same(names[label_at], row[label_at]) for _, row in lines):
        why = f"has {names[label_at]!r} where other lines have their label"
    else:
        return
    raise InputError(
        f"The first line of {source} {why}, but names of columns are expected there; "
        "add --no-header if it is a sample, or --header if these are names."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == ""
    return True


def _column(source: Path, header: Sequence[str], name: str) -> int:
    if name not in header:
        near = get_close_matches(name, header, n=1)
        known = f"did you mean {near[0]!r}?" if near else f"the columns are {_some(header)}."
        raise InputError(f"{source} has no column named {name!r}; {known}")
    if header.count(name) > 1:
        raise InputError(f"{source} has {header.count(name)} columns named {name!r}; one is expected.")
    return header.index(name)


def _number(source: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{source}, line {line}: {text!r} in the column {column!r} is not a finite number; "
            f"remove the line, or leave the column out with --drop {shlex.quote(column)}."
        )
    return value


def _same(one: str, other: str) -> bool:
    """Equal as text, or as numbers: 1 is 1.0."""
    one, other = one.strip(), other.strip()
    if one == other:
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _some(labels: Sequence[str]) -> str:
    return ", ".join(repr(one) for one in labels[:8]) + (", ..." if len(labels) > 8 else "")
