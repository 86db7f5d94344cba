"""What a statement rests on, drawn in layers: lines run between the boxes and never across one.

A line that passes a layer has a place of its own there, as a box has; lines to the same statement share it. Layers are
put in an order with few crossings, and every place as near to what it is joined to as its neighbours allow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy.optimize import isotonic_regression

Record = Mapping[str, Any]

_HEIGHT: Final = 28  # of a box
_LANE: Final = 4  # of the place of a line
_SPACE: Final = 12  # between two places of a layer
_BETWEEN: Final = 44  # between two layers, where lines bend
_LETTER: Final = 7.0  # of the text, at 12 px
_SWEEPS: Final = 12


@dataclass(frozen=True, order=True)
class Place:
    """Where a statement stands, or where lines to it pass a layer before its own."""

    layer: int
    target: str


@dataclass(frozen=True)
class Layout:
    """Places with their middle (x of the left edge, y), what joins them, and the size of it all."""

    boxes: Mapping[str, Place]
    edges: Sequence[tuple[Place, Place]]
    y: Mapping[Place, float]
    box_width: float
    width: float
    height: float

    def x(self, place: Place) -> float:
        """The left edge of a place."""
        return place.layer * (self.box_width + _BETWEEN)


def layout(proof: Record) -> Layout | None:
    """Places of everything that a statement rests on; None where nothing is known of its proof."""
    uses = proof["uses"]
    if len(uses) == 1:
        return None
    boxes = {node: Place(layer, node) for node, layer in _layers(uses).items()}
    edges = sorted({edge for node in uses for other in uses[node] for edge in _route(boxes[node], boxes[other])})
    y = _heights(_ordered(edges), edges, frozenset(boxes.values()))
    box_width = max(len(label(node, proof["id"])) for node in uses) * _LETTER + 16
    last = max(place.layer for place in boxes.values())
    bottom = max(y[place] for place in y) + _HEIGHT / 2 + 2
    return Layout(boxes, edges, y, box_width, (last + 1) * (box_width + _BETWEEN) - _BETWEEN, bottom)


def label(node: str, id: str) -> str:
    """The name of a statement; its paper is left out where it is that of the page."""
    return node.removeprefix(id.partition("/")[0] + "/")


def _layers(uses: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The longest way to every statement from the first."""
    layer = dict.fromkeys(uses, 0)
    for node in reversed(tuple(TopologicalSorter(uses).static_order())):
        for other in uses[node]:
            layer[other] = max(layer[other], layer[node] + 1)
    return layer


def _route(start: Place, end: Place) -> list[tuple[Place, Place]]:
    """From layer to layer through the places of lines to `end`."""
    way = [start, *(Place(layer, end.target) for layer in range(start.layer + 1, end.layer)), end]
    return list(pairwise(way))


def _ordered(edges: Sequence[tuple[Place, Place]]) -> list[list[Place]]:
    """Every layer from top to bottom: by the mean of the neighbours, back and forth, the fewest crossings kept."""
    places = sorted({place for edge in edges for place in edge})
    layers = [[p for p in places if p.layer == number] for number in range(places[-1].layer + 1)]
    best, fewest = layers, _crossings(layers, edges)
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        layers = [list(layer) for layer in layers]
        for number in range(1, len(layers)) if forth else range(len(layers) - 2, -1, -1):
            row = {place: index for index, place in enumerate(layers[number - 1 if forth else number + 1])}
            mean = {place: _mean(place, edges, row) for place in layers[number]}
            layers[number].sort(key=mean.__getitem__)
        if (crossings := _crossings(layers, edges)) < fewest:
            best, fewest = layers, crossings
    return best


def _mean(place: Place, edges: Sequence[tuple[Place, Place]], at: Mapping[Place, float]) -> float:
    near = [at[b if a == place else a] for a, b in edges if place in (a, b) and (b if a == place else a) in at]
    return float(np.mean(near)) if near else 0.0


def _crossings(layers: Sequence[Sequence[Place]], edges: Sequence[tuple[Place, Place]]) -> int:
    row = {place: index for layer in layers for index, place in enumerate(layer)}
    found = [(a.layer, row[a], row[b]) for a, b in edges]
    return sum(p[0] == q[0] and (p[1] - q[1]) * (p[2] - q[2]) < 0 for i, p in enumerate(found) for q in found[:i])


def _heights(
    layers: Sequence[Sequence[Place]], edges: Sequence[tuple[Place, Place]], boxes: frozenset[Place]
) -> dict[Place, float]:
    """The middle of every place, by least squares near its neighbours' with room for what stands between."""
    y: dict[Place, float] = {}
    room = [np.array([_HEIGHT if place in boxes else _LANE for place in layer]) for layer in layers]
    offset = [np.concatenate([[0.0], np.cumsum((size[1:] + size[:-1]) / 2 + _SPACE)]) for size in room]
    for layer, down in zip(layers, offset, strict=True):
        y |= dict(zip(layer, (down - down[-1] / 2).tolist(), strict=True))
    for _ in range(_SWEEPS):
        for layer, down in zip(layers, offset, strict=True):
            wanted = np.array([_mean(place, edges, y) for place in layer])
            y |= dict(zip(layer, (isotonic_regression(wanted - down).x + down).tolist(), strict=True))
    top = min(y[place] - (_HEIGHT if place in boxes else _LANE) / 2 for place in y) - 2
    return {place: y[place] - top for place in y}


def dependency_graph(proof: Record, link: Callable[[str], str] | None = None) -> str:
    """What a statement rests on as an SVG: what stands right is used by what stands left; shaken ones are red.

    Parameters
    ----------
    proof : mapping
        Of `marginflow.theory.record.proof_record`: `id`, what each statement `uses`, and which are `shaken`.
    link : callable, optional
        The address of a statement's page; without it boxes lead nowhere.

    Returns
    -------
    str
        Empty where nothing is known of the proof.
    """
    found, id = layout(proof), str(proof["id"])
    if found is None:
        return ""
    drawn = [_line(found, a, b) for a, b in found.edges]
    for node, place in found.boxes.items():
        box = _box(found, place, label(node, id), shaken=node in proof["shaken"])
        drawn.append(f'<a href="{escape(link(node))}">{box}</a>' if link is not None and node != id else box)
    names = escape(", ".join(node for node in found.boxes if node != id))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(id)} rests on {names}" '
        f'viewBox="0 0 {found.width:.0f} {found.height:.0f}" width="{found.width:.0f}" height="{found.height:.0f}">'
        f"{''.join(drawn)}</svg>"
    )


def _line(found: Layout, a: Place, b: Place) -> str:
    """Level across the layer of `a` where it is not a box, then a bend between the layers."""
    left, right = found.x(a) + found.box_width, found.x(b)
    start = "" if a in found.boxes.values() else f"M{found.x(a):.1f},{found.y[a]:.1f} H{left:.1f} "
    middle = (left + right) / 2
    return (
        f'<path d="{start}M{left:.1f},{found.y[a]:.1f} C{middle:.1f},{found.y[a]:.1f} {middle:.1f},{found.y[b]:.1f} '
        f'{right:.1f},{found.y[b]:.1f}" stroke="currentColor" stroke-opacity="0.45" fill="none"/>'
    )


def _box(found: Layout, place: Place, text: str, *, shaken: bool) -> str:
    x, y = found.x(place), found.y[place]
    colour = "var(--bad)" if shaken else "currentColor"
    return (
        f'<rect x="{x + 1:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{found.box_width - 2:.1f}" height="{_HEIGHT}" rx="6" '
        f'fill="none" pointer-events="all" stroke="{colour}"/><text x="{x + found.box_width / 2:.1f}" y="{y + 4:.1f}" '
        f'fill="{colour}" text-anchor="middle" font-size="12">{escape(text)}</text>'
    )
