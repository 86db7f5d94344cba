"""A table's file as rows of cells: which characters its bytes mean, and what stands between its values."""

import codecs
import csv
import io
from pathlib import Path

from marginflow.errors import InputError

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
"""What is looked for in the first line."""

_FRAMES = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "read_excel"),
    **{".parquet": "read_parquet", ".feather": "read_feather", ".json": "read_json", ".gz": "read_csv"},
    **dict.fromkeys((".jsonl", ".ndjson"), "read_json"),
}
_LINES = (".jsonl", ".ndjson")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Row = tuple[int, tuple[str, ...]]


def decoded(source: Path, encoding: str | None) -> str:
    """The text of a file, or an `InputError` that says how to come by it."""
    suffix = source.suffix.lower()
    if suffix == ".npz":
        raise InputError(f"{source} is an archive; a table is expected, and data in .npz need not be converted.")
    if suffix in _FRAMES:
        by_line = ", lines=True" if suffix in _LINES else ""
        raise InputError(
            f"{source} is not a table of plain text; save it as .csv in UTF-8, or in Python "
            f"mf.data.convert(pandas.{_FRAMES[suffix]}({source.name!r}{by_line}), label=...).data.save('data.npz')."
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
        return name, _split(source, text, _mark(separator), offset)
    found = {name: _tried(text, mark, offset) for name, mark in SEPARATORS.items()}
    split = {name: rows for name, rows in found.items() if rows and len(rows[0][1]) > 1}
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
    return "comma", _split(source, text, ",", offset)


def _mark(separator: str) -> str:
    mark = SEPARATORS.get(separator, " " if separator == "space" else separator)
    if len(mark) != 1 or mark in '"\r\n':
        raise InputError(f"The separator is {separator!r}; comma, semicolon, tab, space or one character is expected.")
    return mark


def _tried(text: str, mark: str, offset: int) -> list[Row]:
    """The rows, or none if the first line does not have the mark or the whole cannot be read with it."""
    try:
        return _parsed(text, mark, offset) if mark in text.partition("\n")[0] else []
    except csv.Error:
        return []


def _split(source: Path, text: str, mark: str, offset: int) -> list[Row]:
    try:
        return _parsed(text, mark, offset)
    except csv.Error as error:
        raise InputError(f"{source} is not a readable table: {error}.") from None


def _parsed(text: str, mark: str, offset: int) -> list[Row]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(
        (line.strip() for line in lines) if mark == " " else lines,
        delimiter=mark,
        skipinitialspace=mark == " ",
        strict=True,
    )
    return [(reader.line_num + offset, tuple(row)) for row in reader if row]
