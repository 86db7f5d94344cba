"""What stops a sweep, above all what a disk or a damaged file refuses, as one true sentence."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from marginflow.errors import InputError

TAKEN: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_WAY_OUT: Final = "`marginflow sweep SPEC --recover NEW.sqlite` takes the rows that can still be read to a new store"


class StoppedError(RuntimeError):
    """A full disk, a lost scheduler, no worker left: one sentence that says what happened and how to go on.

    The sweep had to stop half way; what is stored stays.
    """


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn what is raised about a store into `InputError` (it cannot be used) or `StoppedError` (not any more)."""
    try:
        yield
    except sqlite3.Error as error:
        raise _of_sqlite(path, error) from None
    except UnicodeDecodeError:  # what SQLite says of a damaged schema quotes it
        raise damaged(path, "its text is not text") from None
    except OSError as error:
        if error.errno in _FORBIDDEN:
            raise InputError(f"{path} cannot be written: {_forbidden(path, error)}.") from None
        raise StoppedError(_stopped(path, error.strerror or str(error), full=error.errno in _FULL)) from None


def damaged(path: Path, what: str) -> InputError:
    """The sentence about a file that is not what was written."""
    return InputError(f"{path} is damaged: {what}; {_WAY_OUT}.")


def foreign(path: Path) -> InputError:
    """The sentence about a SQLite file that is not a store."""
    return InputError(
        f"{path} is a SQLite file, but not a store of this version, or its first page is damaged; choose another name "
        f"for the store, or try whether {_WAY_OUT}."
    )


def code_of(error: sqlite3.Error) -> int:
    """The primary code of what SQLite says; without one it is the module itself, as for text that is not UTF-8."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & 0xFF


def _of_sqlite(path: Path, error: sqlite3.Error) -> Exception:
    code, text = code_of(error), str(error)
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoppedError(_stopped(path, text, full=code == sqlite3.SQLITE_FULL))
    if code in TAKEN:
        return StoppedError(f"Another program holds {path} ({text}); end it and start the same sweep again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return InputError(f"{path} cannot be opened for writing: {_forbidden(path, error)}.")
    if code == sqlite3.SQLITE_NOTADB:
        return InputError(f"{path} is not a SQLite file, or its first page is damaged; if it was a store, {_WAY_OUT}.")
    return damaged(path, text)


def _forbidden(path: Path, error: Exception) -> str:
    for target, word in ((path, "the file"), (path.parent, "the folder")):
        if target.exists() and not os.access(target, os.W_OK):
            return f"{word} {target} is read-only"
    return str(getattr(error, "strerror", None) or error)


def _stopped(path: Path, reason: str, *, full: bool) -> str:
    free = shutil.disk_usage(path.parent).free / 2**20
    advice = "make room and" if full else "when the disk takes it,"
    return (
        f"{path} cannot be written ({reason}; {free:.0f} MiB of the disk are free): every row that was stored is still "
        f"there, so {advice} start the same sweep again."
    )
