"""What a command says: a table for people or one JSON object for programs, and where it may write."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE, INTERRUPTED
from marginflow.cli.provenance import command, made_by, versions
from marginflow.display import text_of
from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import write_text

Target = TypeVar("Target", Path, Path | None)


def check_target(path: Target, suffixes: tuple[str, ...], *, force: bool) -> Target:
    """Refuse, before any work is done, a file that could not or should not be written; None stands for no file."""
    if path is None:
        return path
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{path} ends in {path.suffix!r}; {' or '.join(suffixes)} is expected.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist; make it first.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; the name of a file is expected.")
    if path.is_symlink() and not path.exists() and not force:
        raise InputError(f"{path} is a link to nothing; choose another name or add --force to put a file in its place.")
    if path.exists() and not force:
        raise InputError(f"{path} exists already; choose another name or add --force to overwrite it.")
    _check_writable(path, path.parent)
    return path


def check_folder(path: Path, *, parents: bool = False) -> Path:
    """Refuse, before any work is done, a folder that could not be made or filled; `parents` are made where needed."""
    if not parents and not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist; make it first.")
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path} is a link to a folder that does not exist; make that first.")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; the name of a folder is expected.")
    _check_writable(path, next(folder for folder in (path, *path.absolute().parents) if folder.exists()))
    return path


def _check_writable(path: Path, folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: the folder {folder} is read-only.")


def tell(
    record: Mapping[str, object],
    *,
    as_json: bool,
    headings: Mapping[str, str],
    holds: bool = True,
    interrupted: bool = False,
) -> int:
    """Print a result: all of it as JSON, or what it has of `headings`, one line each; the exit code.

    Examples
    --------
    >>> from marginflow.cli.output import tell
    >>> tell({"loss": 0.125, "steps": 10}, as_json=False, headings={"loss": "Loss", "steps": "Steps"})
    Loss   0.125
    Steps  10
    0
    """

    def describe() -> None:
        named = {key: heading for key, heading in headings.items() if key in record}
        widest = max(map(len, named.values()), default=0)
        for key, heading in named.items():
            print(f"{heading:<{widest}}  {text_of(record[key])}")

    return deliver(record, as_json=as_json, describe=describe, holds=holds, interrupted=interrupted)


def result_text(record: Mapping[str, object]) -> str:
    """A result as one line of JSON that also says which command line and which versions made it.

    Examples
    --------
    >>> import json
    >>> from marginflow.cli.output import result_text
    >>> found = json.loads(result_text({"loss": float("inf")}))
    >>> found["loss"], sorted(found["made_by"])
    (None, ['command', 'versions'])
    """
    return json.dumps(to_plain({**record, "made_by": made_by()}), allow_nan=False)


def deliver(
    record: Mapping[str, object],
    *,
    as_json: bool,
    out: Path | None = None,
    whole: Mapping[str, object] | None = None,
    title: str = "",
    describe: Callable[[], None] | None = None,
    holds: bool = True,
    interrupted: bool = False,
) -> int:
    """Write a result where that was asked for, and print it: as JSON, or what `describe` prints; the exit code.

    Parameters
    ----------
    record : mapping
        What is printed as JSON, and what a page is made of.
    out : path or None
        A page (.html) under the heading `title`, or a file of JSON; a file of any other kind is there already.
    whole : mapping or None
        What the file of JSON holds where that is more than `record`.
    holds, interrupted : bool
        Whether what was asked about holds, and whether the work was cut short.
    """
    if out is not None and out.suffix == ".html":
        write_page(record, out, title=title)
    elif out is not None and out.suffix == ".json":
        write_text(out, result_text(record if whole is None else whole) + "\n")
    if as_json:
        print(result_text(record))
    else:
        if describe is not None:
            describe()
        if out is not None:
            print(f"Written to {out}")
    if interrupted:
        return INTERRUPTED
    return DONE if holds else DOES_NOT_HOLD


def write_page(record: Mapping[str, object], path: Path, *, title: str) -> Path:
    """The page of one result."""
    from marginflow.report import write
    from marginflow.report.results import NamedResult, page_of_results

    result = NamedResult(name=title, content=to_plain(record))
    return write(page_of_results([result], title=title, command=command(), versions=versions()), path)


def print_rows(rows: Sequence[Mapping[str, object]], *, headings: Mapping[str, str]) -> None:
    """Print one line per row under the headings; the first column flush left, the others flush right.

    Examples
    --------
    >>> from marginflow.cli.output import print_rows
    >>> print_rows([{"name": "a", "size": 0.5}, {"name": "bcd", "size": 12}], headings={"name": "name", "size": "size"})
    name  size
    a      0.5
    bcd     12
    """
    lines = [list(headings.values()), *([text_of(row.get(key)) for key in headings] for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(headings))]
    for line in lines:
        cells = [
            f"{line[0]:<{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        print("  ".join(cells).rstrip())


def note(sentence: str) -> None:
    """A remark to the person at the terminal, never part of the result."""
    print(sentence, file=sys.stderr)
