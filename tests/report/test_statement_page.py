"""The page of one statement: everything that a referee asks, from the same parts as the documentation."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from marginflow import theory
from marginflow.cli import main
from marginflow.report.dependency_graph import dependency_graph
from marginflow.report.statement_page import bibtex, parts
from marginflow.theory.record import map_record, page_record, proof_record


class Outline(HTMLParser):
    """Headings, and whether tags are closed in order."""

    VOID = ("meta", "path", "rect", "link", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2", "dt"):
            self.headings.append(data.strip())


@pytest.mark.parametrize("id", ["KYS23/Thm3.2", "VYS22/Thm4.1", "VYS22/OQ9", "KYS23/Prop4.5"])
def test_a_page_has_everything_that_a_referee_asks(id: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert main(["statements", id, "--html", "--out", str(out)]) == 0
    assert main(["statements", id, "--html", "--out", str(out)]) == 2, "nothing is overwritten unasked"
    text = out.read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(text)
    assert not outline.open
    assert {"Formula", "Needs", "On the example", "BibTeX"} <= set(outline.headings)
    assert "<math" in text
    assert "@inproceedings{" in text
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    if dependency_graph(proof_record(id)):
        assert "What it rests on" in outline.headings


def test_every_statement_has_its_parts() -> None:
    for statement in theory.statements():
        found = parts(page_record(statement, judge=False))
        titles = [part.title for part in found]
        assert titles[0] == "Formula"
        assert len(titles) == len(set(titles))
        assert all(part.formula or part.text or part.items or part.code for part in found)
        assert bibtex(statement.id).startswith("@")


def test_a_page_is_about_one_statement(tmp_path: Path) -> None:
    assert main(["statements", "--html"]) == 2
    assert main(["statements", "VYS22/Thm4.1", "--out", str(tmp_path / "x.html")]) == 2


def test_every_statement_with_a_map_shows_it_on_two_axes_and_names_its_command(tmp_path: Path) -> None:
    mapped = [statement for statement in theory.statements() if statement.region is not None]
    assert len(mapped) >= 14
    for statement in mapped:
        found = map_record(statement)
        assert found is not None, statement.id
        assert len(found["axes"]) == 2, statement.id
        assert found["command"].startswith(f"marginflow map {statement.id} --grid ")
    assert map_record(theory.statement("VYS22/LemC.1")) is None
    assert main(["statements", "VYS22/Thm4.1", "--html", "--out", str(tmp_path / "a.html")]) == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Where it says something" in page
    assert 'fill="var(--map-speaks)"' in page  # cells that say something
    assert "yᵢ N(xᵢ − yᵢ z)" in page
    assert "≤" in page


def test_the_sentence_about_a_control_keeps_its_capitals() -> None:
    found = {part.title: part.text for part in parts(page_record(theory.statement("VYS22/Thm4.1"), judge=False))}
    assert found["Control"].startswith("The network")
    assert "is not a KKT point" in found["Control"]


def test_names_of_commands_stand_as_code(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["statements", "VYS22/Thm4.1", "--html", "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "let <code>marginflow limit</code> find one" in text
    assert "`" not in text
