"""What a page tells of verdicts on statements."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from marginflow.report.chart import Chart
from marginflow.report.formula import Formula
from marginflow.report.page import Section, Tone
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.room_chart import room_chart
from marginflow.report.style import signs
from marginflow.report.table import Table
from marginflow.theory.check import Check, in_words
from marginflow.theory.record import formula_of

TONES: dict[str, Tone] = {"holds": "holds", "measured": "holds", "violated": "violated", "refuted": "violated"}


def verdict(record: Fields) -> Summary:
    """One verdict as `marginflow check ID` writes it."""
    outcome = str(record["outcome"])
    sentence = str(record["sentence"])
    checks = [
        (
            check.get("role", part),
            signs(str(check["name"])),
            check["observed"],
            "" if check["relation"] == "is" else signs(str(check["relation"])),
            "" if check["relation"] == "is" else check["bound"],
            "" if check["relation"] == "is" else check["state"],
            in_words(str(check["note"])),
        )
        for part in ("hypotheses", "constants", "conclusions")
        for check in record.objects(part)
    ]
    table = Table(
        columns=("Part", "Check", "Observed", "", "Bound", "State", "Note"), rows=tuple(checks), caption="Every check"
    )
    charts, formula = _room(record), _formula(str(record["id"]))
    section = Section(heading=f"Statement {record['id']}", content=(*charts, *formula, table))
    return Summary(sentence=sentence, tone=TONES.get(outcome, "open"), sections=(section,))


def _room(record: Fields) -> list[Chart]:
    """Bars of the room that hypotheses and conclusions use."""
    checks = [check for part in ("hypotheses", "conclusions") for check in record.objects(part)]
    drawn = [check | {"used": _used(check)} for check in checks]
    return [room_chart(drawn, title="Room used")] if any(check["used"] is not None for check in drawn) else []


def _used(check: Fields) -> float | None:
    """How much of its bound a check uses; None where it has none, or a number is not finite."""
    if check["observed"] is None or check["bound"] is None:
        return None
    read = Check(
        name=str(check["name"]),
        observed=check.number("observed"),
        relation=check["relation"],
        bound=check.number("bound"),
    )
    return read.used


def verdicts(record: Fields) -> Summary:
    """Many verdicts as `marginflow check --all` writes them."""
    found = record.objects("verdicts")
    broken = list(record["violated"])
    counted = Counter(_word(verdict, broken) for verdict in found)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counted.most_common())
    sentence = f"Of {len(found)} statements, {outcomes or 'nothing'}" + (
        f"; violated although they apply: {', '.join(broken)}." if broken else "; nothing that applies is violated."
    )
    worded = [
        verdict
        | ({"outcome": "not met"} if verdict["outcome"] == "violated" and verdict["id"] not in broken else {})
        | {"reason": str(verdict["reason"]).removeprefix("claim fails: ")}
        for verdict in found
    ]
    silent = [verdict for verdict in worded if verdict["outcome"] == "not applicable"]
    content = [verdict_table([verdict for verdict in worded if verdict not in silent])]
    if silent:
        caption = f"{len(silent)} statements that do not apply, and why"
        why = [verdict | {"reason": str(verdict["reason"]).removeprefix("hypothesis not met: ")} for verdict in silent]
        content.append(
            replace(Table.of(why, columns={"id": "Statement", "reason": "Why"}, caption=caption), folded=True)
        )
    section = Section(heading="Statements of the papers", content=tuple(content))
    return Summary(sentence=sentence, tone="violated" if broken else "holds", sections=(section,))


def _word(verdict: dict[str, Any], broken: list[str]) -> str:
    """The outcome in words; an assumption or definition that is not met is no contradiction."""
    outcome = str(verdict["outcome"])
    words = {"holds": "hold", "measured": "were measured", "not applicable": "do not apply"}
    if outcome == "violated":
        return "are violated" if verdict["id"] in broken else "are properties that are not met here"
    return words.get(outcome, f"are {outcome}")


def verdict_table(found: Sequence[dict[str, Any]]) -> Table:
    """One line for each verdict: those that apply first."""
    order = (
        "refuted",
        "violated",
        "proof step fails",
        "constants unspecified",
        "holds",
        "vacuous",
        "undecided",
        "measured",
        "not met",
    )
    ranked = sorted(
        found, key=lambda verdict: order.index(verdict["outcome"]) if verdict["outcome"] in order else len(order)
    )
    return Table.of(
        ranked,
        columns={"id": "Statement", "outcome": "Outcome", "reason": "What decided"},
        caption="The verdict of each statement on these files",
    )


def _formula(id: str) -> tuple[Formula, ...]:
    found = formula_of(id)
    return () if found is None else (Formula(latex=found[0], meaning=found[1]),)
