"""Results as sections of a page: damaged ones are refused in one sentence, whatever the damage is."""

from __future__ import annotations

import copy
import math
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from marginflow import InputError, theory
from marginflow.report import Chart
from marginflow.report.content import Table
from marginflow.report.results import NamedResult, kind_of, summarise

CERTIFICATE: dict[str, Any] = {
    "holds": True,
    "tolerance": 1e-8,
    "stationarity": 1e-12,
    "complementarity": 0.0,
    "feasibility": 0.0,
    "dual_feasibility": 0.0,
    "total": 1e-12,
    "margins": [1.0, 2.0],
    "multipliers": [0.5, 0.0],
    "support": [0],
}
CHECK = {"name": "a", "observed": 1.0, "relation": "<=", "bound": 2.0, "state": "met", "note": ""}
SAMPLES: dict[str, dict[str, Any]] = {
    "certificate": CERTIFICATE,
    "limit": {
        "certificate": CERTIFICATE,
        "moved": {"cosine": 0.9},
        "history": [{"stage": "ADMM", "objective": 2.0, "gap": 0.1, "flips": 1} for _ in range(2)],
        "holds": True,
        "tolerance": 1e-9,
        "seconds": 0.5,
        "status": "Exact.",
    },
    "training": {
        "separated": True,
        "log_loss": -20.0,
        "normalised_margin": 0.5,
        "steps": 10,
        "status": "loss reached",
        "records": {"step": [0, 10], "log_loss": [0.0, -20.0], "normalised_margin": [0.1, 0.5]},
    },
    "radii": {
        "all_proved": True,
        "sqrt_dimension": 2.0,
        "radii": [{"sample": 0, "lower": 1.0, "upper": 1.0, "status": "proved"}],
        "smallest": [1.0, 1.0],
        "median": [1.0, 1.0],
        "largest": [1.0, 1.0],
        "relative": {"smallest": [0.5, 0.5], "median": [0.5, 0.5], "largest": [0.5, 0.5]},
        "curve": [
            {"epsilon": 0.0, "certified": 1.0, "possible": 1.0},
            {"epsilon": 1.0, "certified": 1.0, "possible": 1.0},
        ],
    },
    "certified accuracy": {
        "samples": 2,
        "accuracy": 1.0,
        "exact": False,
        "at": [],
        "curve": [
            {"epsilon": 0.0, "certified": 1.0, "possible": 1.0},
            {"epsilon": 0.5, "certified": 1.0, "possible": 1.0},
            {"epsilon": 0.7, "certified": 0.5, "possible": 1.0},
            {"epsilon": 2.0, "certified": 0.5, "possible": 0.5},
        ],
    },
    "flips": {
        "flips": True,
        "share": 1.0,
        "samples": 2,
        "sqrt_dimension": 2.0,
        "directions": [
            {"direction": "dual", "norm": 1.0, "curve": {"norm": [0.5, 1.0], "at": [0.5, 1.0], "after": [0.5, 1.0]}}
        ],
    },
    "verdict": {
        "id": "VYS22/Thm4.1",
        "outcome": "holds",
        "sentence": "VYS22/Thm4.1 holds here.",
        "hypotheses": [CHECK],
        "constants": [],
        "conclusions": [CHECK],
    },
    "verdicts": {"violated": [], "verdicts": [{"id": "VYS22/Thm4.1", "outcome": "holds", "reason": "1 <= 2"}]},
    "sweep": {"name": "s", "cells": 2, "done": 1, "failed": 0, "missing": 1, "rows": [{"n": 1, "x": 0.5}]},
    "map": theory.map("VYS22/Thm4.1", {"d": [100.0, 1000.0], "m": [2.0, 10.0]}).to_dict(),
    "record": {"anything": 1, "list": [1, 2], "rows": [{"a": 1}]},
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_each_kind_is_known_by_its_keys_and_told_with_a_sentence(kind: str) -> None:
    result = NamedResult(name="file.json", content=SAMPLES[kind])
    assert kind_of(result) == kind
    summary = summarise(result)
    assert summary.sentence.endswith(".")
    assert summary.sections


def test_staircase_of_a_flip_curve_jumps_where_samples_flip() -> None:
    summary = summarise(NamedResult(name="flip.json", content=SAMPLES["flips"]))
    (chart,) = [item for item in summary.sections[0].content if isinstance(item, Chart)]
    assert [(row[0], row[1]) for row in chart.numbers.rows] == [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.5, 0.5),
        (0.5, 0.5),
        (1.0, 0.5),
        (1.0, 1.0),
        (1.0, 1.0),
    ]


def test_certified_accuracy_falls_right_after_the_length_up_to_which_it_holds() -> None:
    summary = summarise(NamedResult(name="curve.json", content=SAMPLES["certified accuracy"]))
    assert summary.tone == "open"
    assert "half of all samples are right and at least 2 from the boundary" in summary.sentence
    chart, table, _ = summary.sections[0].content
    assert isinstance(chart, Chart)
    assert isinstance(table, Table)
    drawn = [row[:2] for row in chart.numbers.rows if row[2] == "certified"]
    assert list(dict.fromkeys(drawn)) == [(0.0, 1.0), (0.5, 1.0), (0.5, 0.5), (0.7, 0.5), (2.0, 0.5)]
    assert table.rows[0] == ("95 %", 0.5, 0.7)


def stairs_of(content: dict[str, object]) -> list[tuple[object, ...]]:
    """The corners of the first chart of certified accuracy, without repetitions; none where there is no such chart."""
    sections = summarise(NamedResult(name="file.json", content=content)).sections
    charts = [item for section in sections for item in section.content if isinstance(item, Chart)]
    drawn = [chart for chart in charts if chart.title == "Certified accuracy"]
    return list(dict.fromkeys(row[:2] for chart in drawn[:1] for row in chart.numbers.rows))


def test_a_sample_that_nothing_flips_counts_at_every_length() -> None:
    """Of two samples one has the radius 1 and one none; its distance is null in the file."""
    endless = {"sample": 1, "lower": None, "upper": None, "status": "infinite"}
    curve = [{"epsilon": size, "certified": share, "possible": share} for size, share in ((0.0, 1.0), (1.0, 1.0))]
    record = SAMPLES["radii"] | {"radii": [*SAMPLES["radii"]["radii"], endless], "curve": curve}
    assert stairs_of(record) == [(0.0, 1.0), (1.0, 1.0)]


def test_radii_of_an_older_file_are_told_without_the_curve_that_it_lacks() -> None:
    older = {name: value for name, value in SAMPLES["radii"].items() if name != "curve"}
    assert stairs_of(SAMPLES["radii"]) == [(0.0, 1.0), (1.0, 1.0)]
    assert stairs_of(older) == []
    assert summarise(NamedResult(name="radius.json", content=older)).charts


def test_null_stands_for_what_is_not_finite() -> None:
    damaged = SAMPLES["flips"] | {"directions": [{"direction": "dual", "norm": None, "share_0.5": None}]}
    assert (
        "No multiple of the directions tried flips all 2 samples"
        in summarise(NamedResult(name="f", content=damaged)).sentence
    )


junk = st.sampled_from([None, True, "x", "", -1, 1e300, math.inf, [], [1], [None], ["x"], {}, {"a": [1]}, [{}], [[1]]])


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(SAMPLES)), value=junk, choices=st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_damaged_results_are_told_or_refused_in_one_sentence(kind: str, value: object, choices: list[int]) -> None:
    content = copy.deepcopy(SAMPLES[kind])
    inside: Any = content
    for choice in choices:  # a walk into the object; what it stands on last is replaced
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            break
        key = keys[choice % len(keys)]
        if not isinstance(inside[key], dict | list) or choice % 3 == 0:
            inside[key] = value
            break
        inside = inside[key]
    sentence = "said"
    try:
        summarise(NamedResult(name="file.json", content=content))
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence
