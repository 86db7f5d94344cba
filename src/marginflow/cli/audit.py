"""`marginflow audit MODEL DATA`: everything that can be said of somebody's own network, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import require_dimension
from marginflow.cli.options import AsJson, DataFile, Force, Label, Seed, Tolerance, checked, counted, written
from marginflow.cli.output import check_target, deliver, print_rows
from marginflow.cli.progress import progress
from marginflow.display import capitalised
from marginflow.errors import InputError

SHOWN: Final = 10  # radii on the screen

ModelFile = Annotated[
    Path, Parameter(help="Network: torch state_dict (.pt, .pth, .safetensors), .onnx, or ours (.safetensors).")
]


def audit(
    model: ModelFile,
    data: DataFile,
    *,
    start: Annotated[
        Path | None, Parameter(help="The network that training started from; shows how near it could ever get.")
    ] = None,
    points: Annotated[
        int | None,
        counted(
            "--points", "Samples whose exact radius is proved; by default 100, or 10 of large networks.", minimum=0
        ),
    ] = None,
    time_limit: Annotated[
        float, checked("--time-limit", "Seconds for each of them, after which its bounds so far are given.", above=0.0)
    ] = 5.0,
    point_time_limit: Annotated[
        float,
        checked(
            "--point-time-limit",
            "Seconds for the KKT point nearby, and as many for the vector that flips all samples.",
            above=0.0,
        ),
    ] = 30.0,
    tolerance: Tolerance = None,
    seed: Seed = 0,
    label: Label = None,
    features: Annotated[
        Path | None,
        Parameter(
            help="The layers before MODEL as TorchScript (.pt): MODEL is audited as a head on the features that they "
            "compute from DATA; lengths are then those of feature space."
        ),
    ] = None,
    out: Annotated[Path | None, written("Also write the page, .html.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if the network is a KKT point at the tolerance and no theorem that applies is violated, 1 if not."""
    check_target(out, (".html",), force=force)
    from marginflow.interop.auditing import audit as audit_model  # torch and onnx only if a file needs them
    from marginflow.interop.models import read_model
    from marginflow.threads import one_thread

    read, dataset = read_model(model), mf.data.Dataset.load(data, label=label)
    if features is not None:
        from marginflow.interop.auditing import features_of

        dataset = features_of(features, dataset)
        said = f"Audited is the head on the features that {features.name} computes: lengths are those of feature space."
        read = replace(read, remarks=(*read.remarks, said))
    require_dimension(read.network, model, dataset, data)
    if points is not None and points > dataset.n_samples:
        raise InputError(f"--points is {points}, but there are {dataset.n_samples} samples.")
    with progress("Auditing") as show, one_thread():
        found = audit_model(
            read,
            dataset,
            start=start,
            points=points,
            time_limit=time_limit,
            point_time_limit=point_time_limit,
            tolerance=mf.certificates.DEFAULT_TOLERANCE if tolerance is None else tolerance,
            seed=seed,
            progress=show,
        )
    record = found.to_dict() | {"seed": seed, "out": out}
    return deliver(
        record,
        as_json=as_json,
        out=out,
        title=f"Audit of {model.name}",
        describe=lambda: _print(found),
        holds=found.is_kkt_point and not found.contradicted,
    )


def _print(found: mf.audits.Audit | mf.audits.ClassesAudit) -> None:
    print(found.verdict)
    for remark in found.remarks:
        print(remark)
    if found.certificate is not None:
        print(f"\n{found.certificate}")
    if isinstance(found, mf.audits.Audit):
        _print_flips(found)
    if found.radii:
        rival = () if isinstance(found, mf.audits.Audit) else ("label", "rival")
        _print_radii(found.radii, ("sample", *rival, "lower", "upper", "status"))
    if isinstance(found, mf.audits.Audit):
        print(f"\n{len(found.applying)} statements apply:")
        for judged in found.applying:
            print(f"{judged.id:<22} {judged.outcome:<10} {judged.meaning}")
    print()


def _print_flips(found: mf.audits.Audit) -> None:
    print(f"\n{found.training}\n{found.nearby}")
    print("\nNorm of a multiple of one vector, subtracted from the positive and added to the negative samples:")
    walks = [*found.flips, *([found.shortest] if found.shortest is not None else [])]
    shares = (0.5, 0.9, 1.0)
    rows = [
        {"name": mf.measurements.DIRECTIONS.get(walk.name, walk.name)}
        | {str(share): walk.norm_for(share) for share in shares}
        for walk in walks
    ]
    print_rows(rows, headings={"name": "direction", "0.5": "flips 50%", "0.9": "flips 90%", "1.0": "flips all"})
    print(f"{capitalised(found.flipped)}.")


def _print_radii(radii: Sequence[mf.measurements.CheckedRadius], columns: Sequence[str]) -> None:
    """Those nearest to the boundary and those that are not proved; the page and --json have all."""
    print(f"\n{sum(radius.settled for radius in radii)} of {len(radii)} radii are proved", end="")
    ranked = sorted(radii, key=lambda radius: radius.upper)
    listed = [radius for rank, radius in enumerate(ranked) if rank < SHOWN or not radius.settled]
    print(":" if len(listed) == len(radii) else "; the smallest ones, all are in --out and --json:")
    print_rows([radius.row() for radius in listed], headings={name: name for name in columns})
