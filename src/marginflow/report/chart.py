"""A chart: a Vega-Lite specification with its meaning in words and the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marginflow.display import Brief
from marginflow.report.encodings import Row, finished
from marginflow.report.table import Table


@dataclass(frozen=True, kw_only=True)
class Chart(Brief):
    """A Vega-Lite specification with its title, its meaning in words and the rows behind it.

    Parameters
    ----------
    specification : mapping
        Vega-Lite as plain values; it holds its own data.
    title : str
        Short heading.
    description : str
        The text alternative: what is drawn and what there is to see.
    numbers : Table
        The rows that are drawn, for readers who cannot see the chart and for those who want the digits.
    """

    specification: Mapping[str, Any]
    title: str
    description: str
    numbers: Table

    @classmethod
    def of(
        cls,
        drawn: Any,
        rows: Sequence[Row],
        titles: Mapping[str, str],
        title: str,
        description: str,
        height: int = 240,
    ) -> Chart:
        """What Altair has drawn of the rows, in the style of the page; `titles` names the columns of the numbers."""
        behind = Table.of(rows, columns=titles, caption=f"The numbers behind “{title}”")
        specification = finished(drawn, description=description, height=height)
        return cls(specification=specification, title=title, description=description, numbers=behind)
