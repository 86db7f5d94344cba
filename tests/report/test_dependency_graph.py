"""The picture of what a statement rests on: all of it, and no line across a box."""

from __future__ import annotations

import re

import numpy as np
import pytest

from marginflow import theory
from marginflow.report.dependency_graph import Layout, Place, dependency_graph, layout
from marginflow.theory import dependencies
from marginflow.theory.record import proof_record

RESTING = [statement.id for statement in theory.statements() if dependencies.rests_on(statement.id)]
NUMBER = r"(-?[\d.]+)"


def boxes(graph: str) -> np.ndarray:
    found = re.findall(rf'<rect x="{NUMBER}" y="{NUMBER}" width="{NUMBER}" height="{NUMBER}"', graph)
    x, y, width, height = np.array(found, dtype=float).T
    return np.stack([x, y, x + width, y + height])


def lines(graph: str) -> np.ndarray:
    """Points of every line, as a browser draws it."""
    points = []
    t = np.linspace(0, 1, 60)[:, None]
    for path in re.findall(r'<path d="([^"]+)"', graph):
        for x, y, end in re.findall(rf"M{NUMBER},{NUMBER} H{NUMBER}", path):
            points.append(np.array([float(x), float(y)]) * (1 - t) + np.array([float(end), float(y)]) * t)
        (bend,) = re.findall(rf"M{NUMBER},{NUMBER} C{NUMBER},{NUMBER} {NUMBER},{NUMBER} {NUMBER},{NUMBER}", path)
        a, b, c, d = np.array(bend, dtype=float).reshape(4, 2)
        points.append(a * (1 - t) ** 3 + 3 * b * t * (1 - t) ** 2 + 3 * c * t**2 * (1 - t) + d * t**3)
    return np.concatenate(points)


@pytest.mark.parametrize("id", RESTING)
def test_no_line_crosses_a_box_and_no_box_another(id: str) -> None:
    graph = dependency_graph(proof_record(id))
    left, top, right, bottom = boxes(graph)
    x, y = lines(graph).T[..., None]
    assert not ((x > left) & (x < right) & (y > top) & (y < bottom)).any()
    apart = (right[:, None] <= left) | (bottom[:, None] <= top)
    assert (apart | apart.T | np.eye(len(left), dtype=bool)).all()


def reached(found: Layout, place: Place) -> set[str]:
    """The statements at the ends of the lines that leave a place."""
    names = set()
    for start, end in found.edges:
        if start == place:
            names |= {end.target} if found.boxes[end.target] == end else reached(found, end)
    return names


@pytest.mark.parametrize("id", RESTING)
def test_lines_join_what_a_proof_uses_and_nothing_else(id: str) -> None:
    found = layout(proof_record(id))
    assert found is not None
    assert set(found.boxes) == {id, *dependencies.rests_on(id)}
    for node, place in found.boxes.items():
        assert reached(found, place) == set(dependencies.direct().get(node, ())) & set(found.boxes)


def test_what_is_shaken_is_marked_and_names_of_the_same_paper_are_short() -> None:
    graph = dependency_graph(proof_record("KYS23/Thm3.2"))
    for name in ("Thm3.2", "PropA.4", "LemA.6"):
        assert f">{name}</text>" in graph
    assert 'fill="var(--bad)" text-anchor="middle" font-size="12">PropA.4' in graph
    assert "<a " not in graph
    assert dependency_graph(proof_record("VYS22/LemC.4")) == ""


def test_boxes_lead_to_their_pages() -> None:
    graph = dependency_graph(proof_record("KYS23/Thm3.2"), lambda node: f"{node}.html")
    targets = re.findall(r'<a href="([^"]+)"', graph)
    assert sorted(targets) == sorted(f"{node}.html" for node in dependencies.rests_on("KYS23/Thm3.2"))
