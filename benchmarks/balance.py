"""Draw docs/_static/balance.svg: two neurons of an exact KKT point, and the samples whose pulls add up to them.

python benchmarks/balance.py

Without biases stationarity says of a neuron w_j = v_j sum_i lambda_i sigma_ij y_i x_i: the arrows of a panel are the
terms of this sum, put together tip to tail, and they end at the neuron exactly.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

import marginflow as mf
from marginflow.report.bundle import with_fonts
from marginflow.report.modes import follow_reader
from marginflow.report.plane_svg import EXACT, INK, MINUS, PAPER, PLUS
from marginflow.report.style import FONT
from marginflow.storage import write_text

TARGET = Path(__file__).parents[1] / "docs" / "_static" / "balance.svg"
SIDE, GAP, HEAD, REACH = 270.0, 14.0, 26.0, 2.15
X = np.array([[1.6, 0.4], [0.7, 1.5], [-0.5, 1.3], [-1.5, 0.3], [-1.0, -1.2], [0.4, -1.5], [1.4, -0.9]])
Y = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0])


def main() -> None:
    """Solve, take the heaviest neuron of each sign, and draw them beside each other."""
    data = mf.data.Dataset(X=X, y=Y)
    found = mf.certify(mf.kkt_point(data, width=60, bias=False, seed=0).compact, data)
    assert found.holds(1e-9)
    assert found.network.v is not None
    width = 2 * SIDE + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {SIDE + HEAD:g}" width="{width:g}" '
        f'height="{SIDE + HEAD:g}" font-family="{FONT}" font-size="14">',
        f'<rect width="{width:g}" height="{SIDE + HEAD:g}" fill="{PAPER}"/>',
    ]
    for panel, sign in enumerate((1.0, -1.0)):
        neuron = int(np.argmax(sign * found.network.v))
        parts.append(f'<g transform="translate({panel * (SIDE + GAP):g} {HEAD:g})">')
        parts += [*_neuron(found, neuron, "positive" if sign > 0 else "negative"), "</g>"]
    write_text(TARGET, follow_reader(with_fonts("\n".join([*parts, "</svg>"]))) + "\n")
    print(TARGET)


def _neuron(found: mf.Certificate, j: int, kind: str) -> list[str]:
    """One panel: the half-plane in which the neuron is on, the samples, and the chain of pulls that ends at w_j."""
    w, v = found.network.W[j], found.network.v[j]
    normal = w / np.linalg.norm(w)
    along = np.array([normal[1], -normal[0]])
    side = [*(t * along for t in (-9, 9)), *(t * along + 9 * normal for t in (9, -9))]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_on_page, side))
    parts = [
        f'<text y="-9" font-weight="bold" fill="{INK}">A {kind} neuron</text>',
        f'<clipPath id="{kind}"><rect width="{SIDE:g}" height="{SIDE:g}"/></clipPath><g clip-path="url(#{kind})">',
        f'<polygon points="{corners}" fill="{INK}" opacity="0.07"/>',
        _line(-9 * along, 9 * along, INK, 1.2, "5 4"),
    ]
    parts += [_sample(x, y) for x, y in zip(X, Y, strict=True)]
    pulls = v * (found.multipliers * found.clarke[:, j] * Y)[:, None] * X
    chosen = [i for i in range(len(Y)) if np.linalg.norm(pulls[i]) > 1e-9]
    joints = np.vstack([np.zeros(2), np.cumsum(pulls[chosen], axis=0)])
    assert np.allclose(joints[-1], w, atol=1e-9)
    for i, (start, end) in zip(chosen, itertools.pairwise(joints), strict=True):
        colour, share = PLUS if Y[i] > 0 else MINUS, found.clarke[i, j]
        x, y = _on_page(X[i])
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="none" stroke="{EXACT}" stroke-width="2.2"/>')
        parts.append(_arrow(start, end, colour, 2.6))
        words = [f"λ = {found.multipliers[i]:.2f}"]
        if 0.0 < share < 1.0:
            words.append(f"on the kink: {share:.2f} of it")
        left = x > SIDE / 2
        below = 5 if left and len(words) == 1 else 23
        for line, text in enumerate(words):
            parts.append(
                f'<text x="{x - 16 if left else x + 16:.1f}" y="{y + below + 16 * line:.1f}" '
                f'text-anchor="{"end" if left else "start"}" fill="{INK}">{text}</text>'
            )
    parts.append(_arrow(np.zeros(2), w, INK, 4.0))
    away = along if (joints.mean(axis=0) - w / 2) @ along < 0 else -along
    x, y = _on_page(w / 2 + 0.17 * away)
    parts.append(f'<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" font-weight="bold" fill="{INK}">w</text></g>')
    return parts


def _on_page(point: np.ndarray) -> tuple[float, float]:
    return SIDE / 2 * (1 + float(point[0]) / REACH), SIDE / 2 * (1 - float(point[1]) / REACH)


def _line(start: np.ndarray, end: np.ndarray, colour: str, width: float, dashes: str = "") -> str:
    (x1, y1), (x2, y2) = _on_page(start), _on_page(end)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _arrow(start: np.ndarray, end: np.ndarray, colour: str, width: float) -> str:
    """A line that ends in a triangle whose tip is the end itself."""
    ahead = (end - start) / np.linalg.norm(end - start)
    beside, size = np.array([-ahead[1], ahead[0]]), 0.045 * width
    foot = end - 2.0 * size * ahead
    tip = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_on_page, (end, foot + size * beside, foot - size * beside)))
    return _line(start, foot, colour, width) + f'<polygon points="{tip}" fill="{colour}"/>'


def _sample(point: np.ndarray, label: float) -> str:
    x, y = _on_page(point)
    style = f'fill="{PLUS if label > 0 else MINUS}" stroke="{PAPER}" stroke-width="1.2"'
    if label > 0:
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.6" {style}/>'


if __name__ == "__main__":
    main()
