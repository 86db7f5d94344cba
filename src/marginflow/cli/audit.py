"""`marginflow audit MODEL DATA`: everything that can be said of somebody's own network, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from threadpoolctl import threadpool_limits

from marginflow import audits
from marginflow.arrays import real_number, whole_number
from marginflow.certificates import DEFAULT_TOLERANCE
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, Seed
from marginflow.cli.output import check_target, print_rows, result_text
from marginflow.cli.progress import progress
from marginflow.cli.provenance import command, versions
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.report import write

DEFAULT_POINTS = 10
ModelFile = Annotated[
    Path, Parameter(help="Network: torch state_dict (.pt, .pth, .safetensors), .onnx, or ours (.safetensors).")
]


def audit(
    model: ModelFile,
    data: DataFile,
    *,
    initial: Annotated[
        Path | None, Parameter(help="The network that training started from; says how near training can ever get.")
    ] = None,
    points: Annotated[
        int | None, Parameter(help="Samples whose exact radius is proved; by default 10, or all if they are fewer.")
    ] = None,
    max_seconds: Annotated[float, Parameter(help="Seconds for each of them; then its bounds so far are given.")] = 5.0,
    tolerance: Annotated[
        float, Parameter(help="Largest residual at which a condition counts as fulfilled.")
    ] = DEFAULT_TOLERANCE,
    seed: Seed = 0,
    label: Label = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="Also write the page, .html.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if the network is a KKT point at the tolerance and no theorem that applies is violated, 1 if not."""
    real_number("--max-seconds", max_seconds, above=0.0)
    if out is not None:
        check_target(out, (".html",), force=force)
    from marginflow.interop.files import load_network  # torch and onnx only if a file needs them

    network, dataset = load_network(model), Dataset.load(data, label=label)
    start = None if initial is None else load_network(initial)
    if network.dimension != dataset.dimension:
        raise InputError(
            f"{model} takes points of dimension {network.dimension}, but the samples of {data} have "
            f"{dataset.dimension} columns."
        )
    if points is not None and whole_number("--points", points, minimum=0) > dataset.n_samples:
        raise InputError(f"--points is {points}, but there are {dataset.n_samples} samples.")
    with progress("Auditing") as show, threadpool_limits(1):
        found = audits.audit(
            network,
            dataset,
            initial=start,
            points=min(DEFAULT_POINTS, dataset.n_samples) if points is None else points,
            seconds_per_point=max_seconds,
            tolerance=tolerance,
            seed=seed,
            progress=show,
        )
    if out is not None:
        from marginflow.cli.audit_page import audit_page

        parameters = {
            "model": model.name,
            "data": data.name,
            "initial network": None if initial is None else initial.name,
            "samples": dataset.n_samples,
            "dimension": dataset.dimension,
            "neurons": network.width,
            "tolerance": tolerance,
            "samples with a radius": len(found.radii),
            "seconds for each": max_seconds,
            "seed": seed,
        }
        write(audit_page(found, parameters=parameters, versions=versions(), command=command()), out)
    if as_json:
        print(result_text(found.to_dict() | {"out": out}))
    else:
        _tell(found, out)
    return DONE if found.is_kkt_point and not found.contradicted else DOES_NOT_HOLD


def _tell(found: audits.Audit, out: Path | None) -> None:
    print(found.verdict)
    print()
    print(found.certificate)
    print()
    print(training_sentence(found))
    print(point_sentence(found))
    print("\nNorm of a multiple of one vector, subtracted from the positive and added to the negative samples:")
    rows: list[dict[str, object]] = [{"name": flip.name, **vars(flip)} for flip in found.flips]
    rows.append({"name": "shortest vector found", "all": found.universal.upper})
    print_rows(
        rows, headings={"name": "direction", "half": "flips 50%", "nine_tenths": "flips 90%", "all": "flips all"}
    )
    print(f"No vector shorter than {found.universal.lower:.4g} flips them all.")
    if found.radii:
        print(f"\n{sum(radius.settled for radius in found.radii)} of {len(found.radii)} radii are proved:")
        print_rows(
            [vars(radius) for radius in found.radii],
            headings={"sample": "sample", "lower": "lower", "upper": "upper", "status": "status"},
        )
    print(f"\n{len(found.applying)} statements apply:")
    for one in found.applying:
        print(f"{one.id:<22} {one.outcome:<10} {one.meaning}")
    if out is not None:
        print(f"\nPage  {out}")


def training_sentence(found: audits.Audit) -> str:
    """How near to a KKT point training could ever get."""
    floor, changed = found.certificate.floor, found.outside_changed
    if (found.outside if floor is None else floor) < 1e-12:
        return "No part of the weights is orthogonal to all samples: nothing keeps training away from KKT points."
    if floor is None:
        return (
            f"How near training could get is unknown without the network it started from (--initial); if it was "
            f"gradient descent without weight decay, no residual below {found.outside:.2g} is possible at this norm."
        )
    sentence = f"From that start, training that ends at this norm cannot have a residual below {floor:.2g}"
    if changed is None:
        return sentence + "."
    kept = "was not changed" if changed < 1e-6 else f"was changed by {100 * changed:.2g} % (weight decay, or not SGD)"
    return f"{sentence}; the part of the weights orthogonal to the samples {kept}."


def point_sentence(found: audits.Audit) -> str:
    """What is known of an exact KKT point near the network."""
    point = found.point
    if point is None:
        return "No KKT point nearby was looked for: the network does not separate the data, or nothing can."
    if point.moved is None:
        return point.status
    moved = point.moved
    kind = "An exact KKT point" if point.exact else "A point that is not an exact KKT point"
    return (
        f"{kind} (residual {point.certificate.total:.1e}) was reached from it: the outputs keep the cosine "
        f"{moved.cosine:.4f}, ||theta||^2 at margin 1 goes from {moved.norm_squared_before:.4g} to "
        f"{moved.norm_squared_after:.4g}, and {point.compact.width} of {found.network.width} neurons remain."
    )
