"""Picture 2: one vector that flips every handwritten three and eight, and how far each is from the boundary."""

import importlib.resources
import math

import numpy as np

from marginflow.data import Dataset
from marginflow.demo.chapter import Chapter, Report
from marginflow.display import shortest_sentence
from marginflow.limit import kkt_point
from marginflow.measurements import checked_radii, flip, summarise_radii
from marginflow.networks.evaluation import count_wrong
from marginflow.plain import named_values, to_plain
from marginflow.robustness import universal_perturbation

# Width, seconds for a distance, and random directions to compare with.
WIDTH, TIME_LIMIT, N_RANDOM = 50, 2.0, 40


def handwritten() -> Dataset:
    """The bundled threes (-1) and eights (+1): 357 images of 8 x 8 pixels from 0 to 16; see DIGITS.md."""
    with importlib.resources.files("marginflow.demo").joinpath("digits.npz").open("rb") as file:
        arrays = np.load(file, allow_pickle=False)
        X, y = arrays["X"].astype(np.float64), arrays["y"].astype(np.float64)
    return Dataset(X=X, y=y, origin={"name": "digits", "negative": 3, "positive": 8})


def digits(seed: int, show: Report) -> Chapter:
    """Find the KKT point on the digits, the shortest vector that flips all of them, and every exact radius."""
    data = handwritten()
    limit = kkt_point(data, width=WIDTH, seed=seed)
    if limit.stopped_by == "interrupt":
        raise KeyboardInterrupt
    network = limit.compact
    show(0.2, "one vector for all")
    universal = universal_perturbation(network, data.X, data.y, seed=seed, n_random=2)
    z = np.zeros(data.dimension) if universal.vector is None else universal.vector
    walk = flip(network, data, z) if z.any() else None
    random = np.random.default_rng(seed).standard_normal((N_RANDOM, data.dimension))
    by_chance = np.mean(
        [flip(network, data, e).steps.flipped_share(universal.upper / np.linalg.norm(e)) for e in random]
    )
    show(0.4, "exact distances")
    radii = checked_radii(
        network,
        data,
        range(data.n_samples),
        time_limit=TIME_LIMIT,
        progress=lambda done, total: show(0.4 + 0.6 * done / total, f"{done} of {total} distances"),
    )
    summary = summarise_radii(radii)
    record = {
        "images": data.X.astype(int),
        "labels": data.y.astype(int),
        "network": {"W": network.W, "b": network.b, "v": network.v},
        "vector": z,
        "upper": universal.upper,
        "lower": universal.lower,
        "curve": None if walk is None else walk.curve(),
        "random_share": float(by_chance),
        "radii": [radius.upper for radius in radii],
        **named_values(summary, ("settled", "smallest", "median", "largest")),
        "on_margin": int(limit.certificate.margin_set.sum()),
        "mean_norm": data.mean_norm,
        "sqrt_dimension": math.sqrt(data.dimension),
        "wrong": count_wrong(network.margins(data.X, data.y)),
        "holds": limit.certificate.holds(),
        "residual": limit.certificate.residual,
        "neurons": network.width,
        "width": WIDTH,
        "seconds": limit.seconds,
    }
    return Chapter(
        name="digits",
        record=to_plain(record),
        sentence=(
            f"Digits: {shortest_sentence(universal.upper, universal.lower, samples=data.n_samples)}; "
            f"{summary.settled} exact distances are proved."
        ),
        holds=limit.certificate.holds(),
        networks={"digits-kkt": limit.network},
        data={"digits": data},
    )
