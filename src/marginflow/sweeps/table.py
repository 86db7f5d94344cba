"""Results as a table for other programs: CSV and Parquet."""

import csv
import io
import itertools
import json
from pathlib import Path
from typing import Any, Final

from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import write_bytes, write_text
from marginflow.sweeps.runner import Results
from marginflow.sweeps.sweep import Sweep

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
        Also write the CPU time; without it equal sweeps give equal files.
    """
    target = Path(path)
    lines = table(results, seconds=seconds)
    match target.suffix:
        case ".csv":
            return write_text(target, _csv(lines))
        case ".parquet":
            return write_bytes(target, _parquet(lines))
    raise InputError(f"{target} ends in {target.suffix!r}; {' or '.join(SUFFIXES)} is expected.")


def check_export(path: Path) -> None:
    """Refuse, before anything is computed, a table that could not be written afterwards."""
    if path.suffix == ".parquet":
        _pyarrow()


def is_export_of(sweep: Sweep, path: Path) -> bool:
    """Whether a file is a table of cells of this very sweep, written before: such a one may be written again."""
    if not path.is_file():
        return False
    cells = {tuple(_text(value) for value in (*cell.parameters.values(), cell.seed)) for cell in sweep.cells}
    names = [*sweep.cells[0].parameters, "seed"]
    try:
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                lines: list[Any] = list(csv.DictReader(file))
        else:
            lines = _pyarrow().parquet.read_table(path).to_pylist()
        return all(tuple(_text(line[name]) for name in names) in cells for line in lines)
    except (OSError, ValueError, KeyError, TypeError, csv.Error, InputError):
        return False


def _text(value: object) -> str:
    """A value as the table writes it, so that what was read can be compared with what is known."""
    scalar = _word(_scalar(value))
    return "" if scalar is None else str(scalar)


def table(results: Results, *, seconds: bool = False) -> list[dict[str, object]]:
    """The lines of the table, all with the same columns."""
    heads = [(*record.cell.parameters, "seed", "status") for record in results.records]
    columns = [record.row for record in results.records]
    names = dict.fromkeys(itertools.chain(*heads, *columns, ["seconds"] if seconds else []))
    whole = [{**record.flat(seconds=seconds), "status": record.status} for record in results.records]
    return [{name: _scalar(line.get(name)) for name in names} for line in whole]


def _scalar(value: object) -> object:
    return json.dumps(to_plain(value), allow_nan=False) if isinstance(value, dict | list | tuple) else value


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
    pyarrow = _pyarrow()
    try:
        made = pyarrow.Table.from_pylist(lines)
    except pyarrow.ArrowException as error:
        raise InputError(f"The rows do not make a table with one type for each column: {error}.") from None
    sink = io.BytesIO()
    pyarrow.parquet.write_table(made, sink)
    return sink.getvalue()


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow; install it with: pip install 'marginflow[parquet]', or export to .csv."
        ) from None
    return pyarrow
