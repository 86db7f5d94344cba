"""Which kind of result a file holds, recognised by the keys that only this kind has."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from marginflow.errors import InputError
from marginflow.report.page import Section
from marginflow.report.results import plain
from marginflow.report.results.audits import audit, sweep
from marginflow.report.results.certificates import certificate, limit
from marginflow.report.results.classes import classes_audit
from marginflow.report.results.figures import atlas, figure
from marginflow.report.results.hunts import hunt
from marginflow.report.results.influences import influence, unlearned, valued
from marginflow.report.results.robustness import accuracy, flips, radii
from marginflow.report.results.summary import Fields, NamedResult, Summary
from marginflow.report.results.training import training
from marginflow.report.results.verdicts import verdict, verdicts

# The first kind whose keys are all there.
KINDS: Final[dict[str, tuple[tuple[str, ...], Callable[[Fields], Summary]]]] = {
    "audit": (("certificate", "universal", "statements", "contradicted"), audit),
    "audit of classes": (("kkt", "universal", "curve", "contradicted"), classes_audit),
    "limit": (("certificate", "moved", "history"), limit),
    "certificate": (("stationarity", "complementarity", "holds", "total"), certificate),
    "training": (("separated", "log_loss", "normalised_margin"), training),
    "radii": (("radii", "all_proved", "sqrt_dimension"), radii),
    "certified accuracy": (("curve", "accuracy", "exact", "at"), accuracy),
    "flips": (("directions", "flips", "share"), flips),
    "figure": (("claim", "outcome", "rows"), figure),
    "sweep": (("cells", "done", "missing", "rows"), sweep),
    "influence": (("ways", "samples", "groups_count"), influence),
    "unlearning": (("forgotten", "methods"), unlearned),
    "values": (("accuracy", "samples", "sentence"), valued),
    "hunt": (("family", "history", "telling"), hunt),
    "map": (("axes", "cells", "marks"), atlas),
    "verdicts": (("verdicts", "violated"), verdicts),
    "verdict": (("outcome", "hypotheses", "conclusions"), verdict),
}


def kind_of(result: NamedResult) -> str:
    """The name of the kind: one of `KINDS`, "rows" or "record"."""
    if not isinstance(result.content, Mapping):
        return "rows"
    for name, (keys, _) in KINDS.items():
        if all(key in result.content for key in keys):
            return name
    return "record"


def summarise(result: NamedResult, *, x: str | None = None, y: str | None = None, series: str | None = None) -> Summary:
    """What a page says of the result; `x`, `y` and `series` name the columns of a chart of rows."""
    kind = kind_of(result)
    try:
        if not isinstance(result.content, Mapping):
            return plain.rows(result.content, x=x, y=y, series=series)
        if x is not None and isinstance(result.content.get("rows"), list):
            drawn_rows = plain.rows(result.content["rows"], x=x, y=y, series=series)
            by_kind = summarise(result)
            first = drawn_rows.sections[0]
            drawn = Section.of("Chart", *first.content[:1])
            return replace(by_kind, sections=(drawn, *by_kind.sections))
        return plain.record(result.content) if kind == "record" else KINDS[kind][1](Fields(result.content))
    except InputError:  # says already what is wrong
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise InputError(
            f"{result.name} looks like a result of the kind {kind!r}, but {_missing(error)}; make it again with --json."
        ) from None


def _missing(error: Exception) -> str:
    return f"{error} is missing in it" if isinstance(error, KeyError) else f"it cannot be read ({error})"
