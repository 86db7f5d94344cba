"""The atlas of tightness: hunt every statement that has a family, and say how near its bound ever came.

    python benchmarks/atlas.py --time-limit 5

hunts each of them for so many seconds and writes docs/atlas.json (the rows), docs/atlas.svg and docs/atlas.md. Rows
that are there already are kept unless --again is given, so that it can be stopped and continued.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from marginflow import InputError, theory
from marginflow.theory.hunting import FAMILIES

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHARP, LOOSE = 0.01, 0.9


def row_of(id: str, seconds: float, seed: int) -> dict[str, object]:
    """One hunt as a row."""
    statement = theory.statement(id)
    try:
        found = theory.hunt(id, seconds=seconds, seed=seed)
    except InputError as error:
        return {"id": id, "kind": statement.kind, "outcome": "hypotheses not met", "slack": None, "why": str(error)}
    deciding = None if found.verdict is None else found.verdict.deciding
    return {
        "id": id,
        "kind": statement.kind,
        "outcome": found.outcome,
        "slack": found.slack,
        "check": "" if deciding is None else str(deciding),
        "relation": "" if deciding is None else deciding.relation,
        "bound": None if deciding is None else deciding.bound,
        "worst": found.worst,
        "family": found.family,
        "tries": found.tries,
        "applied": found.applied,
        "telling": found.telling,
        "seconds": round(seconds, 1),
        "seed": seed,
        "proof": found.proof,
    }


def grade(row: dict[str, object]) -> str:
    """How tight, in words."""
    slack = row["slack"]
    if row["outcome"] in ("refuted", "candidate", "proof step fails", "does not bite", "hypotheses not met"):
        return str(row["outcome"])
    if not isinstance(slack, float | int):
        return "no number"
    if row["relation"] == "==":
        return "identity"
    if row["bound"] == 0:
        return "a sign"
    if slack <= SHARP:
        return "sharp"
    if slack >= LOOSE:
        return "loose by a factor of 10 and more"
    return "within a factor of 10"


GRADES = (
    ("refuted", "A counterexample was found and proved."),
    ("candidate", "A claim failed in floating point or by counting; nothing is proved."),
    ("proof step fails", "No claim failed, a step of the printed proof did."),
    ("sharp", "Some instance comes within 1 % of the bound: the constant cannot be improved, or hardly."),
    ("within a factor of 10", "The worst instance found uses more than a tenth of the bound."),
    ("loose by a factor of 10 and more", "No instance that was tried uses a tenth of the bound."),
    (
        "a sign",
        "The bound is 0, so that a relative slack says nothing; the worst value that was found stands in its row.",
    ),
    ("identity", "The claims are equalities; all instances met them."),
    ("does not bite", "The hypotheses were met, but the bound said nothing on any instance."),
    ("hypotheses not met", "No instance of the family met the hypotheses within the time."),
)


def factor(row: dict[str, object]) -> float | None:
    """Bound over observed at the worst instance (or its inverse): 1 is sharp."""
    slack = row["slack"]
    if not isinstance(slack, float | int) or row["relation"] == "==" or row["bound"] == 0 or slack < 0:
        return None
    return 1 / (1 - slack) if slack < 1 else math.inf


def picture(rows: list[dict[str, object]]) -> str:
    """Bars of the factor on a logarithmic scale, as SVG."""
    bars = [(str(row["id"]), factor(row)) for row in rows]
    bars = sorted(((id, f) for id, f in bars if f is not None), key=lambda bar: bar[1])
    height, width, left = 16, 720, 190
    top = math.log10(1e4)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height * len(bars) + 40}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for power in range(5):
        x = left + (width - left - 70) * power / top
        parts.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{height * len(bars) + 24}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="14" text-anchor="middle" fill="#555">{10**power:,}</text>')
    for index, (id, f) in enumerate(bars):
        y = 24 + height * index
        length = (width - left - 70) * min(math.log10(max(f, 1.0)), top) / top
        colour = "#1b7837" if f <= 1 / (1 - SHARP) else "#2166ac" if f < 10 else "#b2182b"
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{id}</text>')
        parts.append(
            f'<rect x="{left}" y="{y + 2}" width="{max(length, 1.5):.1f}" height="{height - 5}" fill="{colour}"/>'
        )
        told = "no instance uses any of it" if math.isinf(f) else f"{f:.3g}"
        parts.append(f'<text x="{left + max(length, 1.5) + 4:.1f}" y="{y + 11}" fill="#333">{told}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def page(rows: list[dict[str, object]]) -> str:
    """The rows as Markdown, by grade and then by slack."""
    lines = [
        "# The atlas of tightness",
        "",
        "How near does each bound ever come to failing? Every statement with a family of instances was hunted "
        "(`marginflow hunt ID`), hypotheses as hard constraints, and the instance with the least relative slack is "
        "kept:",
        "slack = (distance from the bound) / (the larger side). `python benchmarks/atlas.py` writes this page and its "
        "rows,",
        "[atlas.json](atlas.json), again. What was not found in so short a time may exist: a row is evidence, not a "
        "proof,",
        "except where it says refuted.",
        "",
        "![bound over observed at the worst instance found](atlas.svg)",
        "",
    ]
    for name, meaning in GRADES:
        chosen = [row for row in rows if grade(row) == name]
        if not chosen:
            continue
        chosen.sort(key=lambda row: (row["slack"] is None, row["slack"] or 0.0, str(row["id"])))
        lines += [f"## {name[0].upper()}{name[1:]}", "", meaning, ""]
        lines += ["| id | slack | worst instance | tries / applied | decides |", "|---|---|---|---|---|"]
        for row in chosen:
            slack = "" if row["slack"] is None else f"{row['slack']:.3g}"
            worst = str(row.get("worst", "")).replace("|", "\\|")
            decides = str(row.get("proof") or row.get("check") or row.get("why", "")).replace("|", "\\|")
            decides = decides if len(decides) <= 160 else decides[:157] + "..."
            if theory.statement(str(row["id"])).control_outcome == "refuted" and name != "refuted":
                decides = f"false (its control refutes it), but not found in {row['seconds']:g} s; {decides}"
            effort = f"{row.get('tries', 0)} / {row.get('applied', 0)}"
            lines.append(f"| {row['id']} | {slack} | {worst} | {effort} | {decides} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Hunt what is missing, then write rows, picture and page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds for each statement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="hunt rows that are there already as well")
    parser.add_argument("--only", default="", help="only ids that contain this")
    options = parser.parse_args()
    path = DOCS / "atlas.json"
    rows = {row["id"]: row for row in json.loads(path.read_text())} if path.exists() else {}
    for id in sorted(FAMILIES):
        if options.only in id and (options.again or id not in rows):
            rows[id] = row_of(id, options.time_limit, options.seed)
            path.write_text(json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n")
            print(f"{id:<24} {grade(rows[id]):<36} {rows[id]['slack']}", flush=True)
    kept = [rows[key] for key in sorted(rows) if key in FAMILIES]
    (DOCS / "atlas.svg").write_text(picture(kept))
    (DOCS / "atlas.md").write_text(page(kept))


if __name__ == "__main__":
    main()
