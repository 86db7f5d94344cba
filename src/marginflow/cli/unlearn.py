"""`marginflow unlearn DATA --forget 3 5`: how near unlearning comes to the network that never saw the samples."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import one_output
from marginflow.cli.left_out import DEFAULTS, LeftOut, Mode
from marginflow.cli.options import DataFile, counted
from marginflow.cli.output import check_target
from marginflow.cli.progress import progress
from marginflow.errors import InputError


def unlearn(
    data: DataFile,
    *,
    forget: Annotated[
        tuple[int, ...], Parameter(help="Samples to forget together (row numbers, from 0).", consume_multiple=True)
    ],
    network: Annotated[
        Path | None, Parameter(help="A network that has unlearned them (.safetensors), to be measured as well.")
    ] = None,
    start: Annotated[
        Path | None, Parameter(help="The network to unlearn from (.safetensors); computed if not given.")
    ] = None,
    steps: Annotated[int, counted("--steps", "Steps of gradient descent on the samples that are left.")] = 100,
    mode: Mode = "continuation",
    exact: Annotated[Path | None, Parameter(help="Write the exact network without them, .safetensors.")] = None,
    given: LeftOut = DEFAULTS,
) -> int:
    """Exit code 0 if the exact point holds at the tolerance on the samples that are left, 1 if not."""
    check_target(exact, (".safetensors",), force=given.force)
    dataset = given.load(data)
    theirs = None if network is None else one_output(network)
    if theirs is not None and theirs.dimension != dataset.dimension:
        raise InputError(f"{network} takes points of dimension {theirs.dimension}; {dataset.dimension} is expected.")
    begin = None if start is None else one_output(start)
    with progress("Unlearning"):
        from_there = {} if begin is None else {"width": begin.width, "start": begin, "flow_steps": 0}
        limit = given.limit(dataset, **from_there)
        found = mf.influence(
            limit, dataset, groups=[list(forget)], mode=mode, tolerance=given.tolerance, time_limit=given.time_limit
        )
        methods = {
            "one step of gradient ascent": mf.influences.ascent_step(found, dataset, 0),
            f"{steps} steps of fine-tuning": mf.influences.fine_tuned(found, dataset, 0, steps),
        } | ({} if theirs is None else {str(network): theirs})
        measured = {
            name: mf.influences.unlearning(found, dataset, networks=[method]) for name, method in methods.items()
        }
    kept = float(next(iter(measured.values())).kept[0])
    *others, last = (str(i) for i in found.groups[0])
    names = f"{', '.join(others)} and {last}" if others else last
    these = "samples" if others else "sample"
    distances = {"doing nothing": kept} | {name: float(result.unlearned[0]) for name, result in measured.items()}
    rows = [{"samples": names, "method": name, "distance": distance} for name, distance in distances.items()]
    best = min(distances, key=distances.__getitem__)
    sentence = (
        f"Without {these} {names} the exact network differs from the one with them by {kept:.3g} (sine of the angle of "
        f"their outputs); nearest to it comes {best}, at {distances[best]:.3g}."
    )
    if found.ways[0] == "unchanged":
        sentence = f"The network is exact without {these} {names} as it is: their multipliers are 0."
    if found.jumped[0]:
        sentence += " The branch was lost on the way: the exact point is not the continuation of the limit."
    record = {
        "sentence": sentence,
        "forgotten": list(forget),
        "methods": rows,
        "jumped": bool(found.jumped[0]),
        "residual": float(found.residuals[0]),
        **given.record(limit, found, mode=mode),
    }
    if exact is not None:
        found.network(0).save(exact)
    headings = {"method": "method", "distance": "distance to the exact point"}
    return given.deliver(record, rows, headings, said=sentence, title=f"Unlearning samples of {data.name}")
