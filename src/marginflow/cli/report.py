"""`marginflow report RESULT...`: one offline page of results, or of a network and its data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, Force, Label
from marginflow.cli.output import check_target, plain, tell
from marginflow.cli.progress import progress
from marginflow.cli.provenance import command, versions
from marginflow.errors import InputError
from marginflow.report import draw, write
from marginflow.report.page import Page
from marginflow.report.results import Result, page_of_results, read_result

Folder = Annotated[Path | None, Parameter(help="Folder for every chart in this format.")]
# A page should not take long: so many samples get exact radii, each in at most so many seconds.
N_RADII, RADIUS_SECONDS, RADIUS_TOLERANCE = 10, 2.0, 1e-6


def report(
    *results: Annotated[
        Path,
        Parameter(help="Results of other commands (.json, .jsonl, .csv), or one network with its data (.npz or .csv)."),
    ],
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="Page to write, .html.")],
    title: Annotated[str | None, Parameter(help="Heading of the page.")] = None,
    x: Annotated[str | None, Parameter(help="For rows: column along the axis of the chart.")] = None,
    y: Annotated[str | None, Parameter(help="For rows: column that is drawn.")] = None,
    series: Annotated[str | None, Parameter(help="For rows: column that tells the curves apart.")] = None,
    svg: Folder = None,
    png: Folder = None,
    pdf: Folder = None,
    label: Label = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if nothing on the page is violated, 1 if something is."""
    if not results:
        raise InputError("Which results? Name files that other commands wrote with --json or --out.")
    if (x is None) != (y is None):
        raise InputError("A chart of rows needs both --x and --y.")
    check_target(out, (".html",), force=force)
    folders = {suffix: _folder(folder) for suffix, folder in (("svg", svg), ("png", png), ("pdf", pdf)) if folder}
    found = _computed(*_pair(results), label) if _is_pair(results) else [read_result(path) for path in results]
    page = page_of_results(
        found,
        title=title or _title(results),
        command=command(),
        versions=versions(),
        x=x,
        y=y,
        series=series,
    )
    for folder in folders.values():  # before the page: a folder that cannot be made leaves nothing behind
        folder.mkdir(exist_ok=True)
    written = [write(page, out)]
    for suffix, folder in folders.items():
        written += _drawn(page, folder, suffix)
    record = {
        "page": out,
        "verdict": page.verdict,
        "tone": page.tone,
        "charts": len(page.charts),
        "pictures": written[1:],
    }
    tell(record, as_json=as_json, headings={"verdict": "Verdict", "charts": "Charts", "page": "Open"})
    return DOES_NOT_HOLD if page.tone == "violated" else DONE


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


def _computed(network: Path, data: Path, label: str | None) -> list[Result]:
    """Certificate, flips and some exact radii of a network on its data, as the commands for them write them."""
    from marginflow import certificates
    from marginflow.cli.flip import curve, direction_of, findings, row
    from marginflow.cli.radius import checked, summary
    from marginflow.data import Dataset
    from marginflow.networks import TwoLayer
    from marginflow.robustness import (
        chord_bound,
        curves_of,
        curves_of_radii,
        ddn,
        exact_radii,
        fgm,
        local_lipschitz_bound,
        minimal_step,
    )

    judged, dataset = TwoLayer.load(network), Dataset.load(data, label=label)
    d = dataset.dimension if dataset.ambient_dimension is None else dataset.ambient_dimension
    with progress("Certifying") as show:
        certificate = certificates.certify(judged, dataset)
        show(0.3, "one vector for all samples")
        directions = []
        for name in ("label-sum", "dual"):
            try:
                z = direction_of(name, judged, dataset, lambda: certificate.multipliers)
            except InputError:  # all multipliers are zero, or the sum is: there is no such direction
                continue
            steps = minimal_step(judged, dataset.X, dataset.y, z)
            directions.append(row(name, findings(steps, 1.0, d)) | {"curve": curve(steps)})
        first = dataset.X[:N_RADII], dataset.y[:N_RADII]
        radii = exact_radii(
            judged,
            first[0],
            y=first[1],
            rtol=RADIUS_TOLERANCE,
            time_limit=RADIUS_SECONDS,
            certificate=True,
            progress=lambda done, total: show(0.4 + 0.6 * done / total, f"{done} of {total} radii"),
        )
    proved = [checked(i, one, judged, RADIUS_TOLERANCE) for i, one in enumerate(radii)]
    beside = [method(judged, *first) for method in (fgm, ddn, local_lipschitz_bound, chord_bound)]
    curves = [*curves_of_radii(radii), *curves_of(beside, dataset.dimension)]
    records: dict[str, dict[str, object]] = {
        "certificate": certificate.to_dict()
        | {"holds": certificate.holds(), "tolerance": certificates.DEFAULT_TOLERANCE},
        "flips": {
            "flips": all(one["norm"] is not None for one in directions),
            "share": 1.0,
            "samples": dataset.n_samples,
            "sqrt_dimension": d**0.5,
            "directions": directions,
        },
        "radii": summary(proved, d)
        | {"radii": [one.row() for one in proved], "tolerance": RADIUS_TOLERANCE, "asked": len(proved)}
        | {"curves": [one for drawn in curves for one in drawn.rows()]},
    }
    found = []
    for name, record in records.items():
        content = plain(record)
        assert isinstance(content, dict)
        found.append(Result(name=f"{network.name}, {name}", content=content))
    return found


def _title(results: Sequence[Path]) -> str:
    return "Report on " + ", ".join(path.name for path in results[:4]) + (" and more" if len(results) > 4 else "")


def _folder(folder: Path) -> Path:
    if not folder.parent.is_dir():
        raise InputError(f"The folder {folder.parent} does not exist; make it first.")
    if folder.is_symlink() and not folder.exists():
        raise InputError(f"{folder} is a link to a folder that does not exist; make that first.")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; the name of a folder is expected.")
    return folder


def _drawn(page: Page, folder: Path, suffix: str) -> list[Path]:
    """Every chart of the page as a file that is named by its number and title."""
    drawn = []
    for number, chart in enumerate(page.charts, 1):
        words = "".join(letter if letter.isalnum() else "-" for letter in chart.title.lower())
        drawn.append(draw(chart, folder / f"{number:02d}-{words.strip('-')}.{suffix}"))
    return drawn
