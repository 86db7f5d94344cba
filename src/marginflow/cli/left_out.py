"""What the commands about left-out samples share: their options, how results are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from marginflow.arrays import real_number
from marginflow.cli.output import check_target, result_text
from marginflow.cli.provenance import command, versions
from marginflow.plain import to_plain
from marginflow.storage import write_text

Width = Annotated[int, Parameter(help="Number of hidden neurons.")]
Bias = Annotated[bool, Parameter(help="Whether neurons have a bias.")]
Penalty = Annotated[float | None, Parameter(help="C of the soft margin; without it the margin is hard.")]
Mode = Annotated[
    Literal["continuation", "fast"], Parameter(help="Follow the point as samples fade, or leave them out at once.")
]
Residual = Annotated[float, Parameter(help="Largest residual at which a point counts as found.")]
TimeLimit = Annotated[float | None, Parameter(help="Seconds for the point with all samples.")]
StoreFile = Annotated[
    Path | None, Parameter(help="A file that keeps every finished point; name it again to go on after an interrupt.")
]
Out = Annotated[Path | None, Parameter(name=["--out", "-o"], help="Write the page (.html) or everything (.json).")]


def check(tolerance: float, time_limit: float | None, out: Path | None, *, force: bool) -> None:
    """Whether the options of the commands about left-out samples make sense."""
    real_number("--tolerance", tolerance, above=0.0)
    if time_limit is not None:
        real_number("--time-limit", time_limit, above=0.0)
    if out is not None:
        check_target(out, (".json", ".html"), force=force)


def deliver(record: Mapping[str, object], out: Path | None, *, as_json: bool, title: str) -> None:
    """Write the page or the record, and print the record where it is asked for."""
    if out is not None and out.suffix == ".html":
        from marginflow.report import write
        from marginflow.report.results import Result, page_of_results

        result = Result(name=title, content=to_plain(record))
        write(page_of_results([result], title=title, command=command(), versions=versions()), out)
    elif out is not None:
        write_text(out, result_text(record) + "\n")
    if as_json:
        print(result_text(record))
    elif out is not None:
        print(f"Written to {out}")
