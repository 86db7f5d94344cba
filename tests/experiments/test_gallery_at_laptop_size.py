"""The gallery's figures at laptop size: what each line says of a claim is judged again from the rows beside it."""

from __future__ import annotations

import re

import pytest
from gallery_rows import GALLERY, values_of

from marginflow import experiments

WORDS = re.compile(r"\*\*(borne out|not borne out|undecided)\*\*", re.IGNORECASE)
NAMES = sorted(path.name.removesuffix("-laptop.csv") for path in GALLERY.glob("*-laptop.csv"))


def said_of(name: str, text: str) -> str:
    """The first judgement after the picture of a figure, or after its name in a table."""
    drawn, listed = rf"\({re.escape(name)}-laptop[-\d]*\.svg\)", rf"^\| {re.escape(name.replace('-', '/'))} \|"
    begin = re.search(f"{drawn}|{listed}", text, re.MULTILINE)
    assert begin is not None, f"the gallery does not show {name}"
    word = WORDS.search(text, begin.end())
    assert word is not None
    return word[1].lower()


@pytest.mark.parametrize("name", NAMES)
def test_the_gallery_judges_a_claim_as_the_rows_do(name: str) -> None:
    figure = experiments.figure(name.replace("-", "/"))
    result = figure.of_rows(values_of(GALLERY / f"{name}-laptop.csv"), "laptop")
    assert said_of(name, (GALLERY / "README.md").read_text(encoding="utf-8")) == result.outcome.status


def test_a_judgement_is_read_from_the_line_of_its_own_figure() -> None:
    text = "![a](A-Fig1-laptop-2.svg)\n\n**Borne out** so.\n\n| B/Fig2 | **not borne out** | x |\n"
    assert said_of("A-Fig1", text) == "borne out"
    assert said_of("B-Fig2", text) == "not borne out"
    with pytest.raises(AssertionError, match="does not show"):
        said_of("C-Fig3", text)
