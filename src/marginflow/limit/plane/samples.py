"""Samples whose rows (x, 1) span at most three dimensions, in coordinates and units that suit the arrangement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.settings import RANK_TOLERANCE
from marginflow.networks.evaluation import augmented_samples


@dataclass(frozen=True, eq=False)
class PlanarSamples:
    """Rows z_i in R^3 of length at most 1: the rows (x_i, 1), or x_i without bias, rotated and divided by `unit`.

    Attributes
    ----------
    rows : array, shape (n, 3)
        Columns beyond the rank are zero.
    y : array, shape (n,)
    basis : array, shape (3, d or d + 1)
        Row vectors: (x_i, 1) = unit * rows[i] @ basis.
    unit : float
        A power of two.
    """

    rows: FloatArray
    y: FloatArray
    basis: FloatArray
    unit: float

    @classmethod
    def of(cls, data: Dataset, *, bias: bool) -> PlanarSamples:
        """Reduce; an `InputError` where the samples span more than three dimensions."""
        rows = augmented_samples(data.X, bias=bias)
        norms = np.linalg.norm(rows, axis=1)
        if not norms.all():
            raise InputError("A sample is zero; without bias every network is zero there.")
        unit = float(2.0 ** np.ceil(np.log2(norms.max())))
        _, sigma, right = np.linalg.svd(rows / unit, full_matrices=False)
        rank = int((sigma > RANK_TOLERANCE * sigma[0]).sum())
        if rank > 3:
            what = "with a bias" if bias else "without bias"
            raise InputError(
                f"The samples of dimension {data.dimension} span {rank} dimensions {what}; at most 3 are expected: "
                "the global optimum is computed for samples on a line or in a plane."
            )
        basis = np.zeros((3, rows.shape[1]))
        basis[:rank] = right[:rank]
        return cls((rows / unit) @ basis.T, data.y, basis, unit)
