"""What hunts found: false statements from fresh seeds, true statements, open questions.

    python benchmarks/hunts.py

writes docs/hunts.json (a row as soon as its hunt is over) and docs/measurements/hunts.md. Rows that are there already
are kept, so that it can be stopped and continued; --again makes them anew.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from marginflow import InputError, theory
from marginflow.certificates import minimality
from marginflow.data import Dataset
from marginflow.generalisation import clopper_pearson_interval, line_error
from marginflow.limit import line
from marginflow.storage import write_text
from marginflow.theory.hunting import FAMILIES, LinePoints, hunt_together
from marginflow.theory.kys23.line import line_samples
from marginflow.theory.kys23.thm_3_2.sandwich import lower_core

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "measurements" / "hunts.md"
SEEDS = (201, 202, 203)
Row = dict[str, object]

FALSE = {  # seconds at most; the slip of Lemma B.3 is a step of a proof, after which the search for a claim goes on
    "KYS23/Prop4.5": 600.0, "KYS23/LemD.2": 600.0, "FCB22/Eq6": 600.0, "KYS23/LemB.3": 20.0, "KYS23/PropA.4": 600.0,
}  # fmt: skip
HARDER = {"KYS23/LemA.7": 600.0, "KYS23/LemA.6": 600.0, "KYS23/Thm3.2.sandwich": 600.0}
# Instances in one hunt of a group of true statements, which are judged on the same ones: at least as many as one hunt
# of the hardest in FALSE needs.
EQUAL = 800
TRUE: tuple[tuple[int, list[str]], ...] = (
    (EQUAL, ["KYS23/PropA.4-repaired", "KYS23/PropA.5", "KYS23/X.A5"]),
    (EQUAL, ["KYS23/Prop4.5-repaired"]),
    (EQUAL, ["KYS23/Prop4.4"]),
    (EQUAL, ["KYS23/LemB.3-repaired", "KYS23/Prop4.6-repaired"]),
    (EQUAL, ["KYS23/LemD.1"]),
    (EQUAL, ["KYS23/LemD.2-repaired"]),
    (EQUAL, ["KYS23/X.1NN", "KYS23/X.GlobalLP"]),
    (EQUAL, [f"VYS22/LemC.{number}" for number in range(1, 10)] + ["VYS22/Thm4.1", "VYS22/Cor4.1", "VYS22/X.sharp"]),
    (EQUAL, [f"FVBS23/LemA.{number}" for number in range(1, 5)]),
    (EQUAL, ["FCB22/Lem4.6"]),
    (EQUAL, [id for id, family in FAMILIES.items() if family == FAMILIES["FVBS23/Thm3.1"]]),
)
OPEN_TRIES, TYPICAL, LONG = 1000, 200, 900.0


def rediscovery(id: str, seed: int) -> Row:
    began = time.process_time()
    found = theory.hunt(id, seconds=(FALSE | HARDER)[id], seed=seed)
    return {
        "part": "false",
        "id": id,
        "seed": seed,
        "outcome": found.outcome,
        "seconds": round(found.seconds, 1),
        "cpu": round(time.process_time() - began, 1),
        "tries": found.tries,
        "worst": found.worst,
        "proof": found.proof or found.reason,
    }


def on_true_statements(ids: list[str], seed: int, tries: int) -> list[Row]:
    began, cpu = time.monotonic(), time.process_time()
    found = hunt_together(ids, seconds=LONG, seed=seed, tries=tries)
    effort = {
        "together": len(ids),
        "seconds": round(time.monotonic() - began, 1),
        "cpu": round(time.process_time() - cpu, 1),
    }
    return [
        {
            "part": "true",
            "id": hunt.id,
            "seed": seed,
            "outcome": hunt.outcome,
            "tries": hunt.tries,
            "applied": hunt.applied,
            "telling": hunt.telling,
            "slack": hunt.slack,
            **effort,
        }
        for hunt in found
    ]


def without(id: str, name: str) -> theory.Statement:
    """A statement without one of its hypotheses, which is how a condition shows that it is needed."""
    original = theory.statement(id)

    def judge(instance: theory.Instance) -> theory.Findings:
        found = original.judge(instance)
        return replace(found, hypotheses=tuple(check for check in found.hypotheses if check.name != name))

    return replace(original, judge=judge)


def open_hunt(question: str, what: str, statement: theory.Statement, family: LinePoints) -> Row:
    began = time.monotonic()
    try:
        found = theory.hunt(statement, seconds=LONG, tries=OPEN_TRIES, family=family, seed=SEEDS[0])
    except InputError as error:
        return {"part": "open", "question": question, "what": what, "outcome": str(error)}
    return {
        "part": "open",
        "question": question,
        "what": what,
        "id": statement.id,
        "outcome": found.outcome,
        "slack": found.slack,
        "worst": found.worst,
        "reason": found.reason,
        "tries": found.tries,
        "applied": found.applied,
        "seconds": round(time.monotonic() - began, 1),
    }


def typical_samples(m: int, p: float, wanted: int) -> Row:
    """O3: certified local minima on uniform samples with independent labels against LO, the core of Theorem 3.2."""
    rng = np.random.default_rng(7)
    minima = below = 0
    least, ratio = math.inf, math.inf
    while minima < wanted:
        x, y = np.sort(rng.random(m)), np.where(rng.random(m) < p, -1.0, 1.0)
        if len(set(y)) < 2:
            continue
        data = Dataset(X=x[:, None], y=y)
        try:
            found = line.local_minimum(data, seed=int(rng.integers(1000)), neurons=int(rng.integers(2, m + 2)))
            if minimality(found.network, data).verdict != "local minimum":
                continue
        except (InputError, ArithmeticError):
            continue
        error, core = line_error(found.network).value, lower_core(*line_samples(data))
        minima += 1
        ratio = min(ratio, error / float((y < 0).mean()))
        if core > 0:
            below += error < core - 1e-9
            least = min(least, error / core)
    return {
        "part": "typical",
        "m": m,
        "p": p,
        "minima": minima,
        "below": below,
        "least L / LO": least,
        "least L / share of -": ratio,
    }


def jobs() -> dict[str, Callable[[], Row | list[Row]]]:
    """What there is to do, by a name that its rows carry."""
    todo: dict[str, Callable[[], Row | list[Row]]] = {}
    for id in FALSE:
        for seed in SEEDS:
            todo[f"false {id} {seed}"] = lambda id=id, seed=seed: rediscovery(id, seed)
    unit, positive = LinePoints(point="global"), LinePoints(point="global", high=4, denominator=16)
    wide = LinePoints(point="global", low=-2, high=2, denominator=16)
    minima = LinePoints(point="local")
    real = LinePoints(point="local", low=-4, high=4, denominator=8)
    x_1nn, a5, x_a5 = (theory.statement(f"KYS23/{name}") for name in ("X.1NN", "PropA.5", "X.A5"))
    questions = (
        ("KYS23/O4", "global optimum = 1-nearest neighbour, on [0, 1]", x_1nn, unit),
        ("KYS23/O4", "the same on [0, 4]", x_1nn, positive),
        ("KYS23/O4", "the same on [-2, 2] where all 1 + x_i x_k >= 0", x_1nn, wide),
        ("KYS23/O4", "the same on [-2, 2] without this condition", without("KYS23/X.1NN", "1 + x_i x_k"), wide),
        ("Prop. A.5's gap", "N >= 0 between two +, local minima on [0, 1]", a5, minima),
        ("Prop. A.5's gap", "N >= 0 between two +, local minima on [-4, 4]", a5, real),
        ("Prop. A.5's gap", "N >= 1 between two +, local minima on [0, 1]", x_a5, minima),
        (
            "Prop. A.5's gap",
            "N >= 1 between two +, local minima on [-4, 4]",
            without("KYS23/X.A5", "samples in [0, 1]"),
            real,
        ),
    )
    for question, what, statement, family in questions:
        todo[f"open {question} {what}"] = lambda q=question, w=what, s=statement, f=family: open_hunt(q, w, s, f)
    for m in (6, 12, 24):
        todo[f"typical {m}"] = lambda m=m: typical_samples(m, 0.3, TYPICAL)
    for seed in SEEDS:
        for number, (tries, ids) in enumerate(TRUE):
            name = f"true {number} {seed}, {tries}"
            todo[name] = lambda ids=ids, seed=seed, tries=tries: on_true_statements(ids, seed, tries)
    for id in HARDER:
        for seed in SEEDS:
            todo[f"false {id} {seed}"] = lambda id=id, seed=seed: rediscovery(id, seed)
    return todo


def cell(value: object) -> str:
    return (f"{value:.3g}" if isinstance(value, float) else str(value)).replace("|", "\\|")


def table(headings: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    lines = [f"| {' | '.join(headings)} |", "|" + "---|" * len(headings)]
    return [*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows), ""]


def _most(row: Row) -> float:
    """The largest share of draws that the count does not rule out."""
    return clopper_pearson_interval(int(str(row["below"])), int(str(row["minima"])), 0.99)[1]


def _most_tries(rows: list[Row]) -> str:
    """The most instances before a violation, for the statements of the first list and each of the harder ones."""
    most: dict[str, int] = {}
    for row in rows:
        if row["outcome"] == "refuted":
            name = str(row["id"])
            most[name] = max(most.get(name, 0), int(str(row["tries"])))
    hardest = max((id for id in FALSE if id in most), key=lambda id: most[id], default="")
    named = [(hardest, ", the hardest of the first five")] * bool(hardest) + [(id, "") for id in HARDER if id in most]
    return "; ".join(f"{most[id]} ({id}{note})" for id, note in named)


def page(rows: list[Row]) -> str:
    """The rows as Markdown."""
    parts = {part: [row for row in rows if row["part"] == part] for part in ("false", "true", "open", "typical")}
    fast = sum(row["outcome"] in ("refuted", "proof step fails") for row in parts["false"])
    order = [*FALSE, *HARDER]
    parts["false"].sort(key=lambda row: (order.index(str(row["id"])), row["seed"]))
    effort = ", ".join(
        f"{min(int(str(row['tries'])) for row in parts['true'] if row['seed'] == seed)} from seed {seed}"
        for seed in sorted({int(str(row["seed"])) for row in parts["true"]})
    )
    wrong = [row for row in parts["true"] if row["outcome"] in ("refuted", "candidate", "proof step fails")]
    lines = [
        "# Hunts",
        "",
        "[The guide](../hunt.md) says what a hunt is. [Words and conditions](index.md). `python benchmarks/hunts.py` "
        "makes this page and its rows, [hunts.json](../hunts.json), again. Seconds are wall time on a loaded machine "
        "of two cores, one process.",
        "",
        "## What is false is found",
        "",
        f"Three fresh seeds each, at most ten minutes: {fast} of {len(parts['false'])} hunts found it. Seconds include "
        "shrinking; the slip of Lemma B.3 is a step of its proof, after which the hunt goes on for a failing claim.",
        "",
        *table(
            ("id", "seed", "outcome", "seconds", "of CPU", "tries", "shrunk to"),
            [
                tuple(row[name] for name in ("id", "seed", "outcome", "seconds", "cpu", "tries", "worst"))
                for row in parts["false"]
            ],
        ),
        "## What is true is not",
        "",
        f"{len(parts['true'])} hunts of {len({row['id'] for row in parts['true']})} statements that hold, "
        f"{len(SEEDS)} seeds each: {len(wrong)} said refuted, candidate or proof step fails"
        + (": " + ", ".join(f"{row['id']} ({row['outcome']}, seed {row['seed']})" for row in wrong) if wrong else "")
        + ". Statements of one family are hunted together and judged on the same instances. Instances of "
        f"every true one, at least: {effort}. Instances that one hunt of a false one took at most: "
        f"{_most_tries(parts['false'])}.",
        "",
    ]
    summaries = []
    for id in dict.fromkeys(str(row["id"]) for row in parts["true"]):
        own = [row for row in parts["true"] if row["id"] == id]
        slacks = [row["slack"] for row in own if row["slack"] is not None]
        counts = [sum(float(str(row[name])) for row in own) for name in ("tries", "applied", "telling", "cpu")]
        outcomes = ", ".join(dict.fromkeys(str(row["outcome"]) for row in own))
        summaries.append((id, outcomes, *map(round, counts), min(map(float, map(str, slacks)), default="")))
    lines += table(
        ("id", "outcomes", "tries", "applied", "a claim said something", "seconds of CPU, shared", "least slack"),
        summaries,
    )
    lines += ["## Open questions", ""]
    lines += table(
        ("question", "claim", "outcome", "tries / applied", "least slack", "where"),
        [
            (
                row["question"], row["what"], row["outcome"], f"{row.get('tries', 0)} / {row.get('applied', 0)}",
                row.get("slack", ""), row.get("worst", ""),
            )
            for row in parts["open"]
        ],
    )  # fmt: skip
    lines += [
        "KYS23/O3, whether the lower bound of Theorem 3.2 holds with high probability although its core LO fails on "
        "some samples: certified local minima on m uniform points, labels -1 with probability p.",
        "",
    ]
    names = ("m", "p", "minima", "below", "least L / LO", "least L / share of -")
    lines += table(
        ("m", "p", "local minima", "with L < LO", "least L / LO", "least L / share of -", "share with L < LO, 99 %"),
        [(*(row[name] for name in names), f"at most {_most(row):.3f}") for row in parts["typical"]],
    )
    return "\n".join(lines)


def _same_hunt(row: Row, new: Row) -> bool:
    """Whether a row is to give way: the same job, or a statement hunted from the same seed with other effort."""
    names = ("part", "id", "seed")
    return row["job"] == new["job"] or ("seed" in row and all(row.get(name) == new.get(name) for name in names))


def main() -> None:
    """Hunt what is missing, then write rows and page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="make rows that are there already anew")
    parser.add_argument("--only", default="", metavar="TEXT", help="only jobs whose name begins so")
    options = parser.parse_args()
    path = DOCS / "hunts.json"
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    done = set() if options.again else {row["job"] for row in rows}
    for name, job in jobs().items():
        if name not in done and name.startswith(options.only):
            made = job()
            new = [{"job": name, **row} for row in (made if isinstance(made, list) else [made])]
            rows = [row for row in rows if not any(_same_hunt(row, other) for other in new)] + new
            write_text(path, json.dumps(rows, indent=1) + "\n")
            write_text(PAGE, page(rows))
            print(name, *(row["outcome"] for row in rows if row["job"] == name and "outcome" in row), flush=True)
    write_text(PAGE, page(rows))


if __name__ == "__main__":
    main()
