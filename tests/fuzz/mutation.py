"""Deterministic mutations of files: damage at random, damage aimed at lengths and headers, damage inside archives."""

from __future__ import annotations

import io
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
        place = int(rng.integers(len(damaged) + 1))
        match int(rng.integers(8)):
            case 0 if place < len(damaged):
                damaged[place] ^= 1 << int(rng.integers(8))
            case 1 if place < len(damaged):
                damaged[place] = int(rng.integers(256))
            case 2:
                number = EXTREME[int(rng.integers(len(EXTREME)))]
                damaged[place : place + len(number)] = number
            case 3:
                del damaged[place:]
            case 4:
                damaged[place:place] = rng.bytes(int(rng.integers(1, 9)))
            case 5:
                end = place + int(rng.integers(1, 33))
                damaged[place:place] = damaged[place:end]
            case 6:
                del damaged[place : place + int(rng.integers(1, 17))]
            case _:
                word = WORDS[int(rng.integers(len(WORDS)))]
                damaged[place : place + int(rng.integers(0, 5))] = word
    return bytes(damaged)


def at_the_head(content: bytes, rng: np.random.Generator) -> bytes:
    """The same, in the first bytes, where formats keep their lengths and types."""
    head = min(len(content), 160)
    return anywhere(content[:head], rng) + content[head:]


def words(content: bytes, rng: np.random.Generator) -> bytes:
    """Tokens of a text replaced, doubled or left out."""
    tokens = content.replace(b"\n", b" \n ").split(b" ")
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(tokens)))
        match int(rng.integers(3)):
            case 0:
                tokens[place] = WORDS[int(rng.integers(len(WORDS)))]
            case 1:
                tokens.insert(place, tokens[int(rng.integers(len(tokens)))])
            case _:
                del tokens[place]
        if not tokens:
            break
    return b" ".join(tokens)


def inside_the_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """One member of a zip file damaged, and its checksum put right again: the damage reaches the reader within."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = list(members)[int(rng.integers(len(members)))]
    members[chosen] = (at_the_head if rng.random() < 0.7 else anywhere)(members[chosen], rng)
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
