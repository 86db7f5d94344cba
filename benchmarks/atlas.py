"""The atlas of tightness: hunt every statement that has a family, and say how near its bound ever came.

    python benchmarks/atlas.py --time-limit 20

hunts the statements of one family together, so many seconds for each of them, and writes docs/atlas.json (the rows),
docs/atlas/ (a picture of every worst instance), docs/atlas.svg and docs/measurements/atlas.md. Rows that are there
already are kept unless --again is given, and a hunt that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import math
from itertools import groupby
from pathlib import Path

from marginflow import theory
from marginflow.report import draw
from marginflow.report.bundle import with_fonts
from marginflow.report.modes import follow_reader
from marginflow.report.results.hunts import instance_chart
from marginflow.report.style import FONT, colours, raised
from marginflow.storage import write_text
from marginflow.theory.hunting import FAMILIES, Hunt, hunt_together
from marginflow.theory.hunting.catalogue import BY_CHANCE, NO_NUMBER
from marginflow.theory.hunting.search import least

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHARP, LOOSE, ORDERS, NOTHING = 1.0 / 0.99, 10.0, 1000.0, 1e-200
SIZES = {
    "d": [10 ** (power / 4) for power in range(8, 81)],
    "k": [10 ** (power / 4) for power in range(1, 33)],
    "sigma": [1e-30],
}
Row = dict[str, object]


def row_of(found: Hunt, seconds: float, together: int) -> Row:
    """One hunt as a row."""
    verdict = found.verdict
    failed = () if verdict is None else verdict.failed_claims
    checks = () if verdict is None else failed or verdict.claims
    if verdict is not None and found.outcome == "proof step fails":
        checks = verdict.findings.proof_steps
    named = [check for check in checks if check.name == found.claim]
    check = named[0] if named else least(checks)
    return {
        "id": found.id,
        "kind": theory.statement(found.id).kind,
        "outcome": found.outcome,
        "slack": found.slack,
        "claim": found.claim,
        "check": "" if check is None else check.phrase,
        "relation": "" if check is None else check.relation,
        "observed": None if check is None else check.observed,
        "bound": None if check is None else check.bound,
        "worst": found.worst,
        "family": found.family,
        "tries": found.tries,
        "applied": found.applied,
        "telling": found.telling,
        "seconds": seconds,
        "together": together,
        "seed": found.seed,
        "proof": found.proof,
        "nearest": found.nearest,
    }


def factor(row: Row) -> float | None:
    """The larger side over the smaller one at the worst instance: 1 is sharp."""
    observed, bound = row.get("observed"), row.get("bound")
    if not isinstance(observed, float | int) or not isinstance(bound, float | int) or row["relation"] == "==":
        return None
    if abs(bound) < NOTHING or row["slack"] is None or float(str(row["slack"])) < 0:
        return None
    if observed * bound <= 0:
        return math.inf
    return max(abs(observed / bound), abs(bound / observed))


def grade(row: Row) -> str:
    """How tight, in words."""
    if row["outcome"] == "candidate" and row["id"] in BY_CHANCE:
        return "exceptional draw"
    if row["outcome"] != "not refuted":
        return str(row["outcome"])
    if row["relation"] == "==":
        return "identity"
    if abs(float(str(row["bound"]))) < NOTHING:
        return "a sign"
    if not row["claim"]:
        return "identity"
    size = factor(row)
    if size is None:
        return "no number"
    if size <= SHARP:
        return "sharp"
    if size < LOOSE:
        return "within a factor of 10"
    return "loose by a factor of 10 and more" if size < ORDERS else "loose by orders of magnitude"


FEW = 10
GRADES = (
    ("refuted", "A counterexample was found and proved."),
    ("candidate", "A claim failed in floating point or by counting; nothing is proved."),
    (
        "exceptional draw",
        "The statement lets a share delta of the draws fail; the hunt, which picks draws, found one. Nothing is shown.",
    ),
    ("proof step fails", "No claim failed, a step of the printed proof did."),
    ("sharp", "Some instance comes within 1 % of the bound: the constant cannot be improved, or hardly."),
    ("within a factor of 10", "The worst instance found uses more than a tenth of the bound."),
    ("loose by a factor of 10 and more", "No instance that was tried uses a tenth of the bound."),
    (
        "loose by orders of magnitude",
        "No instance that was tried uses a thousandth of the bound, or observed and bound differ in sign.",
    ),
    (
        "a sign",
        "The bound is 0: the slack is the worst value that was found, not divided by anything.",
    ),
    (
        "identity",
        "Every claim is an equality, or an inequality whose sides agreed to 1e-6 on every instance: it says what "
        "something is, and has no constant that could be improved.",
    ),
    ("does not bite", "The hypotheses were met, but the bound said nothing on any instance that was tried."),
    ("hypotheses not met", "No instance of the family met the hypotheses within the time."),
)


def least_size(id: str) -> str:
    """Where the map of a statement first says something, as the dimension grows; empty where it has no map."""
    region = theory.statement(id).region
    if region is None or not {"d", "k"} <= set(region.letters):
        return ""
    grid = {name: SIZES[name] for name in ("d", "k", "sigma") if name in region.letters}
    cells = [cell for cell in theory.map(id, grid).cells if cell.word == "says something"]
    if not cells:
        return "says nothing up to d = 1e20, k = 1e8, sigma = 1e-30"
    first = min(cells, key=lambda cell: cell.numbers["d"])
    return "says something from about " + ", ".join(f"{name} = {first.numbers[name]:.3g}" for name in grid)


def picture(rows: list[Row]) -> str:
    """Bars of the factor on a logarithmic scale, as SVG; narrow, so that a telephone shows letters one can read."""
    bars = [(str(row["id"]), factor(row)) for row in rows if row["outcome"] == "not refuted"]
    bars = sorted(((id, size) for id, size in bars if size is not None), key=lambda bar: bar[1])
    height, width, left, top, room, head = 17, 460, 168, 8.0, 96, 62
    ink, muted, line, paper = (colours("light")[name] for name in ("ink", "muted", "line", "paper"))
    kinds = (("sharp", "series-3"), (f"below {LOOSE:g}", "series-1"), ("above", "series-2"))
    fills = {kind: colours("light")[name] for kind, name in kinds}
    unit = (width - left - room) / top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height * len(bars) + head + 8}" '
        f'width="{width}" height="{height * len(bars) + head + 8}" font-family="{FONT}" font-size="13">',
        f'<rect width="{width}" height="{height * len(bars) + head + 8}" fill="{paper}"/>',
        f'<text x="{left}" y="14" fill="{ink}">bound over observed, at the worst instance</text>',
    ]
    for index, (kind, fill) in enumerate(fills.items()):
        parts.append(f'<rect x="{left + 84 * index}" y="23" width="10" height="10" fill="{fill}"/>')
        parts.append(f'<text x="{left + 84 * index + 15}" y="33" fill="{muted}">{kind}</text>')
    for power in range(0, int(top) + 1, 2):
        x = left + unit * power
        parts.append(f'<path d="M{x:.1f} {head - 6}V{height * len(bars) + head}" stroke="{line}"/>')
        written = "1" if power == 0 else raised(f"10^{power}")
        parts.append(f'<text x="{x:.1f}" y="{head - 12}" text-anchor="middle" fill="{muted}">{written}</text>')
    for index, (id, size) in enumerate(bars):
        y = head + height * index
        length = max(unit * min(math.log10(max(size, 1.0)), top), 1.5)
        fill = list(fills.values())[0 if size <= SHARP else 1 if size < LOOSE else 2]
        words = "other sign, or 0" if math.isinf(size) else raised(f"{size:.3g}")
        length = 0.0 if math.isinf(size) else length
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end" fill="{ink}">{id}</text>')
        if length:
            parts.append(f'<rect x="{left}" y="{y + 1}" width="{length:.1f}" height="{height - 5}" fill="{fill}"/>')
        parts.append(f'<text x="{left + length + 5:.1f}" y="{y + 11}" fill="{muted}">{words}</text>')
    return follow_reader(with_fonts("\n".join([*parts, "</svg>"]))) + "\n"


def cell(text: object) -> str:
    plain = str(text).replace("|", "\\|")
    return plain if len(plain) <= 160 else plain[:157] + "..."


def thin(rows: list[Row]) -> list[str]:
    """The rows that say little, because hardly an instance met the hypotheses."""
    found = sorted(
        (int(str(row["applied"])), str(row["id"]))
        for row in rows
        if row["outcome"] == "not refuted" and int(str(row["applied"])) < FEW
    )
    named = ", ".join(f"{id} ({count} instance{'s' * (count > 1)})" for count, id in found)
    return [f"Rows that rest on fewer than {FEW} instances and say little: {named}.", ""] if found else []


def page(rows: list[Row]) -> str:
    """The rows as Markdown, by grade and then by slack."""
    counts = {name: sum(grade(row) == name for row in rows) for name, _ in GRADES}
    lines = [
        "# The atlas, row by row",
        "",
        "[The guide](../atlas.md) says how to read a row. `python benchmarks/atlas.py` writes this page, its rows "
        "[atlas.json](../atlas.json) and the pictures again.",
        "",
        f"{len(rows)} statements were hunted: every theorem, lemma, proposition and corollary but the "
        f"{len(NO_NUMBER)} at the end. "
        + ", ".join(f"{name}: {count}" for name, count in counts.items() if count)
        + ".",
        "",
        "- **slack**: (distance from the bound) / (the larger side) at the worst instance; below 0 the claim fails.",
        "- **factor**: the larger side over the smaller one; 1 is sharp. Bounds on probabilities are compared by their "
        "logarithms.",
        "- **worst instance**: the one with the least slack, with its picture. Hypotheses are hard constraints. Claims "
        "that are identities are left aside where a statement has others.",
        "- **tried / applied / said something**: instances, those that met the hypotheses, those on which a claim said "
        "something.",
        "- **seconds**: wall time that the statements of the family had together, one process on a loaded machine.",
        "",
        *thin(rows),
    ]
    for name, meaning in GRADES:
        chosen = [row for row in rows if grade(row) == name]
        if not chosen:
            continue
        chosen.sort(key=lambda row: (row["slack"] is None, row["slack"] or 0.0, str(row["id"])))
        lines += [f"## {name[0].upper()}{name[1:]}", "", meaning, ""]
        lines += [
            "| id | slack | factor | worst instance | tried / applied / said something | seconds | what decides |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in chosen:
            slack = "" if row["slack"] is None else f"{row['slack']:.3g}"
            size = factor(row)
            ratio = "" if size is None else "-" if math.isinf(size) else f"{size:.3g}"
            drawn = f"atlas/{str(row['id']).replace('/', '-')}.png"
            worst = cell(row.get("worst", ""))
            worst = f"[{worst}](../{drawn})" if worst and (DOCS / drawn).exists() else worst
            decides = str(row.get("proof") or row.get("check") or row.get("nearest", ""))
            if name == "does not bite":
                decides = least_size(str(row["id"]))
            if theory.statement(str(row["id"])).control_outcome == "refuted" and name != "refuted":
                found_by = "false (its control refutes it), not found in this time, but in others: [hunts](hunts.md)"
                decides = f"{found_by}; {decides}"
            effort = f"{row.get('tries', 0)} / {row.get('applied', 0)} / {row.get('telling', 0)}"
            seconds = f"{row['seconds']:g} for {row['together']}" if "seconds" in row else ""
            lines.append(f"| {row['id']} | {slack} | {ratio} | {worst} | {effort} | {seconds} | {cell(decides)} |")
        lines.append("")
    lines += ["## No number to hunt", "", *(f"- {id}: {why}." for id, why in sorted(NO_NUMBER.items())), ""]
    return "\n".join(lines)


def groups() -> list[list[str]]:
    """Statements that share a family, small families first."""
    ids = sorted(FAMILIES, key=lambda id: (FAMILIES[id].title, id))
    shared = [list(group) for _, group in groupby(ids, key=lambda id: FAMILIES[id].title)]
    return sorted(shared, key=len)


def main() -> None:
    """Hunt what is missing, then write rows, pictures and page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds for each statement")
    parser.add_argument("--most", type=float, default=240.0, help="seconds for the statements of a family together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="hunt rows that are there already as well")
    parser.add_argument("--only", default="", help="only ids that contain this")
    options = parser.parse_args()
    path, drawings = DOCS / "atlas.json", DOCS / "atlas"
    drawings.mkdir(exist_ok=True)
    rows: dict[str, Row] = {}
    if path.exists() and not (options.again and not options.only):
        rows = {row["id"]: row for row in json.loads(path.read_text(encoding="utf-8")) if "claim" in row}

    def keep() -> None:
        write_text(path, json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n")

    for ids in groups():
        if options.only not in " ".join(ids) or (not options.again and all(id in rows for id in ids)):
            continue
        seconds = min(options.time_limit * len(ids), options.most)
        state = DOCS / f"atlas-{ids[0].replace('/', '-')}.state.json"
        for found in hunt_together(ids, seconds=seconds, seed=options.seed, state=state):
            rows[found.id] = row_of(found, seconds, len(ids))
            if found.picture is not None:
                chart = instance_chart(found.to_dict()["picture"])  # type: ignore[arg-type]
                draw(chart, drawings / f"{found.id.replace('/', '-')}.png")
            print(f"{found.id:<24} {grade(rows[found.id]):<36} {found.slack}", flush=True)
        keep()
        state.unlink()
    rows = {id: row for id, row in rows.items() if id in FAMILIES}
    keep()
    kept = [rows[key] for key in sorted(rows)]
    write_text(DOCS / "atlas.svg", picture(kept))
    write_text(DOCS / "measurements" / "atlas.md", page(kept))


if __name__ == "__main__":
    main()
