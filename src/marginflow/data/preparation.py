r"""What was done to the columns of a table before they became X, kept so that it can be done again or undone.

A column of numbers becomes (x - mean) / scale, a column of words one indicator for each of its values. A network on
the prepared columns is, exactly, another network on the columns as they were:

.. math:: w \cdot (x - m) / s + b = (w / s) \cdot x + (b - w \cdot m / s)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data.frames import cells_of, is_frame
from marginflow.data.numerals import PLAIN, Numeral, is_empty
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer

Network = TypeVar("Network", TwoLayer, Classifier)


@dataclass(frozen=True, kw_only=True)
class Column(Brief):
    """One column of a table and what becomes of it.

    Attributes
    ----------
    name : str
    categories : tuple of str
        The values that get an indicator each; empty for a column of numbers.
    mean, scale : float
        Of a column of numbers: (x - mean) / scale.
    filler : float or None
        Stands for an empty cell; None: there must be none.
    numeral : Numeral
        How a column of numbers is written.
    """

    name: str
    categories: tuple[str, ...] = ()
    mean: float = 0.0
    scale: float = 1.0
    filler: float | None = None
    numeral: Numeral = PLAIN

    @property
    def features(self) -> list[str]:
        """Names of the features that it becomes."""
        if not self.categories:
            return [self.name]
        return [f"{self.name}={value}" if value else f"{self.name} empty" for value in self.categories]

    def values(self, cells: Sequence[str]) -> FloatArray:
        """The features of a list of cells, shape (n, 1) or (n, number of categories)."""
        if self.categories:
            foreign = next((cell for cell in cells if cell not in self.categories), None)
            if foreign is not None:
                known = ", ".join(map(repr, self.categories[:8]))
                raise InputError(f"The column {self.name!r} contains {foreign!r}; its values were {known}.")
            return np.array([[float(cell == value) for value in self.categories] for cell in cells])
        found = [self.numeral.value(cell) for cell in cells]
        for cell, value in zip(cells, found, strict=True):
            if value is None and not (is_empty(cell) and self.filler is not None):
                what = "an empty cell" if is_empty(cell) else repr(cell)
                raise InputError(f"The column {self.name!r} contains {what}; a finite number is expected.")
        numbers = np.array([self.filler if value is None else value for value in found], dtype=np.float64)
        return ((numbers - self.mean) / self.scale)[:, None]


@dataclass(frozen=True, kw_only=True)
class Preparation(Brief):
    """The columns of a table in order, the name of its label column, and the labels.

    Examples
    --------
    >>> from marginflow.data import Column, Preparation
    >>> preparation = Preparation(columns=(Column(name="age", mean=50.0, scale=10.0),), label="ill")
    >>> preparation.apply({"age": ["40", "60"]})
    array([[-1.],
           [ 1.]])
    """

    columns: tuple[Column, ...]
    label: str

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(name for column in self.columns for name in column.features)

    def apply(self, table: Any) -> FloatArray:
        """X of a DataFrame, or of a mapping of names to cells as text, with the same columns (others are ignored).

        Labels are not needed: these are new points for a network.
        """
        if is_frame(table):
            names, _, rows = cells_of(table)
            table = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
        missing = [column.name for column in self.columns if column.name not in table]
        if missing:
            raise InputError(f"The table has no column {missing[0]!r}, which the data were made from.")
        return np.hstack([column.values([cell.strip() for cell in table[column.name]]) for column in self.columns])

    def undo(self, network: Network) -> Network:
        """The same network as a function of the columns as they were (indicators stay indicators).

        Parameters
        ----------
        network : TwoLayer or Classifier
            A function of the prepared columns.

        Returns
        -------
        TwoLayer or Classifier
            With a bias wherever a mean was subtracted. It computes the same; its norm, its margins in parameter space
            and so its KKT conditions are those of another problem.
        """
        if network.dimension != len(self.features):
            raise InputError(
                f"The network has dimension {network.dimension}; the table has {len(self.features)} features."
            )
        mean = np.array([0.0 if c.categories else c.mean for c in self.columns for _ in c.features])
        scale = np.array([1.0 if c.categories else c.scale for c in self.columns for _ in c.features])
        if not mean.any():
            return replace(network, W=network.W / scale)
        shift = network.W @ (mean / scale)
        return replace(network, W=network.W / scale, b=(0.0 if network.b is None else network.b) - shift)

    @classmethod
    def of_plain(cls, value: Mapping[str, Any]) -> Preparation:
        """The inverse of `to_plain`; what does not have its form is refused."""
        import msgspec  # here and not above: the help of `sample` does without

        try:
            made = msgspec.convert(value, cls)
            numbers = [x for c in made.columns for x in (c.mean, c.scale, c.filler or 0.0)]
            if not made.columns or not np.isfinite(numbers).all() or any(column.scale <= 0 for column in made.columns):
                raise ValueError("a scale is not positive, or a number is not finite")
        except ValueError as error:
            raise InputError(f"The preparation of the columns is not of the expected form: {error}.") from None
        return made
