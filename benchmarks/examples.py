"""What became of every statement's example and control: `python benchmarks/examples.py` writes docs/examples.json.

The site shows it on the page of each statement, where judging them all would take minutes at every build; a test
compares instances and outcomes with the statements as they are.
"""

from __future__ import annotations

import json
from pathlib import Path

from marginflow import theory
from marginflow.storage import write_text
from marginflow.theory.bibliography import PAPERS
from marginflow.theory.conformance import on_control, on_example

TARGET = Path(__file__).resolve().parents[1] / "docs" / "examples.json"


def main() -> None:
    found = {
        statement.id: {
            "example": _said(on_example(statement)),
            "control": _said(on_control(statement)),
        }
        for key in PAPERS
        for statement in theory.statements(key)
    }
    write_text(TARGET, json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    print(f"{len(found)} statements in {TARGET}")


def _said(verdict: theory.Verdict) -> dict[str, str]:
    return {"instance": verdict.instance, "outcome": verdict.outcome, "reason": verdict.reason}


if __name__ == "__main__":
    main()
