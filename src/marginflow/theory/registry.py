"""Which statements exist: found by walking the rooms of the papers, counted against the catalogue of their ids."""

import importlib
import importlib.resources
import importlib.util
import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.theory.atlas import Atlas, draw
from marginflow.theory.bibliography import PAPERS
from marginflow.theory.outcomes import BROKEN
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

Entry = Literal["statement", "figure", "probe"]


@cache
def catalogue() -> dict[str, Entry]:
    """Every id of the four papers and whether it is a statement, a figure or a probe."""
    text = importlib.resources.files("marginflow.theory").joinpath("catalogue.txt").read_text(encoding="utf-8")
    entries: dict[str, Entry] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, name = line.split()
            entries[name] = kind  # type: ignore[assignment]  # the catalogue has these kinds only, as a test says
    return entries


@cache
def statements_of(paper: str) -> dict[str, Statement]:
    """All statements of one paper, by id, in the order of the catalogue; empty where its room is not built yet.

    Every module-level `Statement` in the paper's room counts: to add one is to write it down.
    """
    if paper not in PAPERS:
        raise InputError(f"There is no paper {paper!r}; known are {', '.join(PAPERS)}.")
    room = PAPERS[paper].room
    if importlib.util.find_spec(room) is None:
        return {}
    package = importlib.import_module(room)
    found: dict[str, Statement] = {}
    for module in pkgutil.walk_packages(package.__path__, prefix=f"{room}."):
        for thing in vars(importlib.import_module(module.name)).values():
            if not isinstance(thing, Statement):
                continue
            if found.get(thing.id, thing) is not thing:
                raise InputError(f"Two statements have the id {thing.id}.")
            if not thing.id.startswith(f"{paper}/"):
                raise InputError(f"{thing.id} is in the room of {paper}.")
            found[thing.id] = thing
    order = {name: number for number, name in enumerate(catalogue())}
    return {name: found[name] for name in sorted(found, key=lambda name: (order.get(name, len(order)), name))}


def statements(paper: str | None = None) -> tuple[Statement, ...]:
    """All statements, or those of one paper.

    Examples
    --------
    >>> from marginflow import theory
    >>> len(theory.statements("VYS22")) > 0
    True
    """
    keys = PAPERS if paper is None else (paper,)
    return tuple(known for key in keys for known in statements_of(key).values())


def statement(id: str) -> Statement:
    """The statement with this id, such as "VYS22/Thm4.1"; an `InputError` names the nearest ones.

    Look-up forgives: "vys22/thm4.1" and "theorem 4.1 vys22" mean the same.

    Examples
    --------
    >>> from marginflow import theory
    >>> theory.statement("VYS22/LemC.5").kind
    'lemma'
    >>> theory.statement("theorem 4.1 of VYS22").id
    'VYS22/Thm4.1'
    """
    key = id.partition("/")[0]
    if key in PAPERS:
        known = statements_of(key)
        if id in known:
            return known[id]
    import difflib

    every = [name for paper in PAPERS for name in statements_of(paper)]
    meant = [name for name in every if _plainly(name) == _plainly(id)]
    if len(meant) == 1:
        return statements_of(meant[0].partition("/")[0])[meant[0]]
    near = difflib.get_close_matches(id, every, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "see `marginflow statements`."
    raise InputError(f"There is no statement {id!r}; {hint}")


_WORDS: Final = {
    "theorem": "thm",
    "lemma": "lem",
    "proposition": "prop",
    "corollary": "cor",
    "definition": "def",
    "assumption": "asm",
    "remark": "rem",
    "example": "ex",
    "equation": "eq",
    "footnote": "fn",
    "construction": "con",
    "section": "sec",
    "condition": "cond",
    "of": "",
    "in": "",
}


def _plainly(text: str) -> tuple[str, str]:
    """The paper and the rest in small letters without marks between them, however it was typed."""
    words = re.findall(r"[a-z]+[0-9]*(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+)*|[+]", text.lower())
    words = [re.sub(r"^[a-z]+", lambda match: _WORDS.get(match.group(), match.group()), word) for word in words]
    keys = [word for word in words if word.upper() in PAPERS]
    rest = "".join(re.sub(r"[^a-z0-9+]", "", word) for word in words if word.upper() not in PAPERS)
    return (keys[0] if keys else "", rest)


def map(id: str, grid: Mapping[str, Sequence[float]]) -> Atlas:
    """Where a theorem does not apply, says nothing or says something: hypotheses and constants on a grid of numbers.

    Parameters
    ----------
    id : str
    grid : mapping of letters to values
        Every combination is a cell; `statement(id).region.letters` names the letters.

    Examples
    --------
    >>> from marginflow import theory
    >>> found = theory.map("VYS22/Thm4.1", {"d": [100, 1000], "m": [4, 30], "p": [0]})
    >>> found.counts()
    {'not applicable': 0, 'says nothing': 2, 'says something': 2}
    """
    chosen = statement(id)
    if chosen.region is None:
        known = ", ".join(other.id for other in statements() if other.region is not None)
        raise InputError(f"{chosen.id} has no map; there are maps of {known}.")
    return draw(chosen.id, chosen.region, grid)


@dataclass(frozen=True, kw_only=True)
class Covered(Brief):
    """One id of the catalogue: whether it is implemented, and what its example and control say.

    `example` and `control` are None where there is no statement.
    """

    id: str
    entry: Entry
    statement: Statement | None
    example: Verdict | None
    control: Verdict | None

    def __repr__(self) -> str:
        if self.example is None or self.control is None:
            return f"Covered({self.id}: no statement)"
        return f"Covered({self.id}: example {self.example.outcome}, control {self.control.outcome})"

    @property
    def implemented(self) -> bool:
        """Whether there is a statement with this id."""
        return self.statement is not None

    @property
    def added(self) -> bool:
        """Whether it is one more than the catalogue lists; a paper of somebody else's lists itself."""
        ours = PAPERS[self.id.partition("/")[0]].room.startswith("marginflow.theory.")
        return ours and self.id not in catalogue()

    @property
    def violated(self) -> bool:
        """Whether the example breaks a claim."""
        return self.example is not None and self.example.outcome in BROKEN

    @property
    def unsound(self) -> bool:
        """Whether there is a statement, and it does not do what it should."""
        return self.implemented and not self.sound

    @property
    def sound(self) -> bool:
        """Whether the example holds (or is measured) and the control does what it announces."""
        if self.statement is None or self.example is None or self.control is None:
            return False
        wanted = "measured" if self.statement.is_probe else "holds"
        return self.example.outcome == wanted and self.statement.announces(self.control.outcome)

    def record(self) -> dict[str, object]:
        """Plain values: all that the page of statements shows; `example` and `control` are null where not judged."""
        known: dict[str, object] = {
            "id": self.id,
            "implemented": self.implemented,
            "sound": self.sound,
            "added": self.added,
        }
        if self.statement is not None:
            names = ("kind", "number", "meaning", "formula", "forms", "control_shows")
            known |= {name: getattr(self.statement, name) for name in names}
            known["announced"] = self.control is not None and self.statement.announces(self.control.outcome)
        known |= {"example": _judged(self.example), "control": _judged(self.control)}
        plain: dict[str, object] = to_plain(known)
        return plain


def _judged(verdict: Verdict | None) -> dict[str, object] | None:
    """A verdict with its checks as sentences, and the tightest claim in numbers."""
    if verdict is None:
        return None
    tightest = verdict.tightest
    numbers = ("name", "observed", "relation", "bound", "state", "used")
    return {
        "outcome": verdict.outcome,
        "instance": verdict.instance,
        **{
            part: [check.phrase for check in getattr(verdict, part)]
            for part in ("hypotheses", "constants", "conclusions")
        },
        "tightest": None if tightest is None else {name: getattr(tightest, name) for name in numbers},
    }


def headlines() -> dict[str, str]:
    """What is false as printed, in one sentence each, by id; docs/findings.md has all, with counterexamples."""
    written = (
        (known.id, erratum) for known in statements() if known.forms is not None for erratum in known.forms.errata
    )
    return {id: erratum.headline for id, erratum in written if erratum.headline}


def coverage(paper: str | None = None, *, run: bool = True) -> tuple[Covered, ...]:
    """Every statement and probe of the catalogue beside what is implemented; figures belong to the experiments.

    Statements that the catalogue does not list come after it, as `added`.

    Parameters
    ----------
    paper : str or None
        One paper, or all.
    run : bool
        Whether to judge the examples and controls too.
    """
    if paper is not None:
        statements_of(paper)  # an `InputError` names the papers that there are
    names = [name for name, entry in catalogue().items() if entry != "figure"]
    names += [known.id for known in statements() if known.id not in catalogue()]
    names = [name for name in names if paper is None or name.partition("/")[0] == paper]
    return tuple(covered(name, run=run) for name in names)


def covered(id: str, *, run: bool = True) -> Covered:
    """One id of the catalogue: its statement, if there is one, judged on its example and its control if `run`."""
    known = statements_of(id.partition("/")[0]).get(id)
    if known is None and id not in catalogue():
        raise InputError(f"There is no statement {id!r} and none of this id is expected; see `marginflow statements`.")
    own: Entry = "probe" if known is not None and known.is_probe else "statement"
    return Covered(
        id=id,
        entry=catalogue().get(id, own),
        statement=known,
        example=known.judge_instance(known.example()) if known is not None and run else None,
        control=known.judge_instance(known.control()) if known is not None and run else None,
    )
