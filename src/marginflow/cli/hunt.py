"""`marginflow hunt ID`: search for the worst instance of a statement, and for a counterexample."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.options import AsJson, Seed, written
from marginflow.cli.output import check_folder, deliver, note, write_page
from marginflow.cli.progress import progress
from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow.theory.hunting import Trail


def hunt(
    id: Annotated[str, Parameter(help="The statement, such as KYS23/PropA.4.")],
    /,
    *,
    time_limit: Annotated[float, Parameter(help="Seconds to search; shrinking takes at most half as long.")] = 60.0,
    tries: Annotated[int | None, Parameter(help="Stop after this many instances in all.")] = None,
    dimension: Annotated[int | None, Parameter(help="Dimension, if the family leaves it open.")] = None,
    samples: Annotated[int | None, Parameter(help="At most this many samples, if the family leaves it open.")] = None,
    interval: Annotated[
        tuple[int, int] | None, Parameter(help="Interval of the points, for families on the line; 0 1 by default.")
    ] = None,
    state: Annotated[Path | None, Parameter(help="A .json file that remembers the search, to go on later.")] = None,
    out: Annotated[
        Path | None,
        written("A new folder for hunt.json, data.npz, network.safetensors and the page hunt.html."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Exit code 1 if a counterexample, a candidate for one, or a failing step of the proof was found."""
    if out is not None:
        if out.exists():
            raise InputError(f"{out} exists already; the name of a new folder is expected.")
        check_folder(out, parents=True)
    began = time.monotonic()
    with progress("Hunting") as show:

        def report(trail: Trail) -> None:
            worst = "" if trail.worst is None else f", least slack {trail.worst.slack:.3g}"
            show((time.monotonic() - began) / time_limit, f"{trail.tries} tries, {trail.applied} apply{worst}")

        found = mf.theory.hunt(
            id,
            seconds=time_limit,
            seed=seed,
            dimension=dimension,
            samples=samples,
            interval=interval,
            tries=tries,
            state=state,
            progress=report,
        )
    refuted = found.outcome in ("refuted", "candidate", "proof step fails")
    code = deliver(found.to_dict(), as_json=as_json, describe=lambda: print(found), holds=not refuted)
    if out is not None:
        page = out / "hunt.html"
        files = (*found.save(out), write_page(found.to_dict(), page, title=f"Hunt for {found.id}"))
        note(f"wrote {', '.join(str(path) for path in files)}")
    return code
