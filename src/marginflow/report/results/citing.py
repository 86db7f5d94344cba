"""Which papers and methods given results stand on."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from marginflow.report.references import Reference, references
from marginflow.report.results.kinds import kind_of
from marginflow.report.results.summary import NamedResult
from marginflow.theory.bibliography import PAPERS

# What each command uses, and the papers whose question it answers.
USED: Final[dict[str, tuple[str, ...]]] = {
    "train": ("LL20", "JT20"),
    "limit": ("LL20", "JT20", "C90", "YR03", "BPCPE11"),
    "certify": ("LL20", "C90"),
    "flip": ("VYS22", "FVBS23"),
    "radius": ("FVBS23",),
    "demo": ("FVBS23", "LL20", "JT20", "C90", "YR03", "BPCPE11", "CP34"),
    "audit": ("VYS22", "FVBS23", "LL20", "C90"),
}
BY_KIND: Final = {
    **{"limit": "limit", "certificate": "certify", "training": "train"},
    **{"radii": "radius", "certified accuracy": "radius", "flips": "flip"},
}


def cited(results: Iterable[NamedResult]) -> tuple[Reference, ...]:
    """What the given results stand on: by the command that made them, and every paper whose key stands in them."""
    keys: set[str] = set()
    for result in results:
        words = str(result.made_by.get("command", "")).split()
        name = words[1] if len(words) > 1 and words[1] in USED else BY_KIND.get(kind_of(result), "")
        keys |= set(USED.get(name, ()))
        keys |= set(re.findall(rf"\b({'|'.join(PAPERS)})(?=/)", " ".join(_ids(result.content))))
        if isinstance(result.content, Mapping) and str(result.content.get("recipe", "")).upper() in PAPERS:
            keys.add(str(result.content["recipe"]).upper())
    return references(keys)


def _ids(value: Any) -> Iterable[str]:
    """Every text under a key `id` or `figure`, however deep."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if key in ("id", "figure") and isinstance(entry, str):
                yield entry
            else:
                yield from _ids(entry)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict | list):
                yield from _ids(entry)
