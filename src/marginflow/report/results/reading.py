"""Results read from files: JSON objects, lists of rows, one object per line, and CSV."""

import csv
import json
from pathlib import Path
from typing import Final

from marginflow.errors import InputError
from marginflow.report.results.summary import NamedResult
from marginflow.storage import existing_file

SUFFIXES: Final = (".json", ".jsonl", ".csv")
# No result that a command writes is nested more deeply than this.
DEEPEST: Final = 64


def read_result(path: str | Path) -> NamedResult:
    """What a file holds, without looking at what it means."""
    source = existing_file(path)
    if source.suffix.lower() not in SUFFIXES:
        raise InputError(f"{source} ends in {source.suffix!r}; {', '.join(SUFFIXES)} is expected.")
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        raise InputError(f"{source} cannot be read as text: {error}.") from None
    if source.suffix.lower() == ".csv":
        content: object = _csv(text, source)
    else:
        content = _json(text, source, by_line=source.suffix.lower() == ".jsonl")
    _refuse_depth(content, source)
    if isinstance(content, dict) and content:
        return NamedResult(name=source.name, content=content)
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        return NamedResult(name=source.name, content=content)
    raise InputError(f"{source} holds neither an object nor rows; give it a result that a command wrote with --json.")


def _json(text: str, source: Path, *, by_line: bool) -> object:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()] if by_line else json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{source} is not readable as JSON: {error}.") from None
    except RecursionError:
        raise InputError(f"{source} is nested too deeply to be a result.") from None
    except ValueError:  # Python refuses to read a whole number of more than 4300 digits
        raise InputError(f"{source} holds a whole number with thousands of digits; no result has one.") from None


def _refuse_depth(content: object, source: Path) -> None:
    """Refuse lists and objects within each other that nothing here could walk through."""
    level = [content]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise InputError(f"{source} is nested too deeply to be a result.")


def _csv(text: str, source: Path) -> list[dict[str, object]]:
    """Rows under the names in the first line; a cell that reads as a number is one, an empty one is nothing."""
    try:
        reader = csv.DictReader(text.splitlines(), strict=True)
        return [{str(key): _cell(value) for key, value in row.items() if key is not None} for row in reader]
    except csv.Error as error:
        raise InputError(f"{source} is not readable as CSV: {error}.") from None


def _cell(value: object) -> object:
    if not isinstance(value, str) or value == "":
        return None
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
