"""`marginflow new-paper KEY`: a package for another paper, with one statement, its example, control and tests."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.options import AsJson
from marginflow.cli.output import deliver


def new_paper(
    key: Annotated[str, Parameter(help="The key of the paper: capital letters and digits, such as ABC26.")],
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "-o"], help="Folder to write; by default one here, named after the package."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Exit code 0; nothing is overwritten."""
    from marginflow.theory.new_paper import package_of, write_package

    folder = Path(package_of(key)) if out is None else out
    written = write_package(key, folder)
    words = [*map(str, written), f"Next: pip install -e {folder}, then marginflow check {key}/Lem1 and pytest {folder}"]
    record = {"key": key, "out": folder, "files": written}
    return deliver(record, as_json=as_json, describe=lambda: print("\n".join(words)))
