"""A statement of a paper in a notebook: what it says, its formula, what it needs, and what is wrong in print."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(statement: Fields) -> Showing:
    """The line that says it, and its formula."""
    rows: list[tuple[object, ...]] = [
        ("In print", statement["source"]),
        ("Kind", statement["kind"]),
        ("Needs", ", ".join(statement["needs"])),
        *((f"Parameter {name}", meaning) for name, meaning in statement["parameters"].items()),
        ("Its control", statement["control_shows"]),
    ]
    formulas = {"": statement["formula"]}
    if statement["forms"] is not None:
        formulas |= {"Proved: ": statement["forms"]["proved"], "Sharp: ": statement["forms"]["sharp"]}
        rows += [("Wrong in print", erratum["what"]) for erratum in statement["forms"]["errata"]]
    table = Table(columns=("", ""), rows=tuple(rows), caption="The statement")
    return Showing(sentence=f"{statement['id']}. {statement['meaning']}", table=table, formula=_lines(formulas))


def charts(statement: Fields) -> list[Chart]:
    """A statement has no picture; `theory.map` draws where it says something."""
    return []


def _lines(formulas: dict[str, str]) -> str:
    try:
        from marginflow.report.formula import mathml

        return "".join(f"<p>{name}{mathml(latex)}</p>" for name, latex in formulas.items() if latex)
    except ModuleNotFoundError:  # the library without pages
        return ""
