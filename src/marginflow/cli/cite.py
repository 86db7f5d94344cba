"""`marginflow cite`: BibTeX of the papers and methods that results stand on."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow.cli.options import AsJson
from marginflow.cli.output import deliver


def cite(
    *results: Annotated[Path, Parameter(help="Results that commands wrote with --json; without them: the papers.")],
    as_json: AsJson = False,
) -> int:
    """Exit code 0."""
    from marginflow.report.references import references
    from marginflow.report.results import read_result
    from marginflow.report.results.citing import cited as cited_by

    found = cited_by([read_result(path) for path in results]) if results else references()

    def describe() -> None:
        if not found:
            print("% These results name no paper and no command; nothing is to be cited.")
        for reference in found:
            print(reference.bibtex() + "\n")

    entries = [{"key": cited.paper.key, "what": cited.what, "bibtex": cited.bibtex()} for cited in found]
    return deliver({"references": entries}, as_json=as_json, describe=describe)
