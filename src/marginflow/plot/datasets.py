"""A sample in a notebook: its sizes, and its points on the plane or along the first two principal directions."""

from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import points
from marginflow.report.table import Table

_MOST: Final = 2000  # points drawn


def showing(data: Dataset) -> Showing:
    """Sizes, classes, law and lengths."""
    lengths = np.linalg.norm(data.X, axis=1)
    two = data.n_classes == 2
    values = (-1.0, 1.0) if two else tuple(map(float, range(data.n_classes)))
    counts = {str(name): int((data.y == value).sum()) for name, value in zip(data.classes, values, strict=True)}
    rows: list[tuple[object, ...]] = [
        ("Samples n", data.n_samples),
        ("Dimension d", data.dimension),
        *((f"Label {name}", count) for name, count in list(counts.items())[:6]),
        ("Length of a sample, median", float(np.median(lengths))),
        ("shortest and longest", f"{lengths.min():.4g} to {lengths.max():.4g}"),
    ]
    if data.ambient_dimension is not None:
        rows.insert(2, ("standing for dimension", data.ambient_dimension))
    if data.noisy is not None:
        rows.append(("Labels that noise changed", int(data.noisy.sum())))
    name = str(data.origin.get("name", "your own data"))
    seed = data.origin.get("seed")
    drawn = name if seed is None else f"{name}, seed {seed}"
    table = Table(columns=("", ""), rows=tuple(rows), caption="The sample")
    return Showing(sentence=f"{data.n_samples} samples in dimension {data.dimension} ({drawn}).", table=table)


def charts(data: Dataset) -> list[Chart]:
    """Every sample: itself in the plane, on the line against its index, else along two principal directions."""
    coordinates, names = _coordinates(data.X)
    two = data.n_classes == 2
    chosen = np.linspace(0, data.n_samples - 1, min(_MOST, data.n_samples)).astype(int)
    rows: list[dict[str, object]] = [
        {
            "sample": int(i),
            "first": float(coordinates[i, 0]),
            "second": float(coordinates[i, 1]),
            "label": str(data.classes[int(data.y[i] > 0) if two else int(data.y[i])]),
        }
        for i in chosen
    ]
    rows.sort(key=lambda row: str(row["label"]))
    left = data.n_samples - len(rows)
    title = "Samples" if data.dimension <= 2 else "Samples along two principal directions"
    return [
        points(
            rows,
            x="first",
            y="second",
            series="label",
            titles={"first": names[0], "second": names[1], "label": "Label", "sample": "Sample"},
            title=title + (f" ({left} not drawn)" if left else ""),
            description="Every sample with its label.",
        )
    ]


def _coordinates(X: FloatArray) -> tuple[FloatArray, tuple[str, str]]:
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.arange(X.shape[0])]), ("x", "Sample")
    if X.shape[1] == 2:
        return X, ("x₁", "x₂")
    centred = X - X.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    padded = np.zeros((X.shape[0], 2))
    found = min(2, sizes.size)
    padded[:, :found] = left[:, :found] * sizes[:found]
    total = float((sizes**2).sum()) or 1.0
    shares = [100 * float(size) ** 2 / total for size in (*sizes[:2], 0.0, 0.0)][:2]
    return padded, (f"First direction ({shares[0]:.0f} % of variance)", f"Second ({shares[1]:.0f} %)")
