"""The cells of a table as text, from a file or a DataFrame: what its bytes mean, what is between its values."""

import codecs
import contextlib
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from marginflow.data.frames import cells_of, distinct_names, is_frame
from marginflow.data.numerals import number
from marginflow.display import Brief
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.storage import existing_file

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
"""What is looked for in the first line."""

_FRAMES = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "read_excel({!r})"),
    **dict.fromkeys((".jsonl", ".ndjson"), "read_json({!r}, lines=True)"),
    **{f".{kind}": f"read_{kind}({{!r}})" for kind in ("parquet", "feather", "json")},
    ".gz": "read_csv({!r})",
}
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_FEW = 8

Row = tuple[int, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class RawTable(Brief):
    """Cells as text: the names of the columns, and every line with its number in the file (of a frame: its row).

    `separator` is what a file has between its values: comma, semicolon, tab, space, or another character. Of columns of
    one name the second is called "name.1" and so on, as pandas does; `repeated` has their names as they were.
    """

    source: Path | str
    names: tuple[str, ...]
    lines: tuple[Row, ...]
    unit: str = "line"
    separator: str | None = None
    repeated: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.names, tuple | list) or not all(isinstance(name, str) for name in self.names):
            raise InputError(f"names is {brief(self.names)}; the names of the columns are expected.")
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{self.source} has {self.names.count(twice)} columns named {twice!r}; names that differ are expected."
            )

    def column(self, name: str) -> int:
        """Where a column is, or an `InputError` with the nearest name."""
        if name not in self.names:
            near = get_close_matches(name, self.names, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"the columns are {some_of(self.names)}."
            if not near and len(self.names) > 1 and all(number(text) is not None for text in self.names):
                known += " If its first line holds no names: --no-header, and columns are called 1, 2, 3 and so on."
            raise InputError(f"{self.source} has no column named {name!r}; {known}")
        return self.names.index(name)

    def cells(self, index: int) -> list[str]:
        """A column."""
        return [row[index].strip() for _, row in self.lines]


def read_table(
    path: str | Path,
    *,
    header: bool | None = None,
    label: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> RawTable:
    """Read a `.csv`, `.tsv` or other text with a sample in each line.

    Parameters
    ----------
    path : str or Path
    header : bool or None
        Whether the first line holds names; None: it does, and a first line that looks like a sample is refused.
        Without names columns are called 1, 2, 3 and so on.
    label : str or None
        The column of the labels; None: the last.
    separator : str or None
        What stands between the values: comma, semicolon, tab, space (any number of them), or another single character;
        None: the one of the first three that the first line has.
    encoding : str or None
        Such as cp1252; None: UTF-8, or UTF-16 with a byte order mark.
    """
    source = Path(path)
    if source.is_dir():
        raise InputError(f"{source} is a folder, not a file; a table, .csv, is expected.")
    between, rows = rows_of(source, decoded(existing_file(source), encoding), separator)
    named = header is not False
    body = rows[1:] if named else rows
    if not body:
        first = "names in the first line and " if named else ""
        raise InputError(f"{source} has no samples; {first}one sample per line are expected.")
    if named and not any(cell.strip() for _, row in rows for cell in row[len(rows[0][1]) - 1 :]):
        rows = [(line, row[: len(rows[0][1]) - 1]) for line, row in rows]  # every line ends in a separator
        body = rows[1:]
    width = len(rows[0][1])
    for line, row in body:
        if len(row) != width:
            raise InputError(f"{source}, line {line}: {len(row)} values, but the first line has {width}.")
    names = [name.strip() for name in rows[0][1]] if named else [str(column + 1) for column in range(width)]
    distinct, repeated = distinct_names(names)
    table = RawTable(source=source, names=distinct, lines=tuple(body), separator=between, repeated=repeated)
    if header is None:
        _refuse_samples(table, table.column(label) if label is not None else width - 1)
    return table


def raw_table(table: object) -> RawTable:
    """A table in any of the forms that `convert` takes; of a DataFrame the text of its `.csv` without the index."""
    if isinstance(table, RawTable):
        return table
    if isinstance(table, str | Path):
        return read_table(table)
    if not is_frame(table):
        raise InputError(f"The table is {brief(table)}; a DataFrame, the name of a .csv, or a RawTable is expected.")
    names, repeated, rows = cells_of(table)
    if not names or not rows:
        raise InputError(f"The table has {len(rows)} rows and {len(names)} columns; at least one of each is expected.")
    return RawTable(source="the table", names=names, lines=tuple(enumerate(rows)), unit="row", repeated=repeated)


def _refuse_samples(table: RawTable, index: int) -> None:
    """Refuse a first line that looks like a sample: only numbers, or a label that other lines have too."""
    if all(name == "" or number(name) is not None for name in table.names):
        why = "consists of numbers"
    elif any(same_label(table.names[index], row[index]) for _, row in table.lines):
        why = f"has {table.names[index]!r} where other lines have their label"
    else:
        return
    raise InputError(
        f"The first line of {table.source} {why}, but names of columns are expected there; "
        "add --no-header if it is a sample, or --header if these are names."
    )


def same_label(label: str, other: str) -> bool:
    """Equal as text, as numbers (1 is 1.0), or as truth values (True is TRUE)."""
    label, other = label.strip(), other.strip()
    if label == other or (number(label) is not None and number(label) == number(other)):
        return True
    return label.lower() == other.lower() and label.lower() in ("true", "false")


def some_of(labels: Sequence[str]) -> str:
    """The first few in quotes."""
    return ", ".join(map(repr, labels[:_FEW])) + (", ..." if len(labels) > _FEW else "")


def decoded(source: Path, encoding: str | None) -> str:
    """The text of a file, or an `InputError` that says how to come by it."""
    suffix = source.suffix.lower()
    if suffix == ".npz":
        raise InputError(f"{source} is an archive; a table is expected, and data in .npz need not be converted.")
    if suffix in _FRAMES:
        raise InputError(
            f"{source} is not a table of plain text; save it as .csv in UTF-8, or in Python "
            f"mf.data.convert(pandas.{_FRAMES[suffix].format(source.name)}, label=...).data.save('data.npz')."
        )
    content = source.read_bytes()
    if content.startswith(b"PK\x03\x04"):
        raise InputError(f"{source} is an archive or a spreadsheet, whatever its name; save it as CSV UTF-8.")
    wanted = encoding or ("utf-16" if content.startswith(_WIDE) else "utf-8-sig")
    try:
        return content.decode(wanted)
    except LookupError:
        raise InputError(f"The encoding {encoding!r} is unknown; utf-8, utf-16, cp1252 and latin-1 are some.") from None
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is {content[error.start]:#04x}"
        help_ = "--encoding cp1252 reads what Windows calls Western European; or save it as UTF-8"
        if encoding is not None:
            raise InputError(f"{source} is not written in {encoding} ({what}).") from None
        raise InputError(f"{source} is not written in UTF-8 ({what}); {help_}.") from None


def rows_of(source: Path, text: str, separator: str | None) -> tuple[str, list[Row]]:
    """The separator by its name, and the rows with their line numbers; rows may differ in length.

    The first line says what the separator is; if it has several, the one that gives every line the same number of
    values, if there is one such. A first line "sep=;", which Excel writes, is an answer too.
    """
    first, _, rest = text.partition("\n")
    offset = 0
    if first.strip().lower().startswith("sep=") and len(first.strip("\r")) == 5:
        separator, text, offset = separator or first[4], rest, 1
    if separator is not None:
        name = next((name for name, mark in SEPARATORS.items() if mark == separator), separator)
        mark = SEPARATORS.get(separator, " " if separator == "space" else separator)
        if len(mark) != 1 or mark in '"\r\n':
            raise InputError(
                f"The separator is {separator!r}; comma, semicolon, tab, space or one character is expected."
            )
        return name, _split(source, text, mark, offset)
    split: dict[str, list[Row]] = {}
    for name, mark in SEPARATORS.items():
        with contextlib.suppress(csv.Error):
            rows = _parsed(text, mark) if mark in first else []
            if rows and len(rows[0][1]) > 1:
                split[name] = rows
    if len(split) > 1:
        even = {name: rows for name, rows in split.items() if len({len(row) for _, row in rows}) == 1}
        if len(even) != 1:
            names = " and ".join(f"{name}s" for name in split)
            raise InputError(f"The first line of {source} has {names}; --separator says what is between its values.")
        split = even
    if split:
        return next(iter(split.items()))
    words = first.split()
    if len(words) > 1 and all(len(line.split()) == len(words) for line in text.splitlines() if line.strip()):
        raise InputError(
            f"{source} has neither commas nor semicolons nor tabs in its first line; --separator space if its values "
            "are between spaces, or another character."
        )
    return "comma", _split(source, text, ",")


def _split(source: Path, text: str, mark: str, offset: int = 0) -> list[Row]:
    try:
        return _parsed(text, mark, offset)
    except csv.Error as error:
        raise InputError(f"{source} is not a readable table: {error}.") from None


def _parsed(text: str, mark: str, offset: int = 0) -> list[Row]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(
        (line.strip() for line in lines) if mark == " " else lines,
        delimiter=mark,
        skipinitialspace=mark == " ",
        strict=True,
    )
    return [(reader.line_num + offset, tuple(row)) for row in reader if row]
