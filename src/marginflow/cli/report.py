"""`marginflow report RESULT...`: one offline page of results, or of a network and its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from marginflow.cli.exit_codes import INTERRUPTED
from marginflow.cli.live import are_stores, page_of_stores
from marginflow.cli.options import AsJson, Force, Label, checked, flag, written
from marginflow.cli.output import check_folder, check_target, note, tell
from marginflow.cli.progress import progress
from marginflow.cli.provenance import command, versions
from marginflow.errors import InputError
from marginflow.plain import to_plain

if TYPE_CHECKING:
    from marginflow.report.content import Chart
    from marginflow.report.page import Page
    from marginflow.report.results import NamedResult

Folder = Annotated[Path | None, Parameter(help="Folder for every chart in this format.")]


def report(
    *results: Annotated[
        Path,
        Parameter(
            help=(
                "Results of other commands (.json, .jsonl, .csv), one network with its data (.npz or .csv), or stores "
                "of a sweep (.sqlite) or its spec (.toml)."
            )
        ),
    ],
    out: Annotated[Path, written("Page to write, .html.")],
    title: Annotated[str | None, Parameter(help="Heading of the page.")] = None,
    x: Annotated[str | None, Parameter(help="For rows: column on the horizontal axis.")] = None,
    y: Annotated[str | None, Parameter(help="For rows: column on the vertical axis.")] = None,
    series: Annotated[str | None, Parameter(help="For rows: column that tells the curves apart.")] = None,
    svg: Folder = None,
    png: Folder = None,
    pdf: Folder = None,
    live: Annotated[
        bool,
        flag(
            "Of stores that others write to: write the page again until the sweep has ended, such as: marginflow "
            "report flip.toml --live --out page.html"
        ),
    ] = False,
    every: Annotated[float, checked("--every", "With --live: seconds between two pages.", above=0.0)] = 5.0,
    label: Label = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if nothing on the page is violated, 1 if something is, 130 if --live was interrupted."""
    from marginflow.report import draw, write
    from marginflow.report.live import sight_page
    from marginflow.report.results import page_of_results, read_result

    if not results:
        raise InputError("Which results? Name files that other commands wrote with --json or --out.")
    if (x is None) != (y is None):
        raise InputError("A chart of rows needs both --x and --y.")
    check_target(out, (".html",), force=force)
    folders = {suffix: check_folder(folder) for suffix, folder in (("svg", svg), ("png", png), ("pdf", pdf)) if folder}
    if are_stores(results):
        make = partial(sight_page, command=command(), title=title, x=x, y=y, series=series)
        made = page_of_stores(results, make, out, every=every if live else None)
        if made is None:
            note(f"marginflow: interrupted; {out} shows what was stored by now.")
            return INTERRUPTED
        page = made
    elif live:
        raise InputError("--live is for stores of a sweep (.sqlite) or its spec (.toml), to which others write.")
    else:
        found = _measured(*_pair(results), label) if _is_pair(results) else [read_result(path) for path in results]
        page = page_of_results(
            found,
            title=title or _title(results),
            command=command(),
            versions=versions(),
            x=x,
            y=y,
            series=series,
        )
    pictures = {folder / name: chart for suffix, folder in folders.items() for name, chart in _named(page, suffix)}
    for picture in pictures:
        if picture.parent.is_dir():
            check_target(picture, (picture.suffix,), force=force)
    for folder in folders.values():  # before the page: a folder that cannot be made leaves nothing behind
        folder.mkdir(exist_ok=True)
    write(page, out)
    for picture, chart in pictures.items():
        draw(chart, picture)
    record = {
        "page": out,
        "verdict": page.verdict,
        "tone": page.tone,
        "charts": len(page.charts),
        "pictures": list(pictures),
    }
    headings = {"verdict": "Verdict", "charts": "Charts", "page": "Open"}
    return tell(record, as_json=as_json, headings=headings, holds=page.tone != "violated")


def _is_pair(paths: Sequence[Path]) -> bool:
    return any(path.suffix.lower() == ".safetensors" for path in paths)


def _pair(paths: Sequence[Path]) -> tuple[Path, Path]:
    """One network and its data, in either order."""
    networks = [path for path in paths if path.suffix.lower() == ".safetensors"]
    data = [path for path in paths if path.suffix.lower() in (".npz", ".csv")]
    if len(networks) != 1 or len(data) != 1 or len(paths) != 2:
        raise InputError(
            "A network is reported together with its data: give one .safetensors and one .npz or .csv, nothing else."
        )
    return networks[0], data[0]


def _measured(network: Path, data: Path, label: str | None) -> list[NamedResult]:
    """Certificate, flips and some exact radii of a network on its data, as the commands for them write them."""
    from marginflow.cli.classes import one_output
    from marginflow.data import Dataset
    from marginflow.measurements import portrait
    from marginflow.report.results import NamedResult

    judged, dataset = one_output(network), Dataset.load(data, label=label)
    with progress("Measuring") as show:
        records = portrait(judged, dataset, progress=show).records()
    return [NamedResult(name=f"{network.name}, {name}", content=to_plain(record)) for name, record in records.items()]


def _title(results: Sequence[Path]) -> str:
    return "Report on " + ", ".join(path.name for path in results[:4]) + (" and more" if len(results) > 4 else "")


def _named(page: Page, suffix: str) -> Iterator[tuple[str, Chart]]:
    """Every chart of the page with the name of its file: its number and its title."""
    for number, chart in enumerate(page.charts, 1):
        words = "".join(letter if letter.isalnum() else "-" for letter in chart.title.lower())
        yield f"{number:02d}-{words.strip('-')}.{suffix}", chart
