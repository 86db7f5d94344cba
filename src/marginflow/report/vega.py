"""Altair as `alt`, imported when it is first asked for: help and pages without charts do without its second."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        """Stands for the package until one of its names is used."""

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("altair"), name)

    alt = _Altair()

__all__ = ["alt"]
