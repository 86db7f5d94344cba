"""Labelled samples, and whatever the law that drew them knows about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray, labels, matrix, read_only
from marginflow.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Samples x_i with labels y_i in {-1, +1}.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples as rows.
    y : array, shape (n,)
        Labels as observed, -1 or +1.
    clean_labels : array, shape (n,), or None
        Labels before noise, where the law knows them.
    clusters : integer array, shape (n,), or None
        Cluster of each sample, an index into `means`.
    means, mean_labels : arrays, shapes (k, d) and (k,), or None
        Cluster means and their labels.
    ambient_dimension : int or None
        The dimension that the law speaks of when X holds exact reduced coordinates (Gram reduction);
        None when it is d.
    law : mapping of plain values
        Name, parameters and seed of the law that drew the sample; empty for a user's own data.
    """

    X: FloatArray
    y: FloatArray
    clean_labels: FloatArray | None = None
    clusters: IntArray | None = None
    means: FloatArray | None = None
    mean_labels: FloatArray | None = None
    ambient_dimension: int | None = None
    law: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        X = matrix("X", self.X)
        n = X.shape[0]
        object.__setattr__(self, "X", read_only(X))
        object.__setattr__(self, "y", read_only(labels("y", self.y, n)))
        if self.clean_labels is not None:
            object.__setattr__(self, "clean_labels", read_only(labels("clean_labels", self.clean_labels, n)))
        if self.means is not None:
            object.__setattr__(self, "means", read_only(matrix("means", self.means)))
        if self.mean_labels is not None:
            object.__setattr__(self, "mean_labels", read_only(labels("mean_labels", self.mean_labels)))
        if self.clusters is not None:
            clusters = np.asarray(self.clusters)
            if clusters.shape != (n,) or not np.issubdtype(clusters.dtype, np.integer):
                raise InputError(f"clusters has shape {clusters.shape}; {n} whole numbers are expected.")
            object.__setattr__(self, "clusters", read_only(clusters.astype(np.int64)))

    @property
    def n_samples(self) -> int:
        """Number of samples (the papers' m in VYS22 and KYS23, n in FVBS23 and FCB22)."""
        return int(self.X.shape[0])

    @property
    def dimension(self) -> int:
        """Number d of columns of X."""
        return int(self.X.shape[1])

    @property
    def noisy(self) -> BoolArray | None:
        """Where the observed label differs from the clean one; None if the law knows no clean labels."""
        return None if self.clean_labels is None else self.y != self.clean_labels

    def require_two_classes(self) -> None:
        """Refuse data in which only one label occurs."""
        if np.all(self.y == self.y[0]):
            raise InputError(
                f"All {self.n_samples} labels are {self.y[0]:+g}; both -1 and +1 must occur for there to be a boundary."
            )

    def require_no_contradiction(self) -> None:
        """Refuse identical points with opposite labels: no function separates them."""
        order = np.lexsort(self.X.T)
        same = np.all(self.X[order[1:]] == self.X[order[:-1]], axis=1)
        clash = same & (self.y[order[1:]] != self.y[order[:-1]])
        if clash.any():
            place = int(np.flatnonzero(clash)[0])
            first, second = sorted((int(order[place]), int(order[place + 1])))
            raise InputError(
                f"Samples {first} and {second} are identical but have opposite labels; no network separates them."
            )

    def subset(self, index: IntArray | BoolArray) -> Dataset:
        """The samples selected by an index array or mask, with all that is known of them."""
        return Dataset(
            X=self.X[index],
            y=self.y[index],
            clean_labels=None if self.clean_labels is None else self.clean_labels[index],
            clusters=None if self.clusters is None else self.clusters[index],
            means=self.means,
            mean_labels=self.mean_labels,
            ambient_dimension=self.ambient_dimension,
            law=self.law,
        )

    def __repr__(self) -> str:
        name = self.law.get("name", "user data")
        plus = int((self.y > 0).sum())
        shape = f"n={self.n_samples}, d={self.dimension}"
        return f"Dataset({name}: {shape}, {plus} positive, {self.n_samples - plus} negative)"
