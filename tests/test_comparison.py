"""docs/comparison.md: every claim has commands beside it, and what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

from marginflow.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]


def test_every_claim_of_the_comparison_names_commands_that_exist() -> None:
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    claims = re.findall(r"^\| .+ \| \[\d\]\(#([a-z-]+)\) \|$", page, re.MULTILINE)
    sections = {text.partition("\n")[0].lower().replace(" ", "-"): text for text in page.split("\n## ")[1:]}
    assert len(claims) == sum(line.startswith("| ") for line in page.partition("\n## ")[0].splitlines()) - 1
    assert set(claims) == set(sections)
    for name, text in sections.items():
        code = re.search(r"```sh\n(.+?)```", text, re.DOTALL)
        assert code is not None, name
        scripts = re.findall(r"python (benchmarks/\w+\.py)", code[1])
        commands = re.findall(r"^marginflow (\S+)", code[1], re.MULTILINE)
        assert scripts or commands, name
        assert all((ROOT / script).is_file() for script in scripts), scripts
        assert set(commands) <= set(COMMANDS)
