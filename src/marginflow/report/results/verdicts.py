"""What a page tells of verdicts on statements."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from marginflow.report.content import Chart, Formula, Table, text_of
from marginflow.report.encodings import inline
from marginflow.report.page import Section, Tone
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.style import raised, signs
from marginflow.report.vega import alt
from marginflow.theory.check import Check, in_words
from marginflow.theory.record import formula_of

_COLOURS = {"met": "var(--series-1)", "failed": "var(--series-2)", "undecided": "var(--muted)"}
_MOST = 2.0  # times its bound: far beyond it
_LETTERS = 46  # of the name of a check
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
    charts = _room([*record.objects("hypotheses"), *record.objects("conclusions")])
    section = Section.of(f"Statement {record['id']}", *charts, *_formula(str(record["id"])), table)
    return Summary(sentence=sentence, tone=TONES.get(outcome, "open"), sections=(section,))


def _room(checks: Sequence[Fields]) -> list[Chart]:
    """How much of its bound each check uses, as bars that end at 1 where the bound would be touched."""
    rows = [_bar(number, check, used) for number, check in enumerate(checks) if (used := _used(check)) is not None]
    if not rows:
        return []
    states = {check["state"] for check in checks}
    colours = {state: value for state, value in _COLOURS.items() if state in states}
    order = [row["line"] for row in rows]
    x = alt.X(
        "shown:Q",
        title="room used; beyond 1 the bound is broken",
        scale=alt.Scale(domain=[0, _MOST]),
        axis=alt.Axis(values=[0, 0.5, 1, 1.5, 2], format="~g"),
    )
    y = alt.Y("line:N", sort=order, title=None, axis=alt.Axis(labelLimit=330, ticks=False, domain=False))
    colour = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(columns=3, symbolType="square", symbolStrokeWidth=0),
    )
    hint = [alt.Tooltip(f"{name}:N", title=name) for name in ("role", "name", "compared", "state")]
    base = alt.Chart(inline(rows))
    layers = alt.layer(
        base.mark_bar(height={"band": 0.55}).encode(x=x, y=y, color=colour, tooltip=hint),
        base.mark_text(align="left", dx=4, color="var(--muted)", fontSize=12).encode(x=x, y=y, text="compared:N"),
        alt.Chart(inline([{"shown": 1.0}])).mark_rule(color="var(--ink)", strokeWidth=1.5).encode(x=x),
    )
    description = "For every check how much of its bound is used; a bar that passes the line at 1 breaks the bound."
    titles = {"role": "Part", "name": "Check", "compared": "Compared", "used": "Room used", "state": "State"}
    return [Chart.of(layers, rows, titles, "Room used", description, height=30 * len(rows))]


def _bar(number: int, check: Fields, used: float) -> dict[str, object]:
    name, sign = signs(str(check["name"])), signs(str(check["relation"]))
    cut = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
    return {
        "line": f"{cut}{chr(0x200B) * number}",  # two checks of one name keep a line each
        "name": name,
        "role": check.get("role", ""),
        "used": used,
        "shown": min(_MOST, max(0.0, used)),
        "state": check["state"],
        "compared": raised(f"{text_of(check['observed'])} {sign} {text_of(check['bound'])}"),
    }


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
        content.append(Table.of(why, columns={"id": "Statement", "reason": "Why"}, caption=caption, folded=True))
    section = Section.of("Statements of the papers", *content)
    return Summary(sentence=sentence, tone="violated" if broken else "holds", sections=(section,))


def _word(verdict: dict[str, Any], broken: list[str]) -> str:
    """The outcome in words; an assumption or definition that is not met is not a contradiction."""
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
