"""A statement as a record of plain values: what JSON, pages and the documentation say of it."""

from __future__ import annotations

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
        "gap": statement.gap is not None,
        "rests_on": list(dependencies.rests_on(statement.id)),
        "shaken_by": list(dependencies.shaken_by(statement.id)),
        "used_by": list(dependencies.used_by(statement.id)),
    }
    if judge:
        example, control = (statement.judge_instance(made()) for made in (statement.example, statement.control))
        record |= {"example": _judged(example), "control": _judged(control)}
        record["announced"] = statement.announces(control.outcome)
    return record


def _judged(verdict: Verdict) -> dict[str, Any]:
    return verdict.to_dict() | {"undefined": verdict.findings.undefined}
