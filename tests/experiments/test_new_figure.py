"""A newcomer adds a figure in one new file, and nothing else is changed."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

TEMPLATE = Path(__file__).parents[2] / "docs" / "figure_template.py"


def test_the_template_is_found_computed_judged_and_drawn(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "few_samples.py").write_text(TEMPLATE.read_text())
    (tmp_path / "sitecustomize.py").write_text(
        f"import marginflow.experiments.vys22 as room\nroom.__path__.append({str(room)!r})\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])  # worker processes find it as well

    line = ["figure", "VYS22/FewSamples.ours", "--size", "smoke", "--out", str(tmp_path / "out"), "--images", "svg"]
    code = f"import sys; from marginflow.cli import main; sys.exit(main(['figure']) or main({line!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert "VYS22/FewSamples.ours" in done.stdout.split("Our numbers bear out the claim")[0]
    assert "Our numbers bear out the claim" in done.stdout
    name = "VYS22-FewSamples.ours-smoke"
    assert {path.suffix for path in (tmp_path / "out").glob(f"{name}.*")} == {".html", ".csv", ".json", ".svg"}
    with (tmp_path / "out" / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["dimension"], row["seed"]) for row in rows] == [("9", "0"), ("9", "1"), ("16", "0"), ("16", "1")]
