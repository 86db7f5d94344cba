"""The papers and methods that a result stands on, as text and as BibTeX."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from marginflow.theory.bibliography import NEURIPS, PAPERS, Paper

_FIELDS: Final = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "misc": "howpublished"}


@dataclass(frozen=True)
class Reference:
    """A publication, and what it is cited for."""

    paper: Paper
    what: str

    def __str__(self) -> str:
        paper = self.paper
        return f"[{paper.key}] {paper.authors}. {paper.title}. {paper.venue}, {paper.year}. ({self.what})"

    def bibtex(self) -> str:
        """The entry."""
        paper = self.paper
        authors = " and ".join(name.strip() for name in paper.authors.split(","))
        return (
            f"@{paper.kind}{{{paper.key},\n  author = {{{authors}}},\n  title = {{{{{paper.title}}}}},\n"
            f"  {_FIELDS[paper.kind]} = {{{paper.venue}}},\n  year = {{{paper.year}}},\n  annote = {{{self.what}}},\n}}"
        )


METHODS: Final = (
    Reference(
        Paper(
            key="LL20",
            kind="inproceedings",
            authors="K. Lyu, J. Li",
            title="Gradient Descent Maximizes the Margin of Homogeneous Neural Networks",
            venue="International Conference on Learning Representations",
            year=2020,
        ),
        "training converges in direction to KKT points of the max-margin problem",
    ),
    Reference(
        Paper(
            key="JT20",
            kind="inproceedings",
            authors="Z. Ji, M. Telgarsky",
            title="Directional Convergence and Alignment in Deep Learning",
            venue=NEURIPS,
            year=2020,
        ),
        "the direction converges",
    ),
    Reference(
        Paper(
            key="C90",
            kind="book",
            authors="F. H. Clarke",
            title="Optimization and Nonsmooth Analysis",
            venue="SIAM",
            year=1990,
        ),
        "derivatives at kinks",
    ),
    Reference(
        Paper(
            key="YR03",
            kind="article",
            authors="A. L. Yuille, A. Rangarajan",
            title="The Concave-Convex Procedure",
            venue="Neural Computation",
            year=2003,
        ),
        "the outer iteration that finds the KKT point",
    ),
    Reference(
        Paper(
            key="BPCPE11",
            kind="article",
            authors="S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein",
            title="Distributed Optimization and Statistical Learning via the "
            "Alternating Direction Method of Multipliers",
            venue="Foundations and Trends in Machine Learning",
            year=2011,
        ),
        "the solver of the convex problems",
    ),
    Reference(
        Paper(
            key="CP34",
            kind="article",
            authors="C. J. Clopper, E. S. Pearson",
            title="The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
            venue="Biometrika",
            year=1934,
        ),
        "the interval of a test error",
    ),
)


def references(keys: Iterable[str] | None = None) -> tuple[Reference, ...]:
    """The publications under the keys, papers first, each once; the four papers if no key is given."""
    wanted = set(PAPERS if keys is None else keys)
    papers = [Reference(paper, "statements checked here") for key, paper in PAPERS.items() if key in wanted]
    return (*papers, *(method for method in METHODS if method.paper.key in wanted))
