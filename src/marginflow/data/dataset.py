"""Labelled samples, and whatever the law that drew them knows about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, labels, matrix, read_only, whole_number
from marginflow.data import files, frames
from marginflow.data.classes import Classes, check_encoded, encode
from marginflow.data.equal_rows import first_equal
from marginflow.data.preparation import Preparation
from marginflow.display import Plotted
from marginflow.doors import brief, checked
from marginflow.errors import InputError


def full_dimension(columns: int, ambient_dimension: int | None) -> int:
    """The dimension that rows with this many columns stand for; without an ambient dimension it is their own."""
    return columns if ambient_dimension is None else whole_number("ambient_dimension", ambient_dimension)


@dataclass(frozen=True, eq=False)
class Dataset(Plotted):
    """Samples x_i with labels y_i: two classes are -1 and +1, K > 2 classes the numbers 0 to K - 1.

    Parameters
    ----------
    X : array, list or table, shape (n, d)
        Samples as rows; the names of a table's columns are kept in `features`.
    y : array, list or column, shape (n,)
        Labels as observed: -1 and +1, or any other numbers, words or truth values, which are then kept in `classes`.
    classes : tuple
        What the labels were, in order; for two classes the second is +1. (-1, 1) unless they were others. Where it is
        given, y holds -1 and +1, or 0 to K - 1, already.
    features : tuple of str, or None
        Names of the columns.
    preparation : Preparation or None
        What was done to the columns of the table that X was made from.
    clean_labels : array, shape (n,), or None
        Labels before noise, where the law knows them.
    clusters : integer array, shape (n,), or None
        Cluster of each sample, an index into `means`.
    means, mean_labels : arrays, shapes (k, d) and (k,), or None
        Cluster means and their labels.
    ambient_dimension : int or None
        The dimension that the law speaks of when X holds exact reduced coordinates (Gram reduction);
        None when it is d.
    origin : mapping of plain values
        Name, parameters and seed of the law that drew the sample; empty for a user's own data. What was done to the
        sample afterwards (label noise, subsets) is listed in order under "then".

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    Dataset(user data: n=2, d=2, 1 positive, 1 negative)
    >>> Dataset([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"]).classes
    ('cat', 'dog')
    """

    X: FloatArray
    y: FloatArray
    _: KW_ONLY
    classes: Classes = ()
    features: tuple[str, ...] | None = None
    preparation: Preparation | None = None
    clean_labels: FloatArray | None = None
    clusters: IntArray | None = None
    means: FloatArray | None = None
    mean_labels: FloatArray | None = None
    ambient_dimension: int | None = None
    origin: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = frames.column_names(self.X, self.features)
        object.__setattr__(self, "features", names)
        if names is not None:
            frames.refuse_words(self.X, names)
            frames.refuse_shuffled(self.X, self.y)
        try:
            X = matrix("X", self.X)
        except InputError:
            if callable(getattr(self.X, "toarray", None)):
                raise InputError("X is a sparse matrix; a dense one is expected: X.toarray().") from None
            frames.refuse_gaps(self.X, names)
            shape = np.shape(self.X) if hasattr(self.X, "shape") else ()
            if len(shape) > 2 and 0 not in shape:
                raise InputError(
                    f"X has shape {shape}; a row for each sample is expected: X.reshape(len(X), -1)."
                ) from None
            raise
        n, d = X.shape
        object.__setattr__(self, "X", read_only(X))
        unknown = isinstance(self.classes, tuple) and not self.classes
        y, classes = encode(self.y, n) if unknown else check_encoded(self.y, n, self.classes)
        object.__setattr__(self, "y", read_only(y))
        object.__setattr__(self, "classes", classes)
        if self.features is not None and len(self.features) != d:
            raise InputError(f"features has {len(self.features)} names, but X has {d} columns.")
        if self.clean_labels is not None:
            object.__setattr__(self, "clean_labels", read_only(labels("clean_labels", self.clean_labels, n)))
        self._check_clusters(n, d)
        if self.ambient_dimension is not None:
            ambient = whole_number("ambient_dimension", self.ambient_dimension, minimum=d)
            object.__setattr__(self, "ambient_dimension", ambient)
        if not isinstance(self.origin, Mapping):
            raise InputError(f"origin is {self.origin!r}; a mapping of plain values is expected.")
        object.__setattr__(self, "origin", dict(self.origin))

    def _check_clusters(self, n: int, d: int) -> None:
        k = None
        if self.means is not None:
            means = matrix("means", self.means)
            k = means.shape[0]
            if means.shape[1] != d:
                raise InputError(f"means has {means.shape[1]} columns, but X has {d}.")
            object.__setattr__(self, "means", read_only(means))
        if self.mean_labels is not None:
            object.__setattr__(self, "mean_labels", read_only(labels("mean_labels", self.mean_labels, k)))
        if self.clusters is not None:
            try:
                clusters = np.asarray(self.clusters)
            except ValueError:
                raise InputError(f"clusters is {brief(self.clusters)}; {n} whole numbers are expected.") from None
            if clusters.shape != (n,) or not np.issubdtype(clusters.dtype, np.integer):
                raise InputError(f"clusters has shape {clusters.shape}; {n} whole numbers are expected.")
            foreign = clusters[(clusters < 0) | (clusters >= (np.inf if k is None else k))]
            if foreign.size:
                wanted = "not negative" if k is None else f"from 0 to {k - 1}"
                raise InputError(f"clusters contains {foreign[0]}; cluster numbers must be {wanted}.")
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
    def full_dimension(self) -> int:
        """The d of the law and of the theorems: the ambient dimension where X is reduced, else its columns."""
        return full_dimension(self.dimension, self.ambient_dimension)

    @property
    def mean_norm(self) -> float:
        """Root mean square of the norms of the samples."""
        return float(np.sqrt((self.X**2).sum(axis=1).mean()))

    @property
    def noisy(self) -> BoolArray | None:
        """Where the observed label differs from the clean one; None if the law knows no clean labels."""
        return None if self.clean_labels is None else self.y != self.clean_labels

    @property
    def n_classes(self) -> int:
        """Number of classes; 2 means that y holds -1 and +1."""
        return len(self.classes)

    def require_signs(self) -> None:
        """Refuse more than two classes, where -1 and +1 are what counts."""
        if self.n_classes > 2:
            listed = ", ".join(map(repr, self.classes[:6])) + (", ..." if self.n_classes > 6 else "")
            raise InputError(
                f"The data have {self.n_classes} classes ({listed}); two are expected here. Choose two of them, or one "
                "against the rest: Dataset(X, labels == one), or `marginflow convert table.csv --positive one`. KKT "
                "points, radii, flips and audits take all classes at once."
            )

    def require_two_classes(self) -> None:
        """Refuse data in which only one label occurs, or more than two."""
        self.require_signs()
        if np.all(self.y == self.y[0]):
            raise InputError(
                f"All {self.n_samples} labels are {self.y[0]:+g}; both -1 and +1 must occur for there to be a boundary."
            )

    def require_no_contradiction(self) -> None:
        """Refuse identical points with different labels: no function separates them."""
        first = first_equal(self.X)
        wrong = np.flatnonzero(self.y[first] != self.y)
        if wrong.size:
            kind = "opposite labels" if self.n_classes == 2 else "different classes"
            raise InputError(
                f"Samples {first[wrong[0]]} and {wrong[0]} are identical but have {kind}; no network separates them."
            )

    @checked
    def followed_by(self, step: Mapping[str, object]) -> dict[str, object]:
        """The origin with one more step appended to the list of what was done after the draw."""
        done = self.origin.get("then", [])
        return {**self.origin, "then": [*(done if isinstance(done, list) else []), dict(step)]}

    def subset(self, index: ArrayLike) -> Dataset:
        """The samples selected by an index array or mask, with all that is known of them."""
        try:
            chosen = np.arange(self.n_samples)[np.asarray(index)]
        except (IndexError, ValueError, TypeError) as error:
            raise InputError(f"The subset does not fit {self.n_samples} samples: {error}.") from None
        if chosen.ndim != 1 or chosen.size == 0:
            raise InputError(f"The subset has shape {chosen.shape}; at least one sample must be selected by a vector.")
        return replace(
            self,
            X=self.X[chosen],
            y=self.y[chosen],
            clean_labels=None if self.clean_labels is None else self.clean_labels[chosen],
            clusters=None if self.clusters is None else self.clusters[chosen],
            origin=self.followed_by({"name": "subset", "index": chosen.tolist()}),
        )

    @checked
    def save(self, path: str | Path) -> Path:
        """Write as `.npz` (everything) or `.csv` (X, y, clean labels and clusters; no means, classes or origin)."""
        return files.write(path, {name: getattr(self, name) for name in files.FIELDS})

    @classmethod
    @checked
    def load(cls, path: str | Path, *, label: str | None = None, size_limit: float | None = None) -> Dataset:
        """Read `.npz` (arrays X and y, others optional) or `.csv` (one sample per line).

        The label column of a `.csv` is the last one, or the one that `label` names; a header line is optional unless a
        column is named (a first line of numbers is a sample). Nothing in a file is ever executed: pickled arrays are
        refused, and so are archives whose arrays would take more than `size_limit` gigabytes (default: 2, or what the
        environment variable MARGINFLOW_SIZE_LIMIT says).
        """
        fields = files.read(path, label=label, size_limit=size_limit)
        try:
            return cls(**fields)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def __repr__(self) -> str:
        name = self.origin.get("name", "user data")
        plus = int((self.y > 0).sum())
        counts = (
            f"{plus} positive, {self.n_samples - plus} negative" if self.n_classes == 2 else f"{self.n_classes} classes"
        )
        shape = f"n={self.n_samples}, d={self.dimension}"
        if self.ambient_dimension is not None:
            shape += f" standing for {self.ambient_dimension}"
        return f"Dataset({name}: {shape}, {counts})"
