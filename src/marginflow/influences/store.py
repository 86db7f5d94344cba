"""A file that keeps every finished point, so that an interrupt loses none of them."""

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import cast, get_args

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from marginflow.errors import InputError
from marginflow.influences.result import Way
from marginflow.networks import TwoLayer

Found = tuple[TwoLayer, Way, float, bool]
"""The network without a group, how it was found, its residual, and whether the branch was left."""


class PointStore:
    """Points without groups of samples in an SQLite file, under the question that they answer.

    Parameters
    ----------
    path : path
        Made where it is not there.
    question : iterable of str or arrays
        Whatever the points depend on; a file that answers another question is refused.
    """

    def __init__(self, path: str | Path, question: Iterable[object]) -> None:
        digest = hashlib.sha256()
        for part in question:
            digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        self.path = Path(path)
        try:
            self._file = sqlite3.connect(self.path, isolation_level=None)  # every row is kept at once
            self._file.execute("create table if not exists question (digest text)")
            self._file.execute(
                "create table if not exists points (number integer primary key, way text, residual real, "
                "jumped integer, network blob)"
            )
            known = self._file.execute("select digest from question").fetchone()
            if known is None:
                self._file.execute("insert into question values (?)", (digest.hexdigest(),))
        except sqlite3.Error as error:
            raise InputError(f"{self.path} cannot be used as a store of leave-out points: {error}.") from None
        if known is not None and known[0] != digest.hexdigest():
            self._file.close()
            raise InputError(
                f"{self.path} keeps the points of another question (other data, limit, groups, mode or steps); the "
                "name of a new file is expected."
            )

    def get(self, number: int) -> Found | None:
        """The point without group `number`, if it was finished."""
        row = self._file.execute(
            "select way, residual, jumped, network from points where number = ?", (number,)
        ).fetchone()
        if row is None:
            return None
        try:
            tensors = load(row[3])
            network = TwoLayer(W=tensors["W"], b=tensors.get("b"), v=tensors["v"])
        except (SafetensorError, KeyError, TypeError, InputError) as error:
            raise InputError(f"{self.path} holds no network for group {number}: {error}.") from None
        if row[0] not in get_args(Way):
            raise InputError(f"{self.path} says of group {number} that it was found by {row[0]!r}.")
        return network, cast("Way", row[0]), float(row[1]), bool(row[2])

    def put(self, number: int, found: Found) -> None:
        """Keep the point without group `number`."""
        network, way, residual, jumped = found
        tensors = {"W": network.W, "v": network.v} | ({} if network.b is None else {"b": network.b})
        blob = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
        self._file.execute("insert into points values (?, ?, ?, ?, ?)", (number, way, residual, int(jumped), blob))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
