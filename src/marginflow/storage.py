"""Files on disk: safe tensors and plain bytes, written to a temporary name and moved into place."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from marginflow.errors import InputError

if TYPE_CHECKING:  # the help of a command writes no arrays and does without NumPy
    import numpy as np

    from marginflow.arrays import FloatArray


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file whole or not at all: temporary name beside the target, flush to disk, then move."""
    target = Path(path)
    try:
        os.fsencode(target)
    except UnicodeEncodeError:
        raise InputError(f"The name {str(target)!r} cannot be written: it holds half a character.") from None
    if "\0" in str(target):
        raise InputError(f"The name {str(target)!r} cannot be written: it holds a zero byte.")
    if target.is_dir():
        raise InputError(f"{target} is a folder; the name of a file is expected.")
    if not target.parent.is_dir():
        raise InputError(f"The folder {target.parent} does not exist; make it first.")
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except PermissionError:
        raise InputError(f"{target} cannot be written: the folder {target.parent} is read-only.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def write_text(path: str | Path, content: str) -> Path:
    """Write a UTF-8 text file whole or not at all."""
    return write_bytes(path, content.encode("utf-8"))


def save_tensors(
    path: str | Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> Path:
    """Write named arrays as `.safetensors`, whole or not at all."""
    import numpy as np
    import safetensors.numpy

    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return write_bytes(path, safetensors.numpy.save(arrays, dict(metadata or {})))


def existing_file(path: str | Path) -> Path:
    """The path of a file that is there; an `InputError` where there is none."""
    source = Path(path)
    if not source.is_file():
        raise InputError(f"There is no file {source}.")
    return source


def load_tensors(path: str | Path) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Read a `.safetensors` file as float64 arrays and its metadata; nothing in it is executed."""
    import safetensors

    source = existing_file(path)
    try:
        with safetensors.safe_open(source, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: _real(name, file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError, TypeError, ValueError, AttributeError) as error:
        # AttributeError: an eight-bit type that NumPy does not have.
        raise InputError(f"{source} is not a readable .safetensors file: {_what_it_is(source) or error}.") from None
    return tensors, metadata


def _what_it_is(source: Path) -> str | None:
    """A way on for files that people bring instead, by their first bytes."""
    with contextlib.suppress(OSError), source.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":  # a zip archive
            return (
                "it is an archive, as torch.save, TorchScript and .npz are; marginflow audit takes TorchScript and ONNX"
            )
    return None


def _real(name: str, tensor: np.ndarray) -> FloatArray:
    import numpy as np

    if np.iscomplexobj(tensor):
        raise TypeError(f"{name} holds complex numbers")
    return np.asarray(tensor, dtype=np.float64)
