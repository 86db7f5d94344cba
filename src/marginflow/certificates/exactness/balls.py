"""Ball arithmetic at the border: python-flint is imported here, lazily, and nowhere else."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from marginflow.errors import InputError

Ball = Any
BallMatrix = Any


def flint_module() -> Any:
    """The module `flint`, or one sentence about what to install."""
    try:
        import flint
    except ImportError:
        raise InputError("Exact arithmetic needs python-flint; install marginflow with the extra 'exact'.") from None
    return flint


@contextmanager
def precision(bits: int) -> Iterator[Any]:
    """Work with `bits` bits inside the block; the former precision comes back after it. Yields the module."""
    flint = flint_module()
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield flint
    finally:
        flint.ctx.prec = before


def ball(flint: Any, value: Any) -> Ball:
    """A ball that contains `value`: exact for int and float (a dyadic rational), tight for a fraction or a ball."""
    if isinstance(value, flint.arb):
        return value
    if isinstance(value, flint.fmpq | flint.fmpz):
        return flint.arb(value)
    return flint.arb(int(value) if isinstance(value, int) else float(value))


def ball_matrix(flint: Any, rows: Sequence[Sequence[Any]]) -> BallMatrix:
    """A matrix of balls from nested sequences of numbers, fractions or balls."""
    entries = [ball(flint, value) for row in rows for value in row]
    return flint.arb_mat(len(rows), len(rows[0]), entries)


def root(flint: Any, value: Ball) -> Ball:
    """The square root of a number that is known to be >= 0, whatever its ball says below 0."""
    if value > 0 or value.is_zero():
        return value.sqrt()
    half = value.upper().sqrt() / 2
    return half + flint.arb(0, half.upper())


def upper(value: Ball) -> float:
    """A float that is not below any number of the ball."""
    top = float(value.upper())
    return top if top == 0.0 or not math.isfinite(top) else math.nextafter(top, math.inf)


def lower(value: Ball) -> float:
    """A float that is not above any number of the ball."""
    bottom = float(value.lower())
    return bottom if bottom == 0.0 or not math.isfinite(bottom) else math.nextafter(bottom, -math.inf)
