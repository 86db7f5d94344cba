"""Data sets on disk: `.npz` for everything, `.csv` for tables. Reading never executes what a file contains."""

import contextlib
import csv
import io
import json
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marginflow.arrays import FloatArray, real_number
from marginflow.data.classes import SIGNS
from marginflow.data.preparation import Preparation
from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import existing_file, write_bytes

SIZE_VARIABLE = "MARGINFLOW_SIZE_LIMIT"
"""Gigabytes that the arrays of an archive may declare; 2 if the environment does not say."""

# What a data set consists of, under the names of the fields of `Dataset`.
_JSON = {"origin": dict, "classes": list, "features": list, "preparation": dict}
FIELDS = ("X", "y", "clean_labels", "clusters", "means", "mean_labels", "ambient_dimension", *_JSON)


def write(path: str | Path, fields: Mapping[str, Any]) -> Path:
    """Write the fields of a data set in the format that the suffix names, whole or not at all."""
    suffix = _suffix(path)
    return write_bytes(path, _npz_bytes(fields) if suffix == ".npz" else _csv_bytes(fields))


def read(path: str | Path, *, label: str | None = None, size_limit: float | None = None) -> dict[str, Any]:
    """Read the fields of a data set from the format that the suffix names; `size_limit` as in `Dataset.load`."""
    suffix, source = _suffix(path), existing_file(path)
    if suffix == ".npz":
        if label is not None:
            raise InputError(f"{source} has no columns with names; label={label!r} is for .csv files only.")
        return _read_npz(source, size_limit)
    return _read_csv(source, label)


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise InputError(f"{path} ends in {suffix!r}; data files end in .npz or .csv.")
    return suffix


# .npz ---------------------------------------------------------------------------------------------


def _npz_bytes(fields: Mapping[str, Any]) -> bytes:
    arrays = {name: np.asarray(fields[name]) for name in FIELDS if name not in _JSON and fields[name] is not None}
    described = {name: to_plain(fields[name]) for name in _JSON if fields[name] and fields[name] != SIGNS}
    arrays |= {name: np.array(json.dumps(value, allow_nan=False)) for name, value in described.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # mypy takes them for the keyword allow_pickle
    return buffer.getvalue()


def _bytes_allowed(size_limit: float | None) -> float:
    if size_limit is None:
        text = os.environ.get(SIZE_VARIABLE, "2")
        try:
            size_limit = float(text)
        except ValueError:
            raise InputError(f"{SIZE_VARIABLE} is {text!r}; a number of gigabytes is expected.") from None
    return real_number("size_limit", size_limit, above=0.0) * 1e9


def read_arrays(
    path: str | Path, needed: Sequence[str], *, optional: Sequence[str] = (), size_limit: float | None = None
) -> dict[str, Any]:
    """The arrays of an .npz archive under these names, no others; `size_limit` as in `Dataset.load`.

    Files that hold Python objects are refused, for to open those can run code, and so are files that declare more than
    the limit: a few megabytes can declare arrays of any size.
    """
    source, allowed, names = existing_file(path), _bytes_allowed(size_limit), (*needed, *optional)
    wanted = " and ".join(needed)
    with _plain_errors(source, "is not a readable .npz archive of plain arrays"), source.open("rb") as file:
        start = file.read(6)
        if start == _BARE:
            raise InputError(f"{source} holds one bare array; an .npz archive with the arrays {wanted} is expected.")
        if not start.startswith(b"PK"):  # else numpy advises to unpickle it
            raise InputError(
                f"{source} is not a readable .npz archive: it does not begin as one; numpy.savez writes one."
            )
        file.seek(0)
        # numpy leaves a file open that it cannot read, so it is not given the name.
        with np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
            assert archive.zip is not None
            declared = 0
            for name in names:
                with contextlib.suppress(KeyError), archive.zip.open(f"{name}.npy") as member:
                    declared += _declared(member)
            _refuse_large(source, declared, allowed)
            found: dict[str, Any] = {name: archive[name] for name in names if name in archive.files}
            held = sorted(archive.files)
        if foreign := [name for name, array in found.items() if not isinstance(array, np.ndarray)]:
            raise InputError(f"{source}: {foreign[0]} is not an array; plain arrays are expected.")
    if not set(needed) <= found.keys():
        raise InputError(f"{source} holds the arrays {held}; the arrays {wanted} are expected.")
    return found


def read_array(path: str | Path, *, size_limit: float | None = None) -> NDArray[Any]:
    """The array of a .npy file, by the same rules."""
    source, allowed = existing_file(path), _bytes_allowed(size_limit)
    with _plain_errors(source, "is not a readable .npy file of numbers"), source.open("rb") as file:
        start = file.read(6)
        if start != _BARE:
            what = "holds several arrays" if start.startswith(b"PK") else "is not a readable .npy file of numbers"
            raise InputError(f"{source} {what}; numpy.save(path, z) writes one with a single array.")
        file.seek(0)
        _refuse_large(source, _declared(file), allowed)
        file.seek(0)
        array: NDArray[Any] = np.load(file, allow_pickle=False)
        return array


# How a .npy file begins.
_BARE = b"\x93NUMPY"


def _declared(member: IO[bytes]) -> int:
    """Bytes of the array whose header begins here."""
    version = np.lib.format.read_magic(member)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(member)
    return math.prod(shape) * dtype.itemsize


def _refuse_large(source: Path, declared: int, allowed: float) -> None:
    if declared > allowed:
        raise InputError(
            f"{source} declares arrays of {declared / 1e9:.3g} GB; at most {allowed / 1e9:g} GB are read, unless "
            f"size_limit or the environment variable {SIZE_VARIABLE} allows more gigabytes."
        )


@contextlib.contextmanager
def _plain_errors(source: Path, what: str) -> Iterator[None]:
    """Damage shows itself in whatever zipfile, zlib, ast and tokenize stumble over: one sentence for all of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers as Python 2 wrote them
            yield
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        if "pickle" in reason:
            reason = "it holds Python objects, which are not opened because that can run code"
        raise InputError(f"{source} {what}: {reason}.") from None


def _read_npz(source: Path, size_limit: float | None) -> dict[str, Any]:
    found = read_arrays(source, ("X", "y"), optional=FIELDS[2:], size_limit=size_limit)
    if "ambient_dimension" in found:
        found["ambient_dimension"] = _scalar(source, "ambient_dimension", found["ambient_dimension"], "iu")
    for name, kind in _JSON.items():
        if name in found:
            found[name] = _json(source, name, found[name], kind)
    if "features" in found:
        found["features"] = tuple(map(str, found["features"]))
    if "preparation" in found:
        found["preparation"] = Preparation.of_plain(found["preparation"])
    return found


def _scalar(source: Path, name: str, array: NDArray[Any], kinds: str) -> Any:
    if array.shape != () or array.dtype.kind not in kinds:
        raise InputError(f"{source}: {name} has shape {array.shape} and type {array.dtype}; one value is expected.")
    return array.item()


def _json(source: Path, name: str, array: NDArray[Any], kind: type) -> Any:
    try:
        value = json.loads(_scalar(source, name, array, "U"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: {name} is not JSON ({error}).") from None
    if not isinstance(value, kind):
        wanted = "mapping" if kind is dict else "list"
        raise InputError(f"{source}: {name} is a {type(value).__name__}; a {wanted} is expected.")
    return value


# .csv ---------------------------------------------------------------------------------------------


def _csv_bytes(fields: Mapping[str, Any]) -> bytes:
    X = fields["X"]
    header = [f"x{column + 1}" for column in range(X.shape[1])]
    columns: list[list[str]] = []
    for title, name in (("cluster", "clusters"), ("clean_label", "clean_labels"), ("label", "y")):
        if fields[name] is not None:
            header.append(title)
            columns.append([str(int(value)) for value in fields[name]])
    lines = [",".join(header)]
    # repr of a float is the shortest text that reads back as the same float64, so the round trip is bit exact.
    for row, tail in zip(X.tolist(), zip(*columns, strict=True), strict=True):
        lines.append(",".join([*map(repr, row), *tail]))
    return ("\n".join(lines) + "\n").encode("ascii")


def _read_csv(source: Path, label: str | None) -> dict[str, Any]:
    header, table = _read_table(source)
    if header is None:
        if label is not None:
            raise InputError(f"{source} has no header line, so there is no column named {label!r}.")
        header = [f"column {number + 1}" for number in range(table.shape[1])]
    if len(header) < 2:
        raise InputError(f"{source} has one column; at least one feature and the label are expected.")
    if label is None:
        index = len(header) - 1
    elif header.count(label) == 1:
        index = header.index(label)
    else:
        raise InputError(f"{source} has {header.count(label)} columns named {label!r}; the header is {header}.")
    y = table[:, index]
    if (np.abs(y) != 1.0).any():
        foreign = y[np.abs(y) != 1.0][0]
        hint = "" if label is not None else " (by default the last column is the label; another one can be named)"
        raise InputError(
            f"{source}: the label column {header[index]!r} contains {foreign:g}; labels must be -1 or +1{hint}, "
            "and `marginflow convert` makes them so."
        )
    fields: dict[str, Any] = {"y": y}
    features = [column for column in range(len(header)) if column != index]
    for title, name in (("clean_label", "clean_labels"), ("cluster", "clusters")):
        if label is None and _is_ours(header) and title in header:
            column = header.index(title)
            features.remove(column)
            fields[name] = table[:, column]
    if "clusters" in fields:
        given = fields["clusters"]
        if (given != np.rint(given)).any() or (np.abs(given) > 2.0**53).any():  # beyond it float64 skips whole numbers
            raise InputError(f"{source}: the column 'cluster' contains a value that is not a whole number.")
        fields["clusters"] = given.astype(np.int64)
    return {**fields, "X": table[:, features]}


def _is_ours(header: list[str]) -> bool:
    """Whether the header is the one that we write: x1, x2, ..., then cluster and clean_label if known, then label."""
    tail = [name for name in ("cluster", "clean_label", "label") if name in header]
    features = [f"x{column + 1}" for column in range(len(header) - len(tail))]
    return header == features + tail and tail[-1:] == ["label"]


def _read_table(source: Path) -> tuple[list[str] | None, FloatArray]:
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            rows = [(reader.line_num, row) for reader in [csv.reader(file, strict=True)] for row in reader if row]
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise InputError(f"{source} is not a readable .csv file: {error}.") from None
    if not rows:
        raise InputError(f"{source} is empty; one sample per line is expected.")
    first = [entry.strip() for entry in rows[0][1]]
    mark = next((word for sign, word in ((";", "semicolon"), ("\t", "tab")) if sign in first[0]), None)
    if len(first) == 1 and mark is not None:
        raise InputError(
            f"{source} has {mark}s between its values; data have commas, but `marginflow convert` reads such a table."
        )
    # Numbers alone are a sample; one of them may be missing, which is said below, rather than be taken for a name.
    header = None if all(entry == "" or _number(entry) is not None for entry in first) else first
    body = rows if header is None else rows[1:]
    if not body:
        raise InputError(f"{source} has a header line but no samples.")
    table = np.empty((len(body), len(first)))
    for index, (line, row) in enumerate(body):
        if len(row) != len(first):
            raise InputError(f"{source}, line {line}: {len(row)} values, but the first line has {len(first)}.")
        values = [_number(entry) for entry in row]
        for column, value in enumerate(values):
            if value is None or not math.isfinite(value):
                hint = (
                    "; are these labels? `marginflow convert` makes numbers of them" if column + 1 == len(row) else ""
                )
                raise InputError(
                    f"{source}, line {line}, column {column + 1}: {row[column]!r} is not a finite number{hint}."
                )
        table[index] = values
    return header, table


def _number(entry: str) -> float | None:
    if "_" in entry:  # Python reads 1_0 as ten; a table means something else by it
        return None
    try:
        return float(entry)
    except ValueError:
        return None
