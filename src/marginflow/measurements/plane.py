"""A network on the plane, as it is drawn: its neurons, and what there is to say of it in numbers."""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

# Kinks nearer than this are forgiven in the second residual.
NEAR_KINK = 1e-3
# A sample is on the margin if its margin exceeds the smallest by less than this.
ON_MARGIN = 1e-6
# Directions count as one if they are less than this angle apart, and not at all with less than this share of weight.
ANGLE, LEAST_SHARE = np.deg2rad(1.0), 1e-3


def plane_samples(data: Dataset) -> list[list[float]]:
    """Every sample as [x, y, label]."""
    if data.dimension != 2:
        raise InputError(f"The samples have {data.dimension} columns; the plane has 2.")
    rows: list[list[float]] = np.column_stack([data.X, data.y]).tolist()
    return rows


def plane_frame(
    network: TwoLayer, data: Dataset, *, certificate: Certificate | None = None, pictured: TwoLayer | None = None
) -> dict[str, object]:
    """The neurons as rows (w_1 |v|, w_2 |v|, b |v|, sign v) at margin 1, and the numbers beside the picture.

    Parameters
    ----------
    network, data : TwoLayer, Dataset
    certificate : Certificate or None
        Of this network; computed if it is missing.
    pictured : TwoLayer or None
        A network with the same outputs whose neurons are drawn instead.
    """
    if network.dimension != 2:
        raise InputError(f"The network has dimension {network.dimension}; the plane has 2.")
    margins = network.margins(data.X, data.y)
    least = float(margins.min())
    drawn = network if pictured is None else pictured
    b = np.zeros(drawn.width) if drawn.b is None else drawn.b
    neurons = np.column_stack([drawn.W * np.abs(drawn.v)[:, None], b * np.abs(drawn.v), np.sign(drawn.v)])
    size = float(np.linalg.norm(neurons[:, :3], axis=1).sum())
    neurons[:, :3] /= least if least > 0 else max(size, 1e-300)
    strict = forgiven = None
    if least > 0:
        strict = (certificate if certificate is not None else certify(network, data)).total
        forgiven = certify(network, data, kink_tolerance=NEAR_KINK).total
    return {
        "neurons": neurons,
        "separates": least > 0,
        "right": int((margins > 0).sum()),
        "residual": strict,
        "forgiven": forgiven,
        "directions": count_directions(neurons),
        "on_margin": np.flatnonzero(margins <= least * (1.0 + ON_MARGIN)) if least > 0 else [],
    }


def count_directions(neurons: FloatArray) -> int:
    """How many directions (w, b), apart for each sign of v, carry a share of the weight worth naming."""
    weights = np.linalg.norm(neurons[:, :3], axis=1)
    kept = np.flatnonzero(weights > LEAST_SHARE * weights.sum())
    order = kept[np.argsort(-weights[kept], kind="stable")]
    leaders: list[int] = []
    for index in order:
        unit, sign = neurons[index, :3] / weights[index], neurons[index, 3]
        near = (
            float(unit @ neurons[leader, :3]) / weights[leader] > np.cos(ANGLE) and neurons[leader, 3] == sign
            for leader in leaders
        )
        if not any(near):
            leaders.append(int(index))
    return len(leaders)
