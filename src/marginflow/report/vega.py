"""Altair as `alt`, imported when it is first asked for: help and pages without charts do without its second."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        """Stands for the package until one of its names is used."""

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("altair"), name)

    alt = _Altair()

__all__ = ["alt", "checked_at_the_end"]


@contextmanager
def checked_at_the_end() -> Iterator[None]:
    """Altair checks a specification when it becomes plain values, and not each of its parts while it is built.

    The check of every axis, mark and layer by itself takes half of the time of a page, and finds nothing that the check
    of the whole does not.
    """
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        yield
