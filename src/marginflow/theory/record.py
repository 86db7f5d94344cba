"""A statement as a record of plain values: what JSON, pages and the documentation say of it."""

from typing import Any, Final

from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.theory import dependencies, registry
from marginflow.theory.atlas import grid_of
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

_SAID = ("id", "kind", "number", "meaning", "formula", "file", "needs", "control_shows", "forms")


def statement_record(statement: Statement) -> dict[str, Any]:
    """What a statement says, and where."""
    said = {name: getattr(statement, name) for name in _SAID}
    record: dict[str, Any] = to_plain({**said, "paper": str(statement.paper), "parameters": statement.parameters or {}})
    return record


def page_record(statement: Statement, *, judge: bool = True) -> dict[str, Any]:
    """The same with everything that a page has: what it rests on, and the verdicts on its example and its control."""
    record = statement_record(statement) | {
        "source": statement.source,
        "title": statement.paper.title,
        "control_outcome": None if statement.is_probe else statement.control_outcome,
        "commands": list(command_lines(statement)),
        "rests_on": list(dependencies.rests_on(statement.id)),
        "shaken_by": list(dependencies.shaken_by(statement.id)),
        "used_by": list(dependencies.used_by(statement.id)),
        "proof": proof_record(statement.id),
        "map": map_record(statement),
    }
    if judge:
        example, control = (statement.judge_instance(made()) for made in (statement.example, statement.control))
        record |= {"example": _judged(example), "control": _judged(control)}
        record["announced"] = statement.announces(control.outcome)
    return record


def proof_record(id: str) -> dict[str, Any]:
    """All that a statement rests on: which of these each proof uses itself, and which are false or have a gap."""
    nodes = (id, *dependencies.rests_on(id))
    direct = dependencies.direct()
    uses = {node: [other for other in direct.get(node, ()) if other in nodes] for node in nodes}
    return {"id": id, "uses": uses, "shaken": [node for node in nodes if dependencies.is_shaken(node)]}


def map_record(statement: Statement) -> dict[str, Any] | None:
    """Where a statement speaks, on a grid of our choice, and the command that draws it; None where there is no map."""
    region = statement.region
    if region is None:
        return None
    needed = [name for name in region.letters if name not in region.defaults]
    paper = statement.paper.key
    axes = {name: _AXES.get(f"{paper} {name}", _AXES.get(name, "1")) for name in needed}
    for name, value in _FIXED.items():  # a picture has two axes
        if name in axes and sum(":" in axis for axis in axes.values()) > 2:
            axes[name] = value
    grid = [f"{name}={axis}" for name, axis in axes.items()]
    drawn = registry.map(statement.id, grid_of(grid)).to_dict()
    return drawn | {"command": f"marginflow map {statement.id} --grid {' '.join(grid)}"}


# What a map shows if nobody says otherwise: the letters without which the hypotheses have no meaning.
_AXES: Final = {
    "d": "100:1e6:36log",
    "m": "10:100000:36log",
    "k": "2:1000:36log",
    "n": "100:1e6:36log",
    "p": "0.01:0.49:25",
    "VYS22 m": "2:40000:36log",
    "FVBS23 d": "100:1e9:36log",
    "FCB22 m": "500",
    "FCB22 d": "2:1e6:36log",
    "KYS23 d": "10:1e6:36log",
}
_FIXED: Final = {"p": "0.1", "n": "1000", "m": "500"}


def formula_of(id: str) -> tuple[str, str] | None:
    """Formula and meaning of a statement by its id; None where there is no such statement, as in an old file."""
    try:
        statement = registry.statement(id)
    except InputError:
        return None
    return statement.formula, statement.meaning


_FILES = {
    "network": "--network kkt.safetensors",
    "data": "--data data.npz",
    "law": "--law law.toml",
    "test": "--test points.npz",
    "run": "--run run.json",
    "start": "--start start.safetensors",
}
"""How each input is handed over on the command line; law, fresh points and start are found where they are left out."""
_FOUND = {"law": "data", "test": "data", "start": "run"}


def command_lines(statement: Statement) -> tuple[str, ...]:
    """The lines that judge a statement: on its example, control and gap, on one's own files, and as a map."""
    check = f"marginflow check {statement.id}"
    lines = [check, f"{check} --control"]
    if statement.gap is not None:
        lines.append(f"{check} --gap")
    needs = [need for need in statement.needs if _FOUND.get(need) not in statement.needs]
    if all(need in (*_FILES, "parameters") for need in needs):
        words = [_FILES[need] for need in needs if need in _FILES]
        words += [f"-p {name}=..." for name in statement.parameters or {}] if needs == ["parameters"] else []
        lines.append(" ".join([check, *words]))
    if statement.region is not None:
        letters = [name for name in statement.region.letters if name not in statement.region.defaults]
        lines.append(f"marginflow map {statement.id} --grid {' '.join(f'{name}=...' for name in letters)} --observe")
    return tuple(dict.fromkeys(lines))


def _judged(verdict: Verdict) -> dict[str, Any]:
    return verdict.to_dict() | {"undefined": verdict.findings.undefined}
