"""A statement as a record of plain values: what JSON, pages and the documentation say of it."""

from typing import Any

from marginflow.plain import to_plain
from marginflow.theory import dependencies
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
    }
    if judge:
        example, control = (statement.judge_instance(made()) for made in (statement.example, statement.control))
        record |= {"example": _judged(example), "control": _judged(control)}
        record["announced"] = statement.announces(control.outcome)
    return record


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
