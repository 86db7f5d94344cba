"""`marginflow convert TABLE`: a table with labels of any two kinds, as data with the labels -1 and +1."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.exit_codes import DONE
from marginflow.cli.options import AsJson, Force, Out
from marginflow.cli.output import check_target, tell
from marginflow.data import Dataset
from marginflow.errors import InputError


def convert(
    table: Annotated[Path, Parameter(help="Table, .csv, with names in its first line.")],
    *,
    positive: Annotated[str, Parameter(help="The label that becomes +1; any other becomes -1.", negative="")],
    negative: Annotated[str | None, Parameter(help="Keep only lines with this label or the positive one.")] = None,
    label: Annotated[str | None, Parameter(name="--label", help="Name of the label column; default: the last.")] = None,
    drop: Annotated[
        list[str] | None, Parameter(consume_multiple=True, negative="", help="Names of columns to leave out.")
    ] = None,
    out: Out,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0."""
    check_target(out, (".npz", ".csv"), force=force)
    header, lines = _read(table)
    place = _column(table, header, label) if label is not None else len(header) - 1
    left_out = {_column(table, header, name) for name in drop or []}
    if place in left_out:
        raise InputError(f"The column {header[place]!r} holds the labels and cannot be left out.")
    found = Counter(row[place].strip() for _, row in lines)
    for wanted in (positive, *([negative] if negative is not None else [])):
        if not any(_same(wanted, one) for one in found):
            raise InputError(f"No line of {table} has the label {wanted!r}; the labels are {_some(list(found))}.")
    kept = [
        (number, row)
        for number, row in lines
        if negative is None or _same(row[place], positive) or _same(row[place], negative)
    ]
    features = [column for column in range(len(header)) if column != place and column not in left_out]
    if not features:
        raise InputError(f"{table} has no column left besides the labels.")
    X = [[_number(table, number, header[column], row[column]) for column in features] for number, row in kept]
    y = [1.0 if _same(row[place], positive) else -1.0 for _, row in kept]
    data = Dataset(X=X, y=y)  # type: ignore[arg-type]
    data.save(out)
    record = {
        "out": out,
        "n_samples": data.n_samples,
        "dimension": data.dimension,
        "positive": y.count(1.0),
        "negative": y.count(-1.0),
        "left_out": len(lines) - len(kept),
        "columns": [header[column] for column in features],
    }
    headings = {"n_samples": "Samples", "dimension": "Dimension", "positive": "Labels +1", "negative": "Labels -1"}
    tell(record, as_json=as_json, headings=headings | {"left_out": "Left out", "out": "Written to"})
    return DONE


def _read(source: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and every line with its number."""
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
    if len(rows) < 2:
        raise InputError(f"{source} has no samples; names in the first line and one sample per line are expected.")
    header = [name.strip() for name in rows[0][1]]
    for number, row in rows[1:]:
        if len(row) != len(header):
            raise InputError(f"{source}, line {number}: {len(row)} values, but the first line has {len(header)}.")
    return header, rows[1:]


def _column(source: Path, header: Sequence[str], name: str) -> int:
    if header.count(name) != 1:
        raise InputError(f"{source} has {header.count(name)} columns named {name!r}; the header is {list(header)}.")
    return header.index(name)


def _number(source: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{source}, line {line}: {text!r} in the column {column!r} is not a finite number; "
            f"leave the column out with --drop {column}."
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
