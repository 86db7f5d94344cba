"""The plane as one SVG element: heat as a small picture, contours, lines of neurons, samples, rings."""

import base64
import struct
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from marginflow.arrays import FloatArray

COLUMNS, ROWS = 204, 120
PAPER, INK, PLUS, MINUS, EXACT = "#fdfcfa", "#1d2129", "#c25504", "#1b69b1", "#a3195b"
# What each becomes for a reader who prefers dark (`modes`).
DARK_TWINS: Final = {PAPER: "#12151a", INK: "#e9ecf1", PLUS: "#f39a4a", MINUS: "#6ab3f1", EXACT: "#ff82b8"}


def plane_svg(record: Mapping[str, Any], *, width: float = 680.0) -> str:
    """The text of an SVG element in light colours; `record` as in `marginflow.plot.plane`."""
    samples, frame = np.array(record["samples"], dtype=np.float64), record["point"]
    neurons = np.array(frame["neurons"], dtype=np.float64).reshape(-1, 4)
    height = width * 10 / 17
    low, high = samples[:, :2].min(axis=0), samples[:, :2].max(axis=0)
    middle = (low + high) / 2
    reach = max((high[0] - low[0]) / 1.7, high[1] - low[1], 1e-12) * 0.58
    unit = width / (3.4 * reach)

    def on_page(points: FloatArray) -> FloatArray:
        moved: FloatArray = (points - middle) * [unit, -unit] + [width / 2, height / 2]
        return moved

    xs = middle[0] + reach * np.linspace(-1.7, 1.7, COLUMNS + 1)
    ys = middle[1] + reach * np.linspace(1.0, -1.0, ROWS + 1)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1)
    values = np.zeros(grid.shape[:2])
    for a, b, c, sign in neurons:
        values += sign * np.maximum(grid @ [a, b] + c, 0.0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}"><clipPath id="frame"><rect width="{width:g}" height="{height:g}"/></clipPath>'
        '<g clip-path="url(#frame)">',
        f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>',
        f'<image href="data:image/png;base64,{_heat(values)}" width="{width:g}" height="{height:g}" '
        'preserveAspectRatio="none"/>',
        *_kinks(neurons, middle, reach, on_page),
    ]
    curves = [(0.0, PAPER, 6.0), (0.0, INK, 2.8)]
    if frame["separates"]:
        curves = [(1.0, PLUS, 1.6), (-1.0, MINUS, 1.6), *curves]
    for level, colour, line in curves:
        path = "".join(
            f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
            for (x1, y1), (x2, y2) in map(on_page, _contour(values, level, xs, ys))
        )
        parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="{line}" stroke-linecap="round" fill="none"/>')
    size = max(3.0, width / 150)
    for (x, y), label in zip(on_page(samples[:, :2]), samples[:, 2], strict=True):
        style = f'fill="{PLUS if label > 0 else MINUS}" stroke="{PAPER}" stroke-width="1.2"'
        if label > 0:
            parts.append(
                f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size:.1f}" height="{2 * size:.1f}" {style}/>'
            )
        else:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{1.12 * size:.1f}" {style}/>')
    for index in frame["on_margin"]:
        x, y = on_page(samples[int(index), :2])
        for colour, line in ((PAPER, 5.0), (EXACT, 2.4)):
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2.5 * size:.1f}" fill="none" stroke="{colour}" '
                f'stroke-width="{line}"/>'
            )
    return "".join(parts) + "</g></svg>"


def _kinks(neurons: FloatArray, middle: FloatArray, reach: float, on_page: Any) -> list[str]:
    """The line w.x + b = 0 of every neuron, as dark as its share of the weight."""
    weights = np.linalg.norm(neurons[:, :3], axis=1)
    drawn = []
    for (a, b, c, _), weight in zip(neurons, weights, strict=True):
        size = float(np.hypot(a, b))
        if size == 0.0:
            continue
        normal, along = np.array([a, b]) / size, np.array([b, -a]) / size
        foot = middle - normal * (normal @ middle + c / size)
        (x1, y1), (x2, y2) = on_page(np.array([foot - 6 * reach * along, foot + 6 * reach * along]))
        opacity = min(0.95, 0.05 + 3.2 * weight / weights.sum())
        drawn.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{INK}" stroke-opacity="{opacity:.2f}"/>')
    return drawn


def _contour(values: FloatArray, level: float, xs: FloatArray, ys: FloatArray) -> list[FloatArray]:
    """Segments of the level line by marching squares, each of shape (2, 2)."""
    above = values > level
    cells = np.argwhere(
        (above[:-1, :-1] != above[1:, 1:]) | (above[:-1, 1:] != above[1:, :-1]) | (above[:-1, :-1] != above[:-1, 1:])
    )
    segments = []
    for r, c in cells:
        corners = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
        crossings = []
        for (r1, c1), (r2, c2) in zip(corners, [*corners[1:], corners[0]], strict=True):
            if above[r1, c1] != above[r2, c2]:
                u, v = values[r1, c1] - level, values[r2, c2] - level
                t = u / (u - v)
                crossings.append([xs[c1] + t * (xs[c2] - xs[c1]), ys[r1] + t * (ys[r2] - ys[r1])])
        segments += [np.array(crossings[k : k + 2]) for k in range(0, len(crossings) - 1, 2)]
    return segments


def _heat(values: FloatArray) -> str:
    """The outputs as colours, as opaque as they are large up to 1.5 times their median size; a PNG in base 64."""
    cut = 1.5 * float(np.median(np.abs(values))) or 1.0
    share = 0.52 * np.minimum(1.0, np.abs(values) / cut)[..., None]
    plus, minus = (np.array([int(name[k : k + 2], 16) for k in (1, 3, 5)]) for name in (PLUS, MINUS))
    hue = np.where(values[..., None] > 0, plus, minus)
    pixels = np.rint(np.concatenate([hue, 255.0 * share], axis=-1)).astype(np.uint8)
    return base64.b64encode(png(pixels)).decode("ascii")


def png(pixels: np.ndarray) -> bytes:
    """An array of shape (rows, columns, 3 or 4) of bytes as a PNG file [W3C, Portable Network Graphics].

    The fourth number of a pixel is how opaque it is.
    """
    rows, columns, depth = pixels.shape

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    lines = np.concatenate([np.zeros((rows, 1), dtype=np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", columns, rows, 8, 6 if depth == 4 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
