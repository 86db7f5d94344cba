"""A statement as it is written: its text above its judge, `@stated(id=..., meaning=..., ...)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from marginflow.theory.atlas import Region
from marginflow.theory.errata import Erratum
from marginflow.theory.findings import Findings
from marginflow.theory.instance import Instance
from marginflow.theory.outcomes import Outcome
from marginflow.theory.statement import Forms, Need, Statement

if TYPE_CHECKING:
    from marginflow.theory.hunting.family import AbstractFamily

_KINDS: Final = {
    "A": "assumption",
    "Asm": "assumption",
    "Con": "construction",
    "Cond": "definition",
    "Cor": "corollary",
    "Def": "definition",
    "Eq": "lemma",
    "Ex": "example",
    "FN": "remark",
    "Lem": "lemma",
    "O": "probe",
    "OQ": "probe",
    "Open": "probe",
    "Prop": "proposition",
    "Rem": "remark",
    "Set": "definition",
    "Setting": "definition",
    "Thm": "theorem",
}
"""How an id begins behind its slash, and the kind that this says."""


def stated(
    *,
    id: str,
    meaning: str,
    formula: str,
    needs: tuple[Need, ...] = ("network", "data"),
    example: Callable[[], Instance],
    control: Callable[[], Instance],
    control_shows: str,
    kind: str = "",
    number: str = "",
    control_outcome: Outcome | None = None,
    gap: Callable[[], Instance] | None = None,
    parameters: dict[str, str] | None = None,
    printed: str = "",
    proved: str = "",
    sharp: str = "",
    remark: str = "",
    errata: Erratum | tuple[Erratum, ...] = (),
    known: str = "",
    family: AbstractFamily | None = None,
    region: Region | None = None,
) -> Callable[[Callable[[Instance], Findings]], Statement]:
    """Make a `Statement` of the judge below.

    Parameters
    ----------
    id, meaning, formula, example, control, control_shows, gap, parameters, family, region
        See `Statement`.
    needs : tuple of str
        As in `Statement`; a network and data by default.
    control_outcome : str or None
        As in `Statement`; by default a definition or an assumption is violated by its control, what is false as printed
        is refuted by it, and anything else does not apply to it.
    kind, number : str
        As in `Statement`; where they are left out, the id says them: LemC.4 is a lemma, Lemma C.4.
    printed, proved, sharp, remark, errata, known
        See `Forms`; without any of them the statement has no forms.

    Examples
    --------
    >>> from marginflow import theory
    >>> lemma = theory.statement("VYS22/LemC.4")
    >>> lemma.kind, lemma.number
    ('lemma', 'Lemma C.4')
    """
    wrong = (errata,) if isinstance(errata, Erratum) else errata
    forms = Forms(printed=printed, proved=proved, sharp=sharp, remark=remark, errata=wrong, known=known)
    begins, counted = _read(id)
    kind = kind or _KINDS.get(begins, "")
    unmet: Outcome = "refuted" if any(erratum.severity == "statement false" for erratum in wrong) else "not applicable"
    if kind in ("definition", "assumption"):
        unmet = "violated"

    def of(judge: Callable[[Instance], Findings]) -> Statement:
        return Statement(
            judge,
            id=id,
            kind=kind,
            number=number or counted,
            meaning=meaning,
            formula=formula,
            needs=needs,
            example=example,
            control=control,
            control_shows=control_shows,
            control_outcome=control_outcome or unmet,
            gap=gap,
            parameters=parameters,
            forms=None if forms == Forms() else forms,
            family=family,
            region=region,
        )

    return of


def _read(id: str) -> tuple[str, str]:
    """How the id begins behind its slash, and what it counts: "Lem" and "Lemma C.4", or "Def" and nothing."""
    found = re.fullmatch(r"(OQ|FN|[A-Z][a-z]*)([A-Z]?\.?\d+(?:\.\d+)?)?.*", id.partition("/")[2])
    if found is None:
        return "", ""
    begins, count = found[1], found[2]
    whole = count is not None and id.endswith(begins + count)
    named = begins in _KINDS and _KINDS[begins] != "probe"
    return begins, f"{_KINDS[begins].capitalize()} {count}" if whole and named else ""
