"""What can be drawn of an instance: N on the line or on the circle, angles of samples, a bound along a number."""

from typing import Final

import numpy as np

from marginflow.theory.hunting.boxes import NumberBox
from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.hunting.search import judged
from marginflow.theory.instance import Instance
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

Picture = dict[str, object]
"""Plain values under the names that `report` draws; "kind" is line, circle, angles or section."""

_MOST_SAMPLES: Final = 16
_ANGLES: Final = 361
_SECTION: Final = 25


def picture_of(
    instance: Instance, verdict: Verdict, statement: Statement, family: AbstractFamily, candidate: Candidate
) -> Picture | None:
    """The picture that tells most of an instance; None where there is none."""
    if isinstance(family, NumberBox) and instance.network is None and instance.data is None:
        return _section(verdict, statement, family, candidate)
    if instance.network is not None and instance.network.dimension == 1:
        return _line(instance)
    network = instance.network
    if network is not None and network.dimension == 2 and network.b is None and network.W.any():
        return _circle(instance)
    return _angles(instance)


def _line(instance: Instance) -> Picture | None:
    """Samples, labels and the curve of N with its kinks."""
    network, data = instance.network, instance.data
    if network is None or data is None or data.dimension != 1:
        return None
    x = np.sort(data.X[:, 0])
    margin = 0.1 * max(float(x[-1] - x[0]), 1e-9)
    b = network.b if network.b is not None else np.zeros(network.width)
    w = network.W[:, 0]
    kinks = -b[w != 0] / w[w != 0]
    ends = np.array([x[0] - margin, x[-1] + margin])
    t = np.unique(np.concatenate([ends, x, kinks[(kinks > ends[0]) & (kinks < ends[1])]]))
    return {
        "kind": "line",
        "x": t.tolist(),
        "N": network(t[:, None]).tolist(),
        "samples": data.X[:, 0].tolist(),
        "labels": data.y.tolist(),
    }


def _circle(instance: Instance) -> Picture:
    """N at the points of the unit circle, by angle."""
    turns = np.linspace(0.0, 360.0, _ANGLES)
    radians = np.deg2rad(turns)
    network = instance.the_network()
    N = network(np.column_stack([np.cos(radians), np.sin(radians)]))
    return {"kind": "circle", "angle": turns.tolist(), "N": N.tolist()}


def _angles(instance: Instance) -> Picture | None:
    """Cosines of the angles between the samples, of the first ones where there are many."""
    if instance.data is None or instance.data.n_samples < 2:
        return None
    X, y = instance.data.X[:_MOST_SAMPLES], instance.data.y[:_MOST_SAMPLES]
    lengths = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    cosines = (X / lengths) @ (X / lengths).T
    return {
        "kind": "angles",
        "cosines": np.round(cosines, 6).tolist(),
        "labels": y.tolist(),
        "samples": instance.data.n_samples,
    }


def _section(verdict: Verdict, statement: Statement, family: NumberBox, candidate: Candidate) -> Picture | None:
    """Both sides of the claim that decides as the number with the widest range varies and the others stay."""
    deciding = verdict.deciding
    if deciding is None:
        return None
    name = max(family.ranges, key=lambda name: family.ranges[name].high - family.ranges[name].low)
    box = family.ranges[name]
    spread = np.geomspace(max(box.low, 1), box.high, _SECTION)
    rows = []
    for number in sorted({*(round(float(value)) for value in spread), int(candidate[name])}):
        found = judged(statement, family.build({**candidate, name: number}))
        checks = (*found.claims, *found.findings.proof_steps) if isinstance(found, Verdict) else ()
        check = next((check for check in checks if check.name == deciding.name and check.bound is not None), None)
        if check is not None:
            rows.append((float(box.value(number)), float(check.observed), float(check.bound or 0.0)))
    if len(rows) < 2:
        return None
    values, observed, bounds = (list(column) for column in zip(*rows, strict=True))
    return {
        "kind": "section",
        "name": name,
        "claim": f"{deciding.name} {deciding.relation} bound",
        "value": values,
        "observed": observed,
        "bound": bounds,
        "worst": float(box.value(int(candidate[name]))),
    }
