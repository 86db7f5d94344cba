"""The page of the demo: records of four chapters in, one offline page out, pictures first."""

import base64
import math
import struct
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from marginflow.display import none_shorter
from marginflow.report.bundle import style_text, template_text, vega_script
from marginflow.report.content import mathml
from marginflow.report.demo_charts import bound_chart, cluster_chart, map_chart
from marginflow.report.page import render_template, script_safe
from marginflow.report.style import signs
from marginflow.theory.bibliography import PAPERS

Record = Mapping[str, Any]

# The hypotheses of the theorem in words; the rest are equalities or far from their bounds and are only counted.
IN_WORDS: Final = {
    "k (p + Delta + 1)": "Cluster centres are nearly orthogonal",
    "P5: <x_i, x_i'> within a cluster, from below": "Points of one cluster agree",
    "n": "There are enough samples",
    "P1: ||xi_i||": "Noise is short",
    "P2: |<xi_i, xi_i'>|": "Noise is orthogonal to noise",
    "P3: |<mu, xi_i>|": "… and to the centres",
    "P4: |<x_i, x_i'>| across clusters": "Different clusters are nearly orthogonal",
    "sigma": "Noise per coordinate is small",
    "ln n": "There are not too many samples",
    "KKT residual": "The network is a KKT point",
}


def render_demo(
    chapters: Mapping[str, Record],
    *,
    findings: Mapping[str, str],
    command: str,
    versions: Mapping[str, str],
    parameters: Mapping[str, object],
    interrupted: bool = False,
) -> str:
    """The page as one HTML document that asks nothing of any other machine.

    Parameters
    ----------
    chapters : mapping of records
        By name: "plane", "digits", "clusters", "theorem"; those that are missing are left out.
    findings : mapping of str
        Id of a statement and what is wrong with it in print.
    command, versions, parameters : str and mappings
        How to get the same again.
    interrupted : bool
        Whether the page is only a part.
    """
    specifications = {}
    if "clusters" in chapters:
        specifications["chart-clusters"] = cluster_chart(chapters["clusters"])
    if "theorem" in chapters:
        specifications |= {
            "chart-bounds": bound_chart(chapters["theorem"]),
            "chart-map": map_chart(chapters["theorem"], chapters.get("clusters")),
        }
    drawn: dict[str, Record] = {}
    if "plane" in chapters:
        drawn["plane"] = plane_data(chapters["plane"])
    if "digits" in chapters:
        record = chapters["digits"]
        drawn["digits"] = {**record, "none_shorter": none_shorter(record["upper"], record["lower"], 3)}
    return render_template(
        "demo.html.j2",
        title="The point that training never reaches",
        style=style_text("demo.css"),
        script=template_text("demo.js"),
        data=script_safe(drawn),
        bundle=vega_script() if specifications else "",
        specifications={name: script_safe(chart) for name, chart in specifications.items()},
        plane=_plane(chapters["plane"]) if "plane" in chapters else None,
        digits=_digits(chapters["digits"]) if "digits" in chapters else None,
        clusters=_clusters(chapters["clusters"]) if "clusters" in chapters else None,
        theorem=_theorem(chapters["theorem"]) if "theorem" in chapters else None,
        findings=gravest_first(findings),
        papers=_papers(findings),
        command=command,
        versions=versions,
        parameters=parameters,
        interrupted=interrupted,
    )


def gravest_first(findings: Mapping[str, str]) -> dict[str, str]:
    """Theorems and propositions before lemmas, and lemmas before what is neither: who reads one line reads the gravest.

    Examples
    --------
    >>> from marginflow.report.demo_page import gravest_first
    >>> list(gravest_first({"P/A1.Nstar": "a", "P/LemB.4": "b", "P/Prop4.5": "c"}))
    ['P/Prop4.5', 'P/LemB.4', 'P/A1.Nstar']
    """

    def rank(id: str) -> int:
        name = id.partition("/")[2]
        return next((index for index, kind in enumerate(("Thm", "Prop", "Cor", "Lem")) if name.startswith(kind)), 4)

    return {id: findings[id] for id in sorted(findings, key=rank)}


def _papers(findings: Mapping[str, str]) -> dict[str, str]:
    """Title and year of the papers that the findings are about."""
    keys = dict.fromkeys(id.partition("/")[0] for id in findings)
    return {key: f"{PAPERS[key].title}, {PAPERS[key].year}" for key in keys if key in PAPERS}


def plane_data(record: Record) -> dict[str, object]:
    """What the script draws: neurons as packed 32-bit floats, everything else as it is."""

    def frame(record: Record) -> dict[str, object]:
        return {**record, "neurons": _packed([value for row in record["neurons"] for value in row])}

    return {
        "samples": record["samples"],
        "frames": [frame(recorded) for recorded in record["frames"]],
        "point": frame(record["point"]),
    }


def _packed(values: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode("ascii")


def _plane(record: Record) -> dict[str, object]:
    last, point, n = record["frames"][-1], record["point"], len(record["samples"])
    return {
        "n": n,
        "loss_exponent": f"−{-round(last['log10_loss'])}",
        "right": last["right"],
        "neurons_before": last["directions"],
        "neurons_after": point["directions"],
        "on_margin_before": _samples(len(last["on_margin"])),
        "on_margin_after": len(point["on_margin"]),
        "residual_before": f"{last['residual']:.2f}" if last["residual"] is not None else "–",
        "forgiven_before": f"{last['forgiven']:.2f}" if last["forgiven"] is not None else "–",
        "residual_after": point["residual"],
        "seconds": f"{record['seconds']['point']:.1f}",
        "record": record,
    }


def _samples(count: int) -> str:
    return {0: "no sample", 1: "a single sample"}.get(count, f"{count} samples")


def _digits(record: Record) -> dict[str, object]:
    n = len(record["labels"])
    largest = record["largest"][1]
    return {
        "n": n,
        "threes": record["labels"].count(-1),
        "eights": record["labels"].count(1),
        "length": f"{record['upper']:.2f}",
        "share_of_norm": f"{100 * record['upper'] / record['mean_norm']:.0f}",
        "median": f"{record['median'][1]:.2f}",
        "smallest": f"{record['smallest'][1]:.3f}",
        "largest": f"{largest:.2f}",
        "as_far": math.isclose(largest, record["upper"], rel_tol=1e-6),
        "random": f"{100 * record['random_share']:.0f}",
        "none_shorter": none_shorter(record["upper"], record["lower"], 3),
        "record": record,
    }


def _clusters(record: Record) -> dict[str, object]:
    rows = record["rows"]
    first, last = rows[0], rows[-1]
    return {
        "first": first,
        "last": last,
        "kkt": f"{last['kkt']:.3f}",
        "robust": f"{last['robust']:.3f}",
        "times": f"{last['robust'] / last['kkt']:.2g}",
        "off": f"{100 * max(abs(row['kkt'] * math.sqrt(row['k']) - 1.0) for row in rows):.1g}",
        "both_right": all(row["kkt_wrong"] == row["robust_wrong"] == 0 for row in rows),
        "settled": sum(row["kkt_settled"] + row["robust_settled"] for row in rows),
        "asked": 2 * record["with_radius"] * len(rows),
        "certified": sum(row["certified"] for row in rows),
        "rows": rows,
        "fresh": record["fresh"],
    }


def _theorem(record: Record) -> dict[str, object]:
    lengths, checks = record["lengths"], {check["name"]: check for check in record["hypotheses"]}
    named = [
        {
            "name": words,
            "used": checks[name]["used"],
            "percent": _percent(checks[name]["used"]),
            "compared": " ".join(
                (
                    _number(checks[name]["observed"]),
                    escape(signs(checks[name]["relation"])),
                    _number(checks[name]["bound"]),
                )
            ),
            "met": checks[name]["state"] == "met",
        }
        for name, words in IN_WORDS.items()
        if name in checks and checks[name]["used"] is not None
    ]
    named.sort(key=lambda row: -row["used"])
    others = [check for name, check in checks.items() if name not in IN_WORDS]
    return {
        "holds": record["outcome"] == "holds",
        "outcome": {"holds": "it holds here", "vacuous": "true, but says nothing here"}.get(
            record["outcome"], record["outcome"]
        ),
        "bars": named,
        "tight": sum(row["used"] > 0.95 for row in named),
        "others": len(others),
        "equalities": sum(check["used"] is None for check in others),
        "all_met": all(check["state"] == "met" for check in checks.values()),
        "factor": f"{lengths['literal'] / lengths['exact']:.0f}",
        "speaks_from": record["speaks_from"]["literal"],
        "sharp_from": record["speaks_from"]["sharp"],
        "formula": mathml(record["formula"]),
        "record": record,
    }


def _percent(share: float) -> str:
    """Three digits near the limit, two elsewhere."""
    return f"{100 * share:.1f}" if share > 0.99 else f"{100 * share:.0f}" if share > 0.1 else f"{100 * share:.1f}"


def _number(value: float) -> str:
    """Four digits, with a raised exponent where there must be one."""
    digits, _, exponent = f"{value:.4g}".partition("e")
    if not exponent:
        return digits
    front = f"{float(digits):.0f}"
    return f"{'' if front == '1' else front + '·'}10<sup>{str(int(exponent)).replace('-', '−')}</sup>"
