"""Rows of a damaged store: its pages are read one by one, and a row counts if its checksum does.

Nothing of the structure of the file is trusted, neither its tree of pages nor its header: every page that looks like a
leaf of a table is taken apart [SQLite file format, sections 1.6 and 2.1], in the file and in its write-ahead log, and
whatever is not a row of ours fails its checksum.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from marginflow.errors import InputError
from marginflow.sweeps.line import COLUMNS, StoredLine
from marginflow.sweeps.store import Store

_LEAF: Final = 0x0D  # the type of a page with rows of a table
_WAL_HEAD, _FRAME_HEAD = 32, 24
_SIZES: Final = tuple(2**power for power in range(9, 17))
_USUAL: Final = 4096


@final
@dataclass(frozen=True, kw_only=True)
class Salvage:
    """What was saved: rows, and those that could be read but whose arrays could not."""

    rows: int
    without_arrays: int


def salvage(source: Store, target: Store) -> Salvage:
    """Write every row of a store that can still be read to a new one, with its arrays.

    Of two rows with the same key the one that came later is kept, as it would have been by the store itself. A row
    whose arrays are damaged or lost is left out, so that it is computed again.
    """
    if target.path.exists():
        raise InputError(f"{target.path} exists already; choose another name for the rows that are recovered.")
    if not source.path.is_file():
        raise InputError(f"There is no file {source.path}.")
    newest: dict[str, tuple[int, StoredLine]] = {}
    for number, line in read_lines(source.path):
        if line.key not in newest or newest[line.key][0] < number:
            newest[line.key] = number, line
    rows = without = 0
    with target.writing():
        for _, line in sorted(newest.values(), key=lambda pair: pair[0]):
            try:
                content = source.content(line)
            except InputError:
                without += 1
                continue
            target.add(line, content)
            rows += 1
    return Salvage(rows=rows, without_arrays=without)


def read_lines(path: Path) -> list[tuple[int, StoredLine]]:
    """Number and content of every row of ours in a file and in its write-ahead log."""
    try:
        content = path.read_bytes()
        log = path.with_name(path.name + "-wal")
        frames = log.read_bytes()[_WAL_HEAD:] if log.is_file() else b""
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    declared = int.from_bytes(content[16:18], "big")
    for size in dict.fromkeys([65536 if declared == 1 else declared, _USUAL]):
        if size not in _SIZES:
            continue
        pages = [content[start : start + size] for start in range(0, len(content), size)]
        step = size + _FRAME_HEAD
        logged: dict[int, bytes] = {}
        for start in range(0, len(frames) - step + 1, step):
            logged[int.from_bytes(frames[start : start + 4], "big") - 1] = frames[start + _FRAME_HEAD : start + step]
        whole = {index: page for index, page in enumerate(pages) if len(page) == size} | logged
        everywhere = (*enumerate(pages), *logged.items())
        found = [row for index, page in everywhere for row in _rows_of(index, page, whole, size)]
        if found:
            return found
    return []


def _rows_of(index: int, page: bytes, pages: dict[int, bytes], size: int) -> Iterator[tuple[int, StoredLine]]:
    head = 100 if index == 0 else 0
    if len(page) < head + 8 or page[head] != _LEAF:
        return
    count = int.from_bytes(page[head + 3 : head + 5], "big")
    for index in range(head + 8, min(head + 8 + 2 * count, len(page) - 1), 2):
        try:
            row = _row(page, int.from_bytes(page[index : index + 2], "big"), pages, size)
        except (IndexError, KeyError, ValueError, struct.error, OverflowError):
            continue
        if row is not None:
            yield row


def _row(page: bytes, start: int, pages: dict[int, bytes], size: int) -> tuple[int, StoredLine] | None:
    length, start = _varint(page, start)
    number, start = _varint(page, start)
    if length > size * (len(pages) + 1):
        return None
    _, *values = _values(_payload(page, start, length, pages, size))  # the first is the number itself
    line = StoredLine.read(tuple(values))
    return None if line is None else (number, line)


def _payload(page: bytes, start: int, length: int, pages: dict[int, bytes], size: int) -> bytes:
    """The bytes of a record: those on the page, and the rest on a chain of overflow pages."""
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        return page[start : start + length]
    here = least + (length - least) % (size - 4)
    here = here if here <= most else least
    parts, left = [page[start : start + here]], length - here
    following = int.from_bytes(page[start + here : start + here + 4], "big")
    while left > 0:
        over = pages[following - 1]
        following = int.from_bytes(over[:4], "big")
        parts.append(over[4 : 4 + min(left, size - 4)])
        left -= size - 4
    return b"".join(parts)


def _values(record: bytes) -> Iterator[object]:
    """The values of a record: a header of types, then the contents."""
    end, start = _varint(record, 0)
    kinds: list[int] = []
    while start < end and len(kinds) <= len(COLUMNS) + 1:
        kind, start = _varint(record, start)
        kinds.append(kind)
    start = end
    for kind in kinds:
        if kind == 0:
            yield None
        elif kind in (8, 9):
            yield kind - 8
        elif kind <= 7:
            width = (1, 2, 3, 4, 6, 8, 8)[kind - 1]
            raw = record[start : start + width]
            yield struct.unpack(">d", raw)[0] if kind == 7 else int.from_bytes(raw, "big", signed=True)
            start += width
        else:
            width = (kind - 12) // 2
            raw = record[start : start + width]
            yield raw.decode("utf-8") if kind % 2 else raw
            start += width


def _varint(content: bytes, start: int) -> tuple[int, int]:
    """A whole number of one to nine bytes, and where it ends."""
    value = 0
    for index in range(start, start + 8):
        value = value << 7 | content[index] & 0x7F
        if content[index] < 0x80:
            return value, index + 1
    return value << 8 | content[start + 8], start + 9
