"""`marginflow demo`: four pictures on one offline page, computed here and now."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from marginflow.cli.options import AsJson, Seed, written
from marginflow.cli.output import check_folder, note, tell
from marginflow.cli.progress import Report, progress
from marginflow.cli.provenance import versions

if TYPE_CHECKING:
    from marginflow.demo import Chapter


def demo(
    *,
    seed: Seed = 0,
    out: Annotated[Path, written("Folder to write; what an earlier demo left there is replaced.")] = Path(
        "marginflow-demo"
    ),
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if the KKT points found are certified, 1 if not, 130 if interrupted (finished pictures are kept)."""
    from marginflow.demo import CHAPTERS, chapters

    check_folder(out)
    began = time.perf_counter()
    found: list[Chapter] = []
    interrupted = False
    with ExitStack() as bars:

        def display(heading: str) -> Report:
            bars.close()
            return bars.enter_context(progress(heading))

        try:
            for chapter in chapters(seed, display):
                bars.close()
                note(chapter.sentence)
                found.append(chapter)
        except KeyboardInterrupt:
            if not found:
                raise
            interrupted = True
    interrupted = interrupted or found[-1].interrupted
    if interrupted:
        note(f"Interrupted; {len(found)} of {len(CHAPTERS)} pictures are kept.")
    page = _write(found, out, seed, interrupted=interrupted)
    holds = all(chapter.holds for chapter in found)
    record = {
        "page": page.resolve(),
        "seconds": time.perf_counter() - began,
        "holds": holds,
        "interrupted": interrupted,
        "chapters": {
            chapter.name: {"holds": chapter.holds, "sentence": chapter.sentence, "record": chapter.record}
            for chapter in found
        },
    }
    headings = {"seconds": "Seconds", "page": "Open"}
    return tell(record, as_json=as_json, headings=headings, holds=holds, interrupted=interrupted)


def _write(found: list[Chapter], out: Path, seed: int, *, interrupted: bool) -> Path:
    """The page, and beside it the data and networks that it speaks of."""
    from marginflow.report.demo_page import render_demo
    from marginflow.storage import write_text
    from marginflow.theory.registry import headlines

    out.mkdir(exist_ok=True)
    for chapter in found:
        for name, dataset in chapter.data.items():
            dataset.save(out / f"{name}.npz")
        for name, network in chapter.networks.items():
            network.save(out / f"{name}.safetensors")
    text = render_demo(
        {chapter.name: chapter.record for chapter in found},
        findings=headlines(),
        command="marginflow demo" + (f" --seed {seed}" if seed else ""),
        versions=versions(),
        parameters={"seed": seed},
        interrupted=interrupted,
    )
    return write_text(out / "index.html", text)
