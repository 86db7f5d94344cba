"""Results as a table for other programs: CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Final

from marginflow.errors import InputError
from marginflow.storage import write_bytes, write_text
from marginflow.sweeps.runner import Results

SUFFIXES: Final = (".csv", ".parquet")


def export(results: Results, path: str | Path, *, seconds: bool = False) -> Path:
    """Write one line for every finished cell: parameters, seed, status, and the columns of the row.

    Numbers are written so that reading them gives the same bits. Failed cells are there too, with their status and
    nothing else. Lists and tables among the parameters are written as JSON.

    Parameters
    ----------
    results : Results
    path : str or Path
        Ends in .csv or .parquet; the latter needs pyarrow.
    seconds : bool
        Also write the wall time; without it equal sweeps give equal files.
    """
    target = Path(path)
    lines = table(results, seconds=seconds)
    match target.suffix:
        case ".csv":
            return write_text(target, _csv(lines))
        case ".parquet":
            return write_bytes(target, _parquet(lines))
    raise InputError(f"{target} ends in {target.suffix!r}; {' or '.join(SUFFIXES)} is expected.")


def table(results: Results, *, seconds: bool = False) -> list[dict[str, object]]:
    """The lines of the table, all with the same columns."""
    names: dict[str, None] = {}
    for record in results.records:
        names |= dict.fromkeys([*record.cell.parameters, "seed", "status"])
    for record in results.records:
        names |= dict.fromkeys(record.row)
    names |= dict.fromkeys(["seconds"] if seconds else [])
    whole = [{**record.flat(seconds=seconds), "status": record.status} for record in results.records]
    return [{name: _scalar(line.get(name)) for name in names} for line in whole]


def _scalar(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list | tuple) else value


def _csv(lines: list[dict[str, object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(lines[0]) if lines else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _word(value) for name, value in line.items()} for line in lines)
    return text.getvalue()


def _word(value: object) -> object:
    """True and false as in JSON; everything else as Python's csv writes it (floats so that they round-trip)."""
    return str(value).lower() if isinstance(value, bool) else value


def _parquet(lines: list[dict[str, object]]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow; install it with: pip install 'marginflow[parquet]', or export to .csv."
        ) from None
    try:
        made = pyarrow.Table.from_pylist(lines)
    except pyarrow.ArrowException as error:
        raise InputError(f"The rows do not make a table with one type for each column: {error}.") from None
    sink = io.BytesIO()
    pyarrow.parquet.write_table(made, sink)
    return sink.getvalue()
