"""The picture of the README: where training ends and the KKT point beside it, light and dark in one SVG.

Run `marginflow demo` first; this reads its files:

    python benchmarks/moons_picture.py marginflow-demo docs/_static/moons.svg
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import marginflow as mf
from marginflow.plot.plane import PlanePicture
from marginflow.report.modes import follow_reader
from marginflow.report.plane_svg import EXACT, INK
from marginflow.storage import write_text

WIDTH, GAP, HEAD, FOOT = 440, 20, 40, 34


def panel(picture: PlanePicture, left: int, heading: str, colour: str, caption: str) -> str:
    """One picture with its heading above and what is to be seen below."""
    name = f"frame-{left}"
    drawn = re.sub(r"^<svg ", f'<svg x="{left}" y="{HEAD}" ', picture.svg, count=1).replace("frame", name)
    below = HEAD + WIDTH * 10 / 17 + 24
    return (
        f'<text x="{left}" y="26" font-size="21" font-weight="bold" fill="{colour}">{heading}</text>{drawn}'
        f'<text x="{left}" y="{below:g}" font-size="16" fill="{INK}">{caption}</text>'
    )


def picture(folder: Path) -> str:
    """Both panels."""
    data = mf.data.Dataset.load(folder / "moons.npz")
    drawn = []
    for name in ("trained", "kkt"):
        network = mf.networks.TwoLayer.load(folder / f"moons-{name}.safetensors")
        drawn.append(mf.plot.plane(network, data, width=WIDTH))
    before, after = (found.record["point"] for found in drawn)
    n, height = data.n_samples, HEAD + WIDTH * 10 / 17 + FOOT
    words = [
        f"{found['directions']} neurons, {len(found['on_margin'])} of {n} samples on the margin"
        for found in (before, after)
    ]
    body = panel(drawn[0], 0, "where training ends", INK, words[0])
    body += panel(drawn[1], WIDTH + GAP, "the KKT point", EXACT, words[1])
    width = 2 * WIDTH + GAP
    return follow_reader(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
        f'font-family="Source Sans 3, system-ui, sans-serif">{body}</svg>'
    )


if __name__ == "__main__":
    print(write_text(sys.argv[2], picture(Path(sys.argv[1]))))
