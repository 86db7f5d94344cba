"""The papers, and the keys under which everything cites them: the four of this library, and those that others add."""

import importlib.metadata
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from marginflow.errors import InputError

GROUP: Final = "marginflow.papers"
"""The entry-point group: a package that names a `Paper` there adds its statements to everything here."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose statements are executable here.

    Parameters
    ----------
    key : str
        As in `[VYS22, Thm 4.1]`; the room of its statements is the key in small letters.
    title, authors : str
    year : int
        Of publication; the key of a paper may have the year of its first version.
    kind, venue : str
        Of the BibTeX entry (article, inproceedings, book, misc), and the journal or the proceedings.
    room : str
        The package in which every module-level `Statement` counts; the room of the key in this library if empty.
    kinds : tuple of str
        Kinds of statements that this paper has beside those of `Statement`, such as "conjecture".
    needs : mapping of str to str
        Inputs that its statements need beside those of `Instance`, and what they are; they travel in `Instance.extras`.
    proofs : mapping of str to tuple of str
        id -> the ids that its proof uses itself, for `theory.dependencies`.
    """

    key: str
    title: str
    authors: str
    year: int
    kind: str = "article"
    venue: str = ""
    room: str = ""
    kinds: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    proofs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not re.fullmatch(r"[A-Z][A-Z0-9]*", self.key):
            raise InputError(f"The key of a paper is {self.key!r}; capital letters and digits are expected.")
        if not self.room:
            object.__setattr__(self, "room", f"marginflow.theory.{self.key.lower()}")

    def __str__(self) -> str:
        return f"[{self.key}] {self.authors}. {self.title}. {self.year}."


NEURIPS: Final = "Advances in Neural Information Processing Systems"
_neurips = partial(Paper, kind="inproceedings", venue=NEURIPS)
_OWN: Final[dict[str, Paper]] = {
    paper.key: paper
    for paper in (
        _neurips(
            key="VYS22",
            title="Gradient Methods Provably Converge to Non-Robust Networks",
            authors="G. Vardi, G. Yehudai, O. Shamir",
            year=2022,
        ),
        _neurips(
            key="FVBS23",
            title="The Double-Edged Sword of Implicit Bias: Generalization vs. Robustness in ReLU Networks",
            authors="S. Frei, G. Vardi, P. L. Bartlett, N. Srebro",
            year=2023,
        ),
        _neurips(
            key="KYS23",
            title="From Tempered to Benign Overfitting in ReLU Neural Networks",
            authors="G. Kornowski, G. Yehudai, O. Shamir",
            year=2023,
        ),
        Paper(
            key="FCB22",
            title="Random Feature Amplification: Feature Learning and Generalization in Neural Networks",
            authors="S. Frei, N. S. Chatterji, P. L. Bartlett",
            year=2023,
            kind="article",
            venue="Journal of Machine Learning Research 24(303)",
        ),
    )
}


class Papers(Mapping[str, Paper]):
    """The papers by key: the four of this library first, then those of installed packages, then those added by hand.

    Packages are asked when somebody first looks. One that cannot be loaded, or whose key is taken, is left out with a
    warning that names it: the other papers do not suffer.
    """

    def __init__(self, own: Mapping[str, Paper]) -> None:
        self._known = dict(own)
        self._asked = False

    def add(self, paper: Paper) -> None:
        """Add a paper that no installed package names, for scripts and tests."""
        if not isinstance(paper, Paper):
            raise InputError(f"{paper!r} is not a paper; a marginflow.theory.Paper is expected.")
        if self._all().get(paper.key, paper) != paper:
            raise InputError(f"There is a paper {paper.key} already: {self[paper.key]}")
        self._known[paper.key] = paper

    def _all(self) -> dict[str, Paper]:
        if not self._asked:
            self._asked = True  # first: a package that looks at the papers while it is loaded finds the others
            for entry in importlib.metadata.entry_points(group=GROUP):
                self._load(entry)
        return self._known

    def _load(self, entry: importlib.metadata.EntryPoint) -> None:
        try:
            paper = entry.load()
        except Exception as error:  # whatever somebody else's package raises
            warnings.warn(f"The paper {entry.name} ({entry.value}) cannot be loaded: {error}", stacklevel=2)
            return
        if not isinstance(paper, Paper) or paper.key != entry.name:
            warnings.warn(f"{entry.value} is not a Paper with the key {entry.name}; it is left out.", stacklevel=2)
        elif self._known.get(paper.key, paper) != paper:
            warnings.warn(f"There is a paper {paper.key} already; {entry.value} is left out.", stacklevel=2)
        else:
            self._known[paper.key] = paper

    def __getitem__(self, key: str) -> Paper:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


PAPERS: Final = Papers(_OWN)
"""Every paper, by key."""
