"""A statement of a paper in a notebook, what it needs and what is wrong in print; and where it says something."""

from marginflow.display import capitalised
from marginflow.plot.results import Showing
from marginflow.report.content import Chart
from marginflow.report.results.summary import Fields


def statement(found: Fields) -> Showing:
    """The line that says it, and its formula."""
    rows: list[tuple[object, ...]] = [
        ("In print", found["source"]),
        ("Kind", found["kind"]),
        ("Needs", ", ".join(found["needs"])),
        *((f"Parameter {name}", meaning) for name, meaning in found["parameters"].items()),
        ("Its control", found["control_shows"]),
    ]
    formulas = {"": found["formula"]}
    if found["forms"] is not None:
        formulas |= {"Proved: ": found["forms"]["proved"], "Sharp: ": found["forms"]["sharp"]}
        rows += [("Wrong in print", erratum["what"]) for erratum in found["forms"]["errata"]]
    sentence = f"{found['id']}. {found['meaning']}"
    return Showing.of(sentence, rows, caption="The statement", formula=_lines(formulas))


def statement_charts(_found: Fields) -> list[Chart]:
    """A statement has no picture; `theory.map` draws where it says something."""
    return []


def _lines(formulas: dict[str, str]) -> str:
    try:
        from marginflow.report.content import mathml

        return "".join(f"<p>{name}{mathml(latex)}</p>" for name, latex in formulas.items() if latex)
    except ModuleNotFoundError:  # the library without pages
        return ""


def atlas(found: Fields) -> Showing:
    """The sentence of the map, and its counts."""
    rows = tuple((capitalised(word), count) for word, count in found["counts"].items())
    return Showing.of(found["sentence"], rows, caption="The cells", columns=("", "Cells"))


def atlas_charts(found: Fields) -> list[Chart]:
    """Cells over the first two letters, with the experiments of the paper that lie among them."""
    from marginflow.report.atlas_chart import atlas_chart

    numbers = [cell["numbers"] for cell in found["cells"]]
    reach = {name: sorted(place[name] for place in numbers) for name in found["axes"]}
    inside = [
        mark
        for mark in found["marks"]
        if all(values[0] <= mark["numbers"][name] <= values[-1] for name, values in reach.items())
    ]
    return [atlas_chart(found | {"marks": inside})] if found["axes"] else []
