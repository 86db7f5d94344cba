"""What is drawn of a sample and of a training run, as plain values."""

from typing import Any, Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.flow import Run
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain

_MOST: Final = 2000  # points drawn


def sample_record(data: Dataset) -> dict[str, Any]:
    """Sizes, classes, law and lengths of a sample, and its points in the plane or along two principal directions."""
    lengths = np.linalg.norm(data.X, axis=1)
    coordinates, shares = _coordinates(data.X)
    index = (data.y > 0).astype(int) if data.n_classes == 2 else data.y.astype(int)
    names = np.array([str(name) for name in data.classes])
    chosen = np.linspace(0, data.n_samples - 1, min(_MOST, data.n_samples)).astype(int)
    record: dict[str, Any] = to_plain(
        {
            "samples": data.n_samples,
            "dimension": data.dimension,
            "ambient_dimension": data.ambient_dimension,
            "labels": {name: int((index == number).sum()) for number, name in enumerate(names.tolist())},
            "median_length": float(np.median(lengths)),
            "shortest": lengths.min(),
            "longest": lengths.max(),
            "noisy": None if data.noisy is None else int(data.noisy.sum()),
            "law": {key: data.origin[key] for key in ("name", "seed") if key in data.origin},
            "variance": shares,
            "points": {"sample": chosen, "at": coordinates[chosen], "label": names[index[chosen]].tolist()},
        }
    )
    return record


def run_record(run: Run, data: Dataset | None = None) -> dict[str, Any]:
    """A run as `marginflow train` keeps it, with its margins by ||theta|| to the degree.

    Given the data also the KKT residual of the networks recorded on the way, or of the end; those that do not separate
    the data have none.
    """
    path = run.trajectory
    margins = {"smallest": path.normalised_margin}
    if path.margins is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = path.least_margin / path.normalised_margin  # ||theta|| to the degree
            margins["median"] = np.median(path.margins, axis=1) / growth
            margins["largest"] = path.margins.max(axis=1) / growth
    record: dict[str, Any] = run.to_dict() | {"records": path.to_dict(), "margins": to_plain(margins)}
    if data is None:
        return record
    networks = [(path.step[-1], run.network)] if path.networks is None else zip(path.step, path.networks, strict=True)
    found = [(int(step), certify(network, data)) for step, network in networks if isinstance(network, TwoLayer)]
    residuals = [
        {"step": step, "residual": judged.residual} for step, judged in found if judged.status != "does not separate"
    ]
    return record | {"residuals": to_plain(residuals)}


def _coordinates(X: FloatArray) -> tuple[FloatArray, list[float] | None]:
    """Two coordinates of each sample and, where they are principal directions, their shares of the variance."""
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.arange(X.shape[0])]), None
    if X.shape[1] == 2:
        return X, None
    centred = X - X.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    padded = np.zeros((X.shape[0], 2))
    found = min(2, sizes.size)
    padded[:, :found] = left[:, :found] * sizes[:found]
    total = float((sizes**2).sum()) or 1.0
    return padded, [float(size) ** 2 / total for size in (*sizes[:2], 0.0, 0.0)][:2]
