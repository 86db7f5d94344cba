"""One sweep on one store: a lock that the operating system takes back when its holder dies, even by kill -9."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from marginflow.errors import InputError
from marginflow.sweeps.trouble import TAKEN, code_of, refusals

_PATIENCE: Final = 0.2  # seconds: as long as `is_held` may look, and many times that
_DAMAGED: Final = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock at this path while a sweep writes to a store; a second holder is refused with a sentence.

    It is an open transaction on a small SQLite file beside the store: such a lock works on every system, and ends with
    the process. Who holds it is written there for the sentence; readers may read that while the lock is held. Nothing
    else is in it, so a damaged one is made anew.
    """
    with refusals(path):
        try:
            connection = _taken(path)
        except sqlite3.DatabaseError as error:
            if code_of(error) not in _DAMAGED:
                raise
            path.unlink()
            connection = _taken(path)
    with closing(connection):
        yield


def _taken(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=OFF")  # nothing in it is worth waiting for the disk
        connection.execute("CREATE TABLE IF NOT EXISTS holder (process INTEGER)")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM holder")
        connection.execute("INSERT INTO holder VALUES (?)", (os.getpid(),))
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:
        holder = _holder(connection)
        connection.close()
        if code_of(error) in TAKEN:
            raise InputError(
                f"Another sweep{holder} is writing to {path.with_suffix('')}; wait for it, stop it, or choose another "
                "store."
            ) from None
        raise
    return connection


def is_held(path: Path) -> bool:
    """Whether a sweep holds the lock at this path now; False where that cannot be seen."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        return code_of(error) in TAKEN
    return False


def _holder(connection: sqlite3.Connection) -> str:
    try:
        found = connection.execute("SELECT process FROM holder").fetchone()
    except sqlite3.Error:
        return ""
    return f" (process {found[0]})" if found else ""
