"""How a run ended, as a word in its row; and which endings mean that we lost it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from marginflow.limit import Limit

REACHED: Final = "KKT point"
NOT_REACHED: Final = "KKT point not reached"
# What such a row would say is about our computation and not about its subject.
LOST: Final = ("diverged", "interrupted", "stalled", NOT_REACHED)


def status_of(limit: Limit) -> str:
    """Whether the point that was asked for is one, by its certificate."""
    return REACHED if limit.certificate.holds() else NOT_REACHED


def is_lost(row: Mapping[str, object]) -> bool:
    """Whether the run of a row was lost; a row that does not say how it ended was not."""
    return row.get("run_status") in LOST
