"""The papers, and the keys under which everything cites them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


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
        Of the BibTeX entry (article, inproceedings), and the journal or the proceedings.
    """

    key: str
    title: str
    authors: str
    year: int
    kind: str = "article"
    venue: str = ""

    def __str__(self) -> str:
        return f"[{self.key}] {self.authors}. {self.title}. {self.year}."


NEURIPS: Final = "Advances in Neural Information Processing Systems"
PAPERS: Final[dict[str, Paper]] = {
    paper.key: paper
    for paper in (
        Paper(
            key="VYS22",
            title="Gradient Methods Provably Converge to Non-Robust Networks",
            authors="G. Vardi, G. Yehudai, O. Shamir",
            year=2022,
            kind="inproceedings",
            venue=NEURIPS,
        ),
        Paper(
            key="FVBS23",
            title="The Double-Edged Sword of Implicit Bias: Generalization vs. Robustness in ReLU Networks",
            authors="S. Frei, G. Vardi, P. L. Bartlett, N. Srebro",
            year=2023,
            kind="inproceedings",
            venue=NEURIPS,
        ),
        Paper(
            key="KYS23",
            title="From Tempered to Benign Overfitting in ReLU Neural Networks",
            authors="G. Kornowski, G. Yehudai, O. Shamir",
            year=2023,
            kind="inproceedings",
            venue=NEURIPS,
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
