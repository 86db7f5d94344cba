"""`marginflow statements`: what the papers state and this library can check, and how much of it is covered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.exit_codes import DONE
from marginflow.cli.options import AsJson, Force, Paper, flag, written
from marginflow.cli.output import check_target, deliver, result_text
from marginflow.cli.progress import covered
from marginflow.cli.provenance import command, versions
from marginflow.errors import InputError
from marginflow.storage import write_text


def statements(
    id: Annotated[str | None, Parameter(help="One statement, such as VYS22/Thm4.1, in full.")] = None,
    /,
    *,
    paper: Annotated[Paper | None, Parameter(help="Only this paper.")] = None,
    kind: Annotated[str | None, Parameter(help="Only this kind: theorem, lemma, probe, ...")] = None,
    coverage: Annotated[bool, flag("Judge every example and control; count against the catalogue.")] = False,
    html: Annotated[bool, flag("One page of one statement, judged.")] = False,
    out: Annotated[Path | None, written("With --html: the file; VYS22-Thm4.1.html if not given.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 1 if, with --coverage, an example does not hold or a control does."""
    from marginflow.theory.record import statement_record

    if id is not None:
        if coverage:
            raise InputError("--coverage is about many statements; leave out the id.")
        statement = mf.theory.statement(id)
        if html:
            return _page(statement, out, force=force, as_json=as_json)
        if out is not None:
            raise InputError("--out goes with --html.")
        print(result_text(statement_record(statement)) if as_json else _in_full(statement))
        return DONE
    if html or out is not None:
        raise InputError("--html is about one statement; give its id.")
    if coverage:
        return _coverage(paper, as_json=as_json)
    chosen = [statement for statement in mf.theory.statements(paper) if kind is None or statement.kind == kind]
    if not chosen:
        kinds = ", ".join(sorted({statement.kind for statement in mf.theory.statements(paper)}))
        raise InputError(f"There is no statement of the kind {kind!r}; there are {kinds or 'none'}.")
    if as_json:
        print(json.dumps([statement_record(statement) for statement in chosen], allow_nan=False))
        return DONE
    for statement in chosen:
        print(f"{statement.id:<22} {statement.kind:<12} {statement.meaning}")
    return DONE


def _page(statement: mf.theory.Statement, out: Path | None, *, force: bool, as_json: bool) -> int:
    """Write the page of a statement."""
    from marginflow.report.statement_page import render_statement
    from marginflow.theory.record import page_record, statement_record

    target = check_target(
        Path(statement.id.replace("/", "-") + ".html") if out is None else out, (".html",), force=force
    )
    judged = page_record(statement)
    example, control = judged["example"], judged["control"]
    write_text(target, render_statement(judged, command=command(), versions=versions()))
    record = {"out": target, "example": example["outcome"], "control": control["outcome"]}
    print(result_text(statement_record(statement) | record) if as_json else f"{example['sentence']}\nPage  {target}")
    return DONE


def _coverage(paper: str | None, *, as_json: bool) -> int:
    rows = covered(paper)
    unsound = [row for row in rows if row.unsound]
    done = sum(row.implemented for row in rows)
    added = [row.id for row in rows if row.added]

    def describe() -> None:
        print(f"{'id':<22} {'implemented':<12} {'example':<15} control")
        for row in rows:
            example = row.example.outcome if row.example is not None else "–"
            control = row.control.outcome if row.control is not None else "–"
            flag = "   not sound" if row.unsound else ""
            print(f"{row.id:<22} {'yes' if row.implemented else 'no':<12} {example:<15} {control}{flag}")
        more = f" Not in the catalogue: {', '.join(added)}." if added else ""
        print(f"{done} of {len(rows)} statements and probes implemented, {len(unsound)} of them not sound.{more}")

    record = {"total": len(rows), "implemented": done, "added": added, "unsound": [row.id for row in unsound]}
    record["rows"] = [_covered(row) for row in rows]
    return deliver(record, as_json=as_json, describe=describe, holds=not unsound)


def _covered(row: mf.theory.Covered) -> dict[str, object]:
    return {
        "id": row.id,
        "entry": row.entry,
        "implemented": row.implemented,
        "example": None if row.example is None else row.example.outcome,
        "control": None if row.control is None else row.control.outcome,
        "sound": row.sound,
    }


def _in_full(statement: mf.theory.Statement) -> str:
    from marginflow.theory import dependencies
    from marginflow.theory.record import command_lines
    from marginflow.theory.unicode_math import readable

    rows = [
        ("source", statement.source),
        ("formula", readable(statement.formula)),
        ("file", statement.file),
        ("needs", ", ".join(statement.needs)),
        *(("parameter", f"{name}: {meaning}") for name, meaning in (statement.parameters or {}).items()),
    ]
    if statement.forms is not None:
        rows += [(name, readable(getattr(statement.forms, name))) for name in ("printed", "proved", "sharp")]
        rows.append(("remark", statement.forms.remark))
        for erratum in statement.forms.errata:
            evidence = f"; shown by: {erratum.evidence}" if erratum.evidence else ""
            instead = f"; instead: {erratum.repair}" if erratum.repair else ""
            rows.append((f"{erratum.severity:<15}", f"{erratum.what.rstrip('.')}{evidence}{instead}"))
        rows.append(("known now", statement.forms.known))
    shaky = ", ".join(dependencies.shaken_by(statement.id))
    rows += [
        ("rests on", ", ".join(dependencies.rests_on(statement.id))),
        ("of these", f"{shaky}: false as printed, or with a gap in the proof" if shaky else ""),
        ("control", statement.control_shows),
        *(("command", line) for line in command_lines(statement)),
    ]
    said = (f"  {name:<9}  {text}" for name, text in rows if text)
    return "\n".join((f"{statement.id} ({statement.kind}): {statement.meaning}", *said))
