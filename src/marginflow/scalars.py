"""The border where single numbers and words of a user are checked; the command line needs no NumPy for it."""

import math
import numbers

from marginflow.errors import InputError


def whole_number(name: str, value: object, minimum: int = 1) -> int:
    """An integer that is at least `minimum`, or an `InputError`."""
    expected = f"a whole number of at least {minimum} is expected"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} is {value!r}; {expected}.")
    if abs(int(value)) >= 2**1023:
        raise InputError(f"{name} has hundreds of digits; {expected}, and below 1e308.")
    if value < minimum:
        raise InputError(f"{name} is {value}; {expected}.")
    return int(value)


def real_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> float:
    """A finite real number inside the given bounds, or an `InputError` that prints them."""
    bounds = {"above": above, "at least": at_least, "at most": at_most, "below": below}
    wanted = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
    expected = f"a finite number {wanted}".rstrip()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name} is {value!r}; {expected} is expected.")
    try:
        x = float(value)
    except OverflowError:  # a whole number beyond the largest float64
        raise InputError(f"{name} is a whole number with hundreds of digits; {expected} is expected.") from None
    high_enough = (above is None or x > above) and (at_least is None or x >= at_least)
    low_enough = (at_most is None or x <= at_most) and (below is None or x < below)
    if not (math.isfinite(x) and high_enough and low_enough):
        raise InputError(f"{name} is {x:g}; {expected} is expected.")
    return x


def one_of(name: str, value: object, choices: tuple[str, ...]) -> str:
    """One of the given words, or an `InputError` that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} is {value!r}; one of {listed} is expected.")
    return str(value)
