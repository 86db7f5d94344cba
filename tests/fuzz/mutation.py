"""Deterministic mutations of files: damage at random, damage aimed at lengths and headers, damage inside archives."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable

import numpy as np

Mutate = Callable[[bytes, np.random.Generator], bytes]

EXTREME = [
    b"\x00" * 4,
    b"\xff" * 4,
    b"\xff\xff\xff\x7f",
    b"\x00" * 8,
    b"\xff" * 8,
    b"\xff" * 7 + b"\x7f",
    b"\x00\x00\x00\x00\x00\x00\xf0\x7f",  # infinity
    b"\x01\x00\x00\x00\x00\x00\xf8\x7f",  # not a number
]
# Finite numbers whose squares, products or quotients are not.
HARSH = [1e308, -1e308, 1.7e200, -1e155, 5e-324, -1e-200, 1e-320, 0.0, -0.0, 1.0, -1.0, 2.0**53, 1e16]
WORDS = [
    b"nan", b"inf", b"-inf", b"1e999", b"", b"0", b"-1", b"1", b"2", b"99999999999999999999", b"0x10", b"1_0", b'"',
    b'""', b"'", b",", b",,", b"\n", b"\r", b"\x00", b"\xff\xfe", "\u0661".encode(), b"[", b"]", b"{", b"}", b"=", b"#",
    b"true", b"null", b"[[" * 50, b"1979-05-27", b"O", b"|O8", b"<f8", b"<M8[s]", b"True", b"()", b"(-1,)",
    b"(1, 2, 3)", b"(9999999999999,)", b"F64", b"BF16", b"I64", b"\\", b"\\u0000", b"e", b".", b"+",
]  # fmt: skip


def anywhere(content: bytes, rng: np.random.Generator) -> bytes:
    """One to four of: a bit, a byte, an extreme number, a cut, an insertion, a repetition, a word for a word."""
    damaged = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        index = int(rng.integers(len(damaged) + 1))
        match int(rng.integers(8)):
            case 0 if index < len(damaged):
                damaged[index] ^= 1 << int(rng.integers(8))
            case 1 if index < len(damaged):
                damaged[index] = int(rng.integers(256))
            case 2:
                number = EXTREME[int(rng.integers(len(EXTREME)))]
                damaged[index : index + len(number)] = number
            case 3:
                del damaged[index:]
            case 4:
                damaged[index:index] = rng.bytes(int(rng.integers(1, 9)))
            case 5:
                end = index + int(rng.integers(1, 33))
                damaged[index:index] = damaged[index:end]
            case 6:
                del damaged[index : index + int(rng.integers(1, 17))]
            case _:
                word = WORDS[int(rng.integers(len(WORDS)))]
                damaged[index : index + int(rng.integers(0, 5))] = word
    return bytes(damaged)


def at_the_head(content: bytes, rng: np.random.Generator) -> bytes:
    """The same, in the first bytes, where formats keep their lengths and types."""
    head = min(len(content), 160)
    return anywhere(content[:head], rng) + content[head:]


def words(content: bytes, rng: np.random.Generator) -> bytes:
    """Words and separators of a text replaced, doubled or left out."""
    tokens = re.split(rb"([\s,=\[\]\"]+)", content)
    for _ in range(int(rng.integers(1, 4))):
        index = int(rng.integers(len(tokens)))
        match int(rng.integers(4)):
            case 0:
                tokens[index] = WORDS[int(rng.integers(len(WORDS)))]
            case 1:
                tokens.insert(index, tokens[int(rng.integers(len(tokens)))])
            case 2 if len(tokens) > 1:
                del tokens[index]
            case _:
                tokens[index] = str(HARSH[int(rng.integers(len(HARSH)))]).encode()
    return b"".join(tokens)


def harsh_numbers(content: bytes, rng: np.random.Generator) -> bytes:
    """Numbers at the edge of float64 in place of numbers: the file stays sound, its values do not stay tame."""
    damaged = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        # Tensors end the file or a member; both formats align them to eight bytes from the end of their header.
        index = len(damaged) - 8 * int(rng.integers(1, max(2, min(len(damaged) // 8, 12))))
        damaged[index : index + 8] = struct.pack("<d", HARSH[int(rng.integers(len(HARSH)))])
    return bytes(damaged)


def inside_the_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """One member of a zip file damaged, and its checksum put right again: the damage reaches the reader within."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = list(members)[int(rng.integers(len(members)))]
    how = (at_the_head, anywhere, harsh_numbers)[int(rng.choice(3, p=[0.5, 0.2, 0.3]))]
    members[chosen] = how(members[chosen], rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return buffer.getvalue()


def safetensors_header(content: bytes, rng: np.random.Generator) -> bytes:
    """The JSON header damaged and its length put right again."""
    length = int.from_bytes(content[:8], "little")
    header = anywhere(content[8 : 8 + length], rng)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]
