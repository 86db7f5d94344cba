"""`marginflow flip NETWORK DATA`: how long a multiple of one vector flips every sample?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import network_and_data
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile, checked, flag, written
from marginflow.cli.output import check_target, deliver, note, print_rows
from marginflow.cli.progress import progress
from marginflow.direction_names import DIRECTIONS
from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow.arrays import FloatArray

_DEFAULT: Final = "label-sum"
_LONG: Final = ("vector", "first", "rivals", "curve")  # what of a direction the file has and the screen has not


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
                f"One or more of: {', '.join(f'{name} ({words})' for name, words in DIRECTIONS.items())}, or a vector "
                f"in FILE.npy; {_DEFAULT} if none is given. With a logit for each class: shortest (the default) or "
                "FILE.npy."
            ),
        ),
    ] = None,
    test: Annotated[
        Path | None,
        Parameter(help="Fresh samples to flip instead of DATA, .npz or .csv; the directions still come from DATA."),
    ] = None,
    unsigned: Annotated[
        bool,
        flag("Add the same vector to every sample; without this it is subtracted from the positive ones."),
    ] = False,
    share: Annotated[
        float, checked("share", "Share of the samples that is to be flipped at once.", above=0.0, at_most=1.0)
    ] = 1.0,
    label: Label = None,
    out: Annotated[Path | None, written("Also write directions, first flips and whole curves as .json.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every direction flips the share, 1 if no multiple of one of them does.

    A network with a logit for each class: the vector is added to every sample, and norms are those at which classes
    first change.
    """
    check_target(out, (".json",), force=force)
    judged, dataset, _ = network_and_data(network, data, label)
    d = dataset.full_dimension
    target = dataset if test is None else _fresh(test, judged, label)
    n = target.n_samples
    if isinstance(judged, mf.networks.Classifier):
        from marginflow.cli.class_flip import print_changes, vectors_by_name
        from marginflow.measurements.class_changes import class_changes

        unsigned = True  # there is no sign
        read = {name: _read_vector(Path(name)) for name in direction or [] if name.lower().endswith(".npy")}
        vectors = vectors_by_name(direction, read)
        labels = mf.audits.classes.logit_numbers(target, judged.n_classes)
        with progress("Stepping"):
            whole = class_changes(judged, target.X, labels, vectors, share)
    else:
        whole = [
            known.summary(dimension=d, share=share)
            | {"vector": known.vector, "first": known.steps.sizes, "curve": known.curve()}
            for known in _flips(judged, dataset, target, direction or [_DEFAULT], signed=not unsigned)
        ]
    rows = [{name: value for name, value in row.items() if name not in _LONG} for row in whole]

    def describe() -> None:
        if isinstance(judged, mf.networks.Classifier):
            print_changes(rows, share, judged.n_classes, n)
        else:
            _print(rows, share, n, d, unsigned=unsigned)

    does = all(math.isfinite(float(str(row["norm"]))) for row in rows)
    record = {
        "flips": does,
        "share": share,
        "signed": not unsigned,
        "samples": n,
        "test": test,
        "sqrt_dimension": math.sqrt(d),
        "out": out,
    }
    return deliver(
        record | {"directions": rows},
        as_json=as_json,
        out=out,
        whole=record | {"directions": whole},
        describe=describe,
        holds=does,
    )


def _flips(
    network: mf.networks.TwoLayer, data: mf.data.Dataset, target: mf.data.Dataset, names: Sequence[str], *, signed: bool
) -> list[mf.measurements.Flip]:
    """The walk of the target along every direction of the data by name, or along a vector from a file."""
    flips = []
    with progress("Stepping") as show:
        certificate = _certificate(network, data) if set(names) & set(mf.measurements.BY_MULTIPLIERS) else None
        for index, name in enumerate(names):
            show(index / len(names), name)
            z = (
                _read_vector(Path(name))
                if name.lower().endswith(".npy")
                else mf.measurements.named_direction(network, data, name, certificate)
            )
            flips.append(mf.measurements.flip(network, target, z, name=name, signed=signed))
    return flips


def _fresh(path: Path, network: mf.networks.TwoLayer | mf.networks.Classifier, label: str | None) -> mf.data.Dataset:
    """Samples that had no part in the direction."""
    fresh = mf.data.Dataset.load(path, label=label)
    if fresh.dimension != network.dimension:
        raise InputError(f"{path} has {fresh.dimension} columns, but the network has dimension {network.dimension}.")
    return fresh


def _certificate(network: mf.networks.TwoLayer, data: mf.data.Dataset) -> mf.certificates.Certificate:
    certificate = mf.certify(network, data)
    if not certificate.holds():
        note(f"The network is not a KKT point (residual {certificate.residual:.1e}); its best multipliers are taken.")
    return certificate


def _read_vector(path: Path) -> FloatArray:
    """A vector from a .npy file; nothing in it is executed."""
    from marginflow.arrays import vector
    from marginflow.data.files import read_array

    return vector(str(path), read_array(path))


def _print(rows: Sequence[dict[str, object]], share: float, n_samples: int, dimension: int, *, unsigned: bool) -> None:
    how = "added to every sample" if unsigned else "subtracted from the positive, added to the negative samples"
    print(f"One vector, {how}; {n_samples} samples, sqrt(d) = {math.sqrt(dimension):.4g}. Norms:")
    headings = {"direction": "direction"} | ({} if share == 1.0 else {"norm": f"{share:.4g} flipped"})
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
    print_rows(rows, headings={"direction": "direction"} | {f"share_{w:g}": f"{w:.0%}" for w in mf.measurements.SHARES})
    print()
    wanted = "every sample" if share == 1.0 else f"a share of {share:.4g}"
    for row in rows:
        norm, relative = float(str(row["norm"])), row["norm_by_sqrt_dimension"]
        flips = (
            f"{norm:.6g} = {relative:.4g} sqrt(d) flips {wanted}"
            if math.isfinite(norm)
            else f"no length flips {wanted}"
        )
        median = row["median_first_by_sqrt_dimension"]
        print(f"{row['direction']}: {flips}; the median first flip is at {median:.4g} sqrt(d).")
