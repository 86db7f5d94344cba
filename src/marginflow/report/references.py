"""The papers and methods that a result stands on, as text and as BibTeX."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from marginflow.theory import PAPERS, Paper
from marginflow.theory.bibliography import NEURIPS


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A publication.

    Parameters
    ----------
    key : str
        Under which BibTeX cites it.
    kind : str
        Of the entry: article, inproceedings, book, misc.
    authors : str
        Names with commas between them.
    title, venue : str
        `venue` is the journal, the proceedings or the publisher.
    year : int
    what : str
        What it is cited for.
    """

    key: str
    kind: str
    authors: str
    title: str
    venue: str
    year: int
    what: str

    def __str__(self) -> str:
        return f"[{self.key}] {self.authors}. {self.title}. {self.venue}, {self.year}. ({self.what})"

    def bibtex(self) -> str:
        """The entry."""
        field = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "misc": "howpublished"}[
            self.kind
        ]
        authors = " and ".join(name.strip() for name in self.authors.split(","))
        return (
            f"@{self.kind}{{{self.key},\n  author = {{{authors}}},\n  title = {{{{{self.title}}}}},\n"
            f"  {field} = {{{self.venue}}},\n  year = {{{self.year}}},\n  annote = {{{self.what}}},\n}}"
        )


METHODS: Final[dict[str, Reference]] = {
    reference.key: reference
    for reference in (
        Reference(
            key="LL20",
            kind="inproceedings",
            authors="K. Lyu, J. Li",
            title="Gradient Descent Maximizes the Margin of Homogeneous Neural Networks",
            venue="International Conference on Learning Representations",
            year=2020,
            what="training converges in direction to KKT points of the max-margin problem",
        ),
        Reference(
            key="JT20",
            kind="inproceedings",
            authors="Z. Ji, M. Telgarsky",
            title="Directional Convergence and Alignment in Deep Learning",
            venue=NEURIPS,
            year=2020,
            what="the direction converges",
        ),
        Reference(
            key="C90",
            kind="book",
            authors="F. H. Clarke",
            title="Optimization and Nonsmooth Analysis",
            venue="SIAM",
            year=1990,
            what="derivatives at kinks",
        ),
        Reference(
            key="YR03",
            kind="article",
            authors="A. L. Yuille, A. Rangarajan",
            title="The Concave-Convex Procedure",
            venue="Neural Computation",
            year=2003,
            what="the outer iteration that finds the KKT point",
        ),
        Reference(
            key="BPCPE11",
            kind="article",
            authors="S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein",
            title="Distributed Optimization and Statistical Learning via the "
            "Alternating Direction Method of Multipliers",
            venue="Foundations and Trends in Machine Learning",
            year=2011,
            what="the solver of the convex problems",
        ),
        Reference(
            key="CP34",
            kind="article",
            authors="C. J. Clopper, E. S. Pearson",
            title="The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
            venue="Biometrika",
            year=1934,
            what="the interval of a test error",
        ),
    )
}


def references(keys: Iterable[str] | None = None) -> tuple[Reference, ...]:
    """The publications under the keys, papers first, each once; the four papers if no key is given."""
    wanted = set(PAPERS if keys is None else keys)
    papers = [_of_paper(paper) for key, paper in PAPERS.items() if key in wanted]
    return (*papers, *(method for key, method in METHODS.items() if key in wanted))


def _of_paper(paper: Paper) -> Reference:
    return Reference(
        key=paper.key,
        kind=paper.kind,
        authors=paper.authors,
        title=paper.title,
        venue=paper.venue,
        year=paper.year,
        what="statements checked here",
    )
