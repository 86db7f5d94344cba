"""`marginflow check`: judge one statement on files or on its built-in example, or all of them, with a page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import one_output, require_dimension
from marginflow.cli.options import AsJson, Force, Label, Paper, Seed, flag, written
from marginflow.cli.output import check_target, deliver
from marginflow.cli.progress import covered, progress
from marginflow.cli.provenance import versions
from marginflow.errors import InputError
from marginflow.storage import write_text

if TYPE_CHECKING:
    from marginflow.arrays import FloatArray
    from marginflow.theory import Instance, Statement, Verdict

# The outcome of a property that the files do not have, which contradicts no theorem.
NOT_MET = "not met"


def check(
    id: Annotated[str | None, Parameter(help="The statement, such as VYS22/Thm4.1.")] = None,
    /,
    *,
    every: Annotated[bool, Parameter(name="--all", negative="", help="All statements instead of one.")] = False,
    paper: Annotated[Paper | None, Parameter(help="With --all: only this paper.")] = None,
    network: Annotated[
        Path | None, Parameter(help="Network, .safetensors; without files: the built-in example.")
    ] = None,
    data: Annotated[Path | None, Parameter(help="Data, .npz or .csv.")] = None,
    test: Annotated[Path | None, Parameter(help="Fresh points, .npz or .csv.")] = None,
    start: Annotated[Path | None, Parameter(help="The network that training started from.")] = None,
    run: Annotated[
        Path | None, Parameter(help="A recorded run, .json, of `train --run`; without --start also its start.")
    ] = None,
    multipliers: Annotated[
        Path | None,
        Parameter(help="Candidates for many samples, .npz with lambda (n,) and mu (n, k): checked, never trusted."),
    ] = None,
    law: Annotated[
        Path | None, Parameter(help="The law of the data, .toml; by default the one that `sample` stored with them.")
    ] = None,
    parameter: Annotated[
        list[str] | None, Parameter(name=["--parameter", "-p"], help="NAME=VALUE, for statements with parameters.")
    ] = None,
    control: Annotated[bool, flag("The built-in control instead of the example.")] = False,
    gap: Annotated[bool, flag("The built-in instance on which a step of the printed proof fails.")] = False,
    seed: Seed = 0,
    label: Label = None,
    out: Annotated[Path | None, written("With --all: also write a page, .html.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if it holds (a probe: is measured), 1 if not; with --all, 1 if anything that applies is violated."""
    from marginflow.theory.completion import completed
    from marginflow.threads import one_thread

    files = {"network": network, "data": data, "test": test, "start": start, "run": run}
    given = _instance({name: path for name, path in files.items() if path is not None}, parameter or [], seed, label)
    if multipliers is not None:
        given = replace(given or mf.theory.Instance(), multipliers=_candidates(multipliers))
    with one_thread():
        if every:
            if id is not None or control or gap or law is not None:
                raise InputError("--all judges every statement; leave out the id, --control, --gap and --law.")
            return (
                _judge_user(given, paper, out, force=force, as_json=as_json)
                if given is not None
                else _all(paper, out, force=force, as_json=as_json)
            )
        if id is None:
            raise InputError("Which statement? Give an id such as VYS22/Thm4.1, or --all.")
        if out is not None or paper is not None:
            raise InputError("--out and --paper go with --all.")
        chosen = mf.theory.statement(id)
        if law is not None:
            given = _of_law(given or mf.theory.Instance(), law)
        if given is not None and (control or gap):
            raise InputError("--control and --gap are built-in instances; leave out the files and parameters.")
        judged = _built_in(chosen, control=control, gap=gap) if given is None else completed(chosen, given)
        return _one(chosen, judged, control=control, as_json=as_json)


def _built_in(statement: Statement, *, control: bool, gap: bool) -> Instance:
    """The example, or what was asked for in its place."""
    if control and gap:
        raise InputError("--control and --gap are two instances; give one of them.")
    if not gap:
        return statement.control() if control else statement.example()
    if statement.gap is None:
        known = ", ".join(other.id for other in mf.theory.statements() if other.gap is not None)
        raise InputError(f"{statement.id} has no instance on which a step of its proof fails; {known} have one.")
    return statement.gap()


def _of_law(given: Instance, path: Path) -> Instance:
    """The instance with the law of a TOML file: the name of a law of `marginflow sample`, and its parameters."""
    import msgspec

    try:
        table = msgspec.toml.decode(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}") from None
    if not isinstance(table, dict) or "name" not in table:
        raise InputError(f'{path} does not name a law; a line such as name = "Clusters" is expected.')
    return replace(given, name=", ".join(filter(None, (given.name, path.name))), law=mf.data.distribution_of(table))


def _one(statement: Statement, instance: Instance, *, control: bool, as_json: bool) -> int:
    verdict = statement.judge_instance(instance)

    def describe() -> None:
        print(f"{statement.meaning}\n{verdict}")
        if control:
            as_announced = "as announced" if statement.announces(verdict.outcome) else "not as announced"
            print(f"This is the control, {as_announced}: {statement.control_shows}")

    holds = verdict.outcome in ("holds", "measured")
    return deliver(verdict.to_dict(), as_json=as_json, describe=describe, holds=holds)


def _all(paper: str | None, out: Path | None, *, force: bool, as_json: bool) -> int:
    """Every built-in example and control; a control that does not behave as announced counts against us too."""
    check_target(out, (".html",), force=force)
    rows = covered(paper)
    verdicts = [row.example for row in rows if row.example is not None]
    violated = [row.id for row in rows if row.violated]
    unsound = [row.id for row in rows if row.unsound]
    done = sum(row.implemented for row in rows)
    bad = sorted({*violated, *unsound})
    sentence = f"{done} of {len(rows)} statements and probes are implemented; " + (
        f"these do not do what they should: {', '.join(bad)}."
        if bad
        else "every example holds or is measured, and every control behaves as announced."
    )
    if out is not None:
        from marginflow.report.verdicts import render_verdicts

        line = "marginflow check --all" + (f" --paper {paper}" if paper else "") + f" --out {out.name}"
        text = render_verdicts(
            [row.record() for row in rows], verdict=sentence, holds=not bad, command=line, versions=versions()
        )
        write_text(out, text)

    def describe() -> None:
        for verdict in verdicts:
            _line(verdict, verdict.outcome)
        _table([(verdict.id, verdict.outcome) for verdict in verdicts])
        print(sentence)
        if out is not None:
            print(f"Page  {out}")

    record = {
        "implemented": done,
        "total": len(rows),
        "violated": violated,
        "unsound": unsound,
        "out": out,
        "verdicts": [verdict.to_dict() for verdict in verdicts],
    }
    return deliver(record, as_json=as_json, describe=describe, holds=not bad)


def _judge_user(given: Instance, paper: str | None, out: Path | None, *, force: bool, as_json: bool) -> int:
    """Every statement for which the given files are enough.

    An assumption or a definition that the files do not meet is not a contradiction: only
    a violated or refuted statement of another kind makes the exit code 1.
    """
    check_target(out, (".html",), force=force)
    with progress("Checking") as show:
        judged = mf.audits.judge_statements(given, paper=paper, progress=show)
    verdicts = [entry.verdict for entry in judged if entry.verdict is not None]
    broken = [entry.id for entry in judged if entry.contradicted]
    not_met = [entry.id for entry in judged if entry.not_met]
    skipped = [
        statement.id
        for statement in mf.theory.statements(paper)
        if statement.id not in {verdict.id for verdict in verdicts}
    ]
    record = {
        "violated": broken,
        "not_met": not_met,
        "skipped": skipped,
        "out": out,
        "verdicts": [verdict.to_dict() for verdict in verdicts],
    }

    def describe() -> None:
        words = [(entry.id, NOT_MET if entry.id in not_met else entry.outcome) for entry in verdicts]
        for verdict, (_, word) in zip(verdicts, words, strict=True):
            _line(verdict, word)
        _table(words, NOT_MET)
        print(f"{len(skipped)} statements are about something other than what was given and were left out.")
        if not_met:
            print(f"Assumptions and definitions that these files do not meet: {', '.join(not_met)}.")
        print(f"Violated although they apply: {', '.join(broken) or 'none'}.")

    title = f"The statements of the papers on {given.name}"
    return deliver(record, as_json=as_json, out=out, title=title, describe=describe, holds=not broken)


def _line(verdict: Verdict, word: str) -> None:
    reason = verdict.reason.removeprefix("claim fails: ") if word == NOT_MET else verdict.reason
    print(f"{verdict.id:<22} {word:<15} {reason}")


def _table(outcomes: Sequence[tuple[str, str]], *more: str) -> None:
    """How many statements of each paper have which outcome, of pairs (id, outcome); `more` outcomes stand last."""
    from marginflow.theory.outcomes import OUTCOMES

    papers = [key for key in mf.theory.PAPERS if any(name.startswith(f"{key}/") for name, _ in outcomes)]
    print()
    print(f"{'':<22}" + "".join(f"{key:>9}" for key in papers))
    for word in (*OUTCOMES, *more):
        counts = [sum(name.startswith(f"{key}/") and word == found for name, found in outcomes) for key in papers]
        if any(counts):
            print(f"{word:<22}" + "".join(f"{count:>9}" for count in counts))


def _instance(files: dict[str, Path], parameter: list[str], seed: int, label: str | None) -> Instance | None:
    """What the files and parameters give; None where there are none."""
    if not files and not parameter:
        return None
    load = partial(mf.data.Dataset.load, label=label)
    readers: dict[str, Callable[[Path], Any]] = {
        "network": one_output,
        "data": load,
        "test": load,
        "start": one_output,
        "run": mf.flow.load_run,
    }
    read: dict[str, Any] = {name: readers[name](path) for name, path in files.items()}
    networks = {
        name: getattr(made, "network", made) for name, made in read.items() if name in ("network", "start", "run")
    }
    for name, samples in itertools.product(networks, ("data", "test")):
        if samples in files:
            require_dimension(networks[name], files[name], read[samples], files[samples])
    name = ", ".join(path.name for path in files.values())
    return mf.theory.Instance(name=name, **read, parameters=dict(map(_pair, parameter)), seed=seed)


def _candidates(path: Path) -> tuple[FloatArray, FloatArray]:
    """lambda and mu from a file; the certificate checks their shapes and what they prove."""
    from marginflow.arrays import matrix, vector
    from marginflow.data.files import read_arrays

    found = read_arrays(path, ("lambda", "mu"))
    return vector(f"lambda of {path}", found["lambda"]), matrix(f"mu of {path}", found["mu"])


def _pair(text: str) -> tuple[str, object]:
    """NAME=VALUE; a value that reads as a number is one."""
    name, equals, word = text.partition("=")
    if not equals or not name:
        raise InputError(f"The parameter {text!r} is not of the form NAME=VALUE.")
    try:
        return name, float(word)
    except ValueError:
        return name, word
