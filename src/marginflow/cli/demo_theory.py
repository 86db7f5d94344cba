"""The theorems of FVBS23 on the demo's own instance: law, data, KKT point and fresh points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from marginflow import theory
from marginflow.data import Clusters, Dataset
from marginflow.networks import TwoLayer
from marginflow.report import Formula, Section, Table
from marginflow.theory import Instance, Statement, Verdict

KINDS: Final = ("assumption", "theorem", "corollary", "proposition", "lemma")
MAIN: Final = ("FVBS23/Thm3.1", "FVBS23/Thm4.1", "FVBS23/Thm4.2")
# That one vector is shorter than the radius of the robust network is a matter of how many clusters there are.
CONTRAST: Final = "FVBS23/Cor-Both"
N_FRESH = 300


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A statement and its verdict on the demo's instance."""

    statement: Statement
    verdict: Verdict


def judge_theory(
    law: Clusters, network: TwoLayer, data: Dataset, *, seed: int, show: Callable[[float, str], None]
) -> tuple[Judgement, ...]:
    """Judge every statement of FVBS23 that speaks of one network, its data and their law."""
    given = Instance(
        name="the demo's clusters",
        law=law,
        network=network,
        data=data,
        test=law.fresh(N_FRESH, train=data, seed=seed),
        seed=seed,
    )
    chosen = [
        one
        for one in theory.statements("FVBS23")
        if one.kind in KINDS and set(one.needs) <= {"law", "network", "data", "test"}
    ]
    chosen.sort(key=lambda one: KINDS.index(one.kind))
    judged = []
    for place, statement in enumerate(chosen):
        show(place / len(chosen), statement.id)
        judged.append(Judgement(statement=statement, verdict=statement.judge_instance(given)))
    return tuple(judged)


def told(judged: Sequence[Judgement]) -> str:
    """One line for the terminal: how many hold, and what became of the others."""
    others = [one for one in judged if one.verdict.outcome != "holds"]
    line = f"Checked {len(judged)} statements of FVBS23 on this instance: {len(judged) - len(others)} hold"
    named = [
        f"{one.statement.id} is violated (with so few clusters, as the page explains)"
        if one.statement.id == CONTRAST and one.verdict.outcome == "violated"
        else f"{one.statement.id} is {one.verdict.outcome} ({one.verdict.reason})"
        for one in others[:3]
    ]
    more = [f"{len(others) - 3} more do not (the page lists them)"] if len(others) > 3 else []
    return "; ".join([line, *named, *more]) + "."


def theory_section(judged: Sequence[Judgement]) -> Section:
    """What the page says about it."""
    outcomes = {one.statement.id: one.verdict.outcome for one in judged}
    told = ", ".join(f"{word}: {count}" for word, count in Counter(outcomes.values()).most_common())
    main = ", ".join(f"{name.split('/')[1]} {outcomes[name]}" for name in MAIN if name in outcomes)
    paragraphs = [
        f"{len(judged)} statements of Frei, Vardi, Bartlett and Srebro (2023) were checked on this very draw, this KKT "
        f"point and {N_FRESH} fresh points, with their real constants: {told}. The three main theorems: {main}.",
        "A statement whose hypotheses fail is “not applicable”, never a pass.",
    ]
    if outcomes.get(CONTRAST) == "violated":
        paragraphs.append(
            "Cor-Both joins them: the vector that flips the KKT point should be shorter than the radius at which the "
            "robust network is safe. With so few clusters it is not. The theorems hold all the same; their contrast "
            "needs more clusters, and the section on the double edge shows it growing with their number."
        )
    formulas = tuple(
        Formula(latex=one.statement.formula, meaning=f"{one.statement.number}: {one.statement.meaning}")
        for one in judged
        if one.statement.id in MAIN
    )
    main_kinds = ("assumption", "theorem", "corollary", "proposition")
    tables = (
        _table([one for one in judged if one.statement.kind in main_kinds], "Observed numbers beside their bounds"),
        _table([one for one in judged if one.statement.kind not in main_kinds], "The lemmas of the proofs", fold=True),
    )
    return Section(heading="The theorems on this instance", paragraphs=tuple(paragraphs), content=(*formulas, *tables))


def _table(judged: Sequence[Judgement], caption: str, *, fold: bool = False) -> Table:
    rows = (
        (
            one.statement.id.split("/")[1],
            one.verdict.outcome,
            one.statement.meaning,
            one.verdict.reason,
        )
        for one in judged
    )
    columns = ("Statement", "Outcome", "What it says", "What decided")
    return Table(columns=columns, rows=tuple(rows), caption=caption, folded=fold)
