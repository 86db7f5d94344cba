"""The pages of hunts and of the atlas say what their rows say."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((DOCS / f"{name}.json").read_text(encoding="utf-8"))
    return rows


def text_of(path: str) -> str:
    return (DOCS / path).read_text(encoding="utf-8")


def test_the_page_of_hunts_is_written_from_its_rows() -> None:
    assert script("hunts").page(rows_of("hunts")) == text_of("measurements/hunts.md")


def test_the_atlas_is_written_from_its_rows() -> None:
    atlas, rows = script("atlas"), rows_of("atlas")
    assert atlas.page(rows) == text_of("measurements/atlas.md")
    assert atlas.picture(rows) == text_of("atlas.svg")


def test_the_guide_counts_the_outcomes_of_the_atlas() -> None:
    atlas, rows = script("atlas"), rows_of("atlas")
    grades = [atlas.grade(row) for row in rows]
    said = {name: int(count) for name, count in re.findall(r"^\| ([a-z][^|]+?) \| (\d+) \|", text_of("atlas.md"), re.M)}
    assert said == {name: grades.count(name) for name in grades}
    (example,) = (row for row in rows if row["id"] == "VYS22/LemC.9")
    assert f"has ‖z‖ = {example['observed']:.4g} and the bound 183.6" in " ".join(text_of("atlas.md").split())
    assert f"{example['bound']:.4g}" == "183.6"
    assert f"The *factor* is {atlas.factor(example):.3g}" in text_of("atlas.md")
    few = [row for row in rows if row["outcome"] == "not refuted" and row["applied"] < atlas.FEW]
    assert len(few) == 6, "the guide says that six rows rest on fewer than ten instances"


def test_the_guide_of_hunts_says_what_was_found() -> None:
    rows, text = rows_of("hunts"), " ".join(text_of("hunt.md").split())
    false, true = ([row for row in rows if row["part"] == part] for part in ("false", "true"))
    found = [row for row in false if row["outcome"] in ("refuted", "proof step fails")]
    seconds = [row["seconds"] for row in false]
    assert f"{len(found)} of {len(false)} hunts found it, in {min(seconds):g} to {max(seconds):.0f} seconds" in text
    hardest = [row["tries"] for row in false if row["id"] == "KYS23/Thm3.2.sandwich"]
    assert f"after {min(hardest):,} to {max(hardest):,} instances" in text
    assert not any(row["outcome"] in ("refuted", "candidate", "proof step fails") for row in true)
    least = min(row["tries"] for row in true)
    assert (
        f"{len(true)} hunts of {len({row['id'] for row in true})} statements that hold, {least} instances each" in text
    )
    longer = {id: max(row["tries"] for row in false if row["id"] == id) for id in {row["id"] for row in false}}
    assert {id: most for id, most in longer.items() if most > least} == {
        "KYS23/LemA.7": 808,
        "KYS23/Thm3.2.sandwich": 3887,
    }
