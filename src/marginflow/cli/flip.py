"""`marginflow flip NETWORK DATA`: how long a multiple of one vector flips every sample?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from marginflow import certificates
from marginflow.arrays import FloatArray, real_number, vector
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile
from marginflow.cli.output import check_target, note, print_rows, result_text
from marginflow.cli.progress import progress
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import (
    RaySteps,
    dual_sum,
    label_sum,
    margin_samples,
    mean_sum,
    minimal_step,
    minimal_step_unsigned,
    support_samples,
)
from marginflow.storage import write_text

NAMES = ("label-sum", "margin", "support", "dual", "means")
# Shares of the curve that is printed; the whole curve goes to the file.
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def flip(
    network: NetworkFile,
    data: DataFile,
    *,
    direction: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=(1, None),
            negative="",
            help=(
                "One or more of: label-sum (of y x over all samples, the default), margin (over those on the margin), "
                "support (over those with a multiplier), dual (weighted by the multipliers), means (of the clusters), "
                "or a vector in FILE.npy."
            ),
        ),
    ] = None,
    points: Annotated[
        Path | None,
        Parameter(
            help="Fresh samples to flip, .npz or .csv; the directions still come from DATA, which is the default."
        ),
    ] = None,
    unsigned: Annotated[
        bool,
        Parameter(negative="", help="Add the same vector to every sample; else it is subtracted from the positive."),
    ] = False,
    share: Annotated[float, Parameter(help="Share of the samples that is to be flipped at once.")] = 1.0,
    label: Label = None,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "-o"], help="Also write directions, first flips and whole curves as .json."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every direction flips the share, 1 if no multiple of one of them does."""
    real_number("share", share, above=0.0, at_most=1.0)
    if out is not None:
        check_target(out, (".json",), force=force)
    judged, dataset = TwoLayer.load(network), Dataset.load(data, label=label)
    target = dataset if points is None else fresh_points(points, judged, label)
    d = dataset.dimension if dataset.ambient_dimension is None else dataset.ambient_dimension
    step = minimal_step_unsigned if unsigned else minimal_step
    told: list[tuple[str, dict[str, float]]] = []
    whole: list[dict[str, object]] = []
    with progress("Stepping") as show:
        multipliers = best_multipliers(judged, dataset)
        names = direction or ["label-sum"]
        for place, name in enumerate(names):
            show(place / len(names), name)
            z = direction_of(name, judged, dataset, multipliers)
            steps = step(judged, target.X, target.y, z)
            told.append((name, findings(steps, share, d)))
            whole.append(row(*told[-1]) | {"vector": z, "first": steps.sizes, "curve": curve(steps)})
    flips = all(math.isfinite(one["norm"]) for _, one in told)
    record = {
        "flips": flips,
        "share": share,
        "signed": not unsigned,
        "samples": target.n_samples,
        "points": points,
        "sqrt_dimension": math.sqrt(d),
        "out": out,
    }
    if out is not None:
        write_text(out, result_text(record | {"directions": whole}) + "\n")
    if as_json:
        print(result_text(record | {"directions": [row(*one) for one in told]}))
    else:
        _tell(told, share, target.n_samples, d, unsigned=unsigned)
        if out is not None:
            print(f"Written to {out}")
    return DONE if flips else DOES_NOT_HOLD


def fresh_points(path: Path, network: TwoLayer, label: str | None) -> Dataset:
    """Samples that had no part in the direction."""
    fresh = Dataset.load(path, label=label)
    if fresh.dimension != network.dimension:
        raise InputError(f"points has {fresh.dimension} columns, but the network has dimension {network.dimension}.")
    return fresh


def best_multipliers(network: TwoLayer, data: Dataset) -> Callable[[], FloatArray]:
    """The multipliers of the certificate, computed once and only if a direction asks for them."""

    @cache
    def compute() -> FloatArray:
        certificate = certificates.certify(network, data)
        if not certificate.holds():
            note(f"The network is no KKT point (residual {certificate.total:.1e}); its best multipliers are taken.")
        return certificate.multipliers

    return compute


def direction_of(name: str, network: TwoLayer, data: Dataset, multipliers: Callable[[], FloatArray]) -> FloatArray:
    """The vector that a name stands for, or the one in a file."""
    if name.lower().endswith(".npy"):
        return read_vector(Path(name))
    match name:
        case "label-sum":
            return label_sum(data.X, data.y)
        case "margin":
            return label_sum(data.X, data.y, margin_samples(network, data.X, data.y))
        case "support":
            return label_sum(data.X, data.y, support_samples(multipliers()))
        case "dual":
            return dual_sum(data.X, data.y, multipliers())
        case "means":
            if data.means is None or data.mean_labels is None:
                raise InputError("The data know no cluster means; the direction 'means' needs them.")
            return mean_sum(data.means, data.mean_labels)
    raise InputError(f"direction is {name!r}; one of {', '.join(NAMES)} or the name of a .npy file is expected.")


def read_vector(path: Path) -> FloatArray:
    """A vector from a .npy file; nothing in it is executed."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    try:
        content = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):  # numpy's own words advise to unpickle what it does not know
        raise InputError(f"{path} is not a readable .npy file of numbers; numpy.save(path, z) writes one.") from None
    if not isinstance(content, np.ndarray):
        raise InputError(f"{path} holds several arrays; one vector is expected.")
    return vector(str(path), content)


def findings(steps: RaySteps, share: float, dimension: int) -> dict[str, float]:
    """Norms of the perturbations t z: first flips, the share asked for, all at once; and some of them by sqrt(d)."""
    sizes, root = steps.sizes, math.sqrt(dimension)
    norm, median = steps.size_for_share(share), float(np.median(sizes))
    return {
        "norm": norm,
        "norm_by_sqrt_dimension": norm / root,
        "smallest_first": float(sizes.min()),
        "median_first": median,
        "median_first_by_sqrt_dimension": median / root,
        "largest_first": float(sizes.max()),
        "all_at_once": steps.size_for_share(1.0),
        **{f"share_{wanted:g}": steps.size_for_share(wanted) for wanted in SHARES},
        "already_flipped": int(steps.already.sum()),
        "never_flipped": int(np.isinf(steps.first).sum()),
        "flip_back": int((~steps.monotone).sum()),
    }


def row(name: str, found: dict[str, float]) -> dict[str, object]:
    """What was found along one direction, under its name."""
    return {"direction": name, **found}


def curve(steps: RaySteps) -> dict[str, FloatArray]:
    """The share flipped at exactly each norm at which it changes, and between that norm and the next."""
    return {"norm": steps.steps[::2] * steps.norms[0], "at": steps.shares[::2], "after": steps.shares[1::2]}


def _tell(
    told: list[tuple[str, dict[str, float]]], share: float, n_samples: int, dimension: int, *, unsigned: bool
) -> None:
    how = "added to every sample" if unsigned else "subtracted from the positive, added to the negative samples"
    print(f"One vector, {how}; {n_samples} samples, sqrt(d) = {math.sqrt(dimension):.4g}. Norms:")
    headings = {"direction": "direction"} | ({} if share == 1.0 else {"norm": f"{share:.4g} flipped"})
    rows = [row(*one) for one in told]
    print_rows(
        rows,
        headings=headings
        | {
            "all_at_once": "all at once",
            "smallest_first": "smallest flip",
            "median_first": "median flip",
            "largest_first": "largest flip",
            "already_flipped": "wrong already",
            "never_flipped": "never",
            "flip_back": "flip back",
        },
    )
    print("\nNorm at which a share is flipped at once:")
    print_rows(rows, headings={"direction": "direction"} | {f"share_{w:g}": f"{w:.0%}" for w in SHARES})
    print()
    wanted = "every sample" if share == 1.0 else f"a share of {share:.4g}"
    for name, one in told:
        flips = (
            f"{one['norm']:.6g} = {one['norm_by_sqrt_dimension']:.4g} sqrt(d) flips {wanted}"
            if math.isfinite(one["norm"])
            else f"no length flips {wanted}"
        )
        median = one["median_first_by_sqrt_dimension"]
        print(f"{name}: {flips}; the median first flip is at {median:.4g} sqrt(d).")
