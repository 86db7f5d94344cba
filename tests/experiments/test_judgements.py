"""Every judge on rows made by hand: once as the paper claims, once against it, each in one thing only."""

import copy
import itertools
import math
import random

import pytest

from marginflow import InputError, experiments


def wobble(seed):
    """A small spread, so that intervals have a width."""
    return 1.0 + 0.01 * (seed - 1)


def vys22_rows(**changes):
    for method, alpha, d, seed in itertools.product(("recipe", "KKT point"), (0.5, 1.0), (40, 100), range(3)):
        samples = int(d**alpha)
        yield {
            "method": method, "alpha": alpha, "dimension": d, "seed": seed, "width": 100, "samples": samples,
            "schedule": "normalised", "inputs": "sphere", "loss": "exponential", "separated": True,
            "exact": method == "KKT point", "on_margin": 1.0 if alpha == 0.5 else 0.95,
            "off_margin": 0 if alpha == 0.5 else 0.05 * samples, "flip": 0.4 * math.sqrt(d) * wobble(seed),
            "flip_over_radius": 0.4 * wobble(seed), "margin_ratio": 1.1,
            "residual": 0.5 if method == "recipe" else 1e-15,
        } | changes  # fmt: skip


def variant_rows(by, words):
    for word, alpha, d, seed in itertools.product(words, (0.5, 1.0), (40, 60), range(3)):
        yield {
            by: word, "alpha": alpha, "dimension": d, "seed": seed, "separated": True,
            "flip_over_radius": 0.4 * wobble(seed),
        }  # fmt: skip


def width_rows():
    for method, width, alpha, seed in itertools.product(("recipe", "KKT point"), (20, 1000), (0.5,), range(3)):
        residual = (0.3 if width == 20 else 0.8) * wobble(seed) if method == "recipe" else 1e-14
        yield {
            "method": method, "alpha": alpha, "dimension": 60, "width": width, "seed": seed, "separated": True,
            "flip": 3.0 * wobble(seed), "flip_over_radius": 0.4, "residual": residual,
        }  # fmt: skip


def kys23_rows(**axes):
    names, lists = list(axes), list(axes.values())
    for *chosen, p, seed in itertools.product(*lists, (0.1, 0.3, 0.5), range(3)):
        row = {"method": "recipe", "dimension": 10, "samples": 100, "width": 200, "layers": 2, "time": 2000.0}
        row |= dict(zip(names, chosen, strict=True))
        tempered = row["dimension"] < 100
        error = p if tempered else (0.5 if p == 0.5 else 0.0)
        yield row | {
            "noise": p, "seed": seed, "error": error * wobble(seed), "interpolates": True, "wrong_in_training": 0,
        }  # fmt: skip


def line_rows():
    kinds = {
        "global optimum": "local minimum",
        "local minimum": "local minimum",
        "KKT point, no local minimum": "not a local minimum",
    }
    for (kind, verdict), p, seed in itertools.product(kinds.items(), (0.1, 0.3), range(3)):
        error = p * wobble(seed)
        yield {
            "kind": kind, "noise": p, "seed": seed, "samples": 50, "error": error, "nearest_neighbour": error,
            "below": 0.3 * p, "above": 1.9 * p, "residual": 1e-13, "norm_over_best": 1.0, "found": True, "points": 1,
            "verdict": verdict, "descents": int(kind == "KKT point, no local minimum"), "least_error": error,
            "largest_error": error,
        }  # fmt: skip


def case_rows():
    for case in ("A.6 (1)", "A.6 (2)"):
        yield {
            "case": case, "delta": 0.1, "seed": 0, "margin_before": 1.0, "margin_after": 1.0, "norm_before": 10.0,
            "norm_after": 9.0, "drop_by_formula": 10.0, "drop_measured": 10.0, "change_elsewhere": 1e-15,
        }  # fmt: skip


def plane_rows():
    for seed in range(3):
        yield {
            "samples": 5000, "noise": 0.15, "seed": seed, "clean_wrong": 0, "noisy_fitted": 0, "flipped": 750,
            "rays": 4, "farthest_ray": 1.0, "clean_error": 6e-7, "ideal_error": 5.7e-7,
        }  # fmt: skip


def step_rows():
    for initial, step, seed in itertools.product((0.06, 4.0), (0, 1, 5), range(3)):
        grown = step > 0 and initial < 1
        yield {
            "initial": initial, "step": step, "dimension": 400, "seed": seed,
            "cosine": (0.7 if grown else 0.05) * wobble(seed), "clean_labels_right": 1.0 if step else 0.5,
        }  # fmt: skip


def cluster_rows():
    flips = {"KKT network": 1.0, "linear": 1.0, "robust network": None, "1-NN": None}
    for (classifier, flip), k, seed in itertools.product(flips.items(), (4, 16, 64), range(3)):
        size = flip / math.sqrt(k) if flip else 0.5 * math.sqrt(k)
        yield {
            "classifier": classifier, "clusters": k, "dimension": 400, "sigma": None, "seed": seed, "error": 0.0,
            "flip_over_root_d": size * wobble(seed), "exact": True if classifier == "KKT network" else None,
        }  # fmt: skip


GOOD = {
    "VYS22/Fig1a": vys22_rows,
    "VYS22/Fig1b": width_rows,
    "VYS22/Fig2a": vys22_rows,
    "VYS22/Fig2b": vys22_rows,
    "VYS22/Exp.fit": vys22_rows,
    "VYS22/Exp.data": lambda: variant_rows("inputs", ("sphere", "gaussian")),
    "VYS22/Exp.logistic": lambda: variant_rows("loss", ("exponential", "logistic")),
    "VYS22/Exp.recipe": lambda: variant_rows("schedule", ("published", "every 5")),
    "VYS22/Exact.ours": width_rows,
    "KYS23/Fig1L": lambda: kys23_rows(dimension=(10, 3000)),
    "KYS23/Fig1R": lambda: kys23_rows(dimension=(10, 3000)),
    "KYS23/Fig2L": lambda: kys23_rows(width=(50, 3000)),
    "KYS23/Fig2R": lambda: kys23_rows(layers=(2, 3), dimension=(10, 3000)),
    "KYS23/Exp.Common": lambda: kys23_rows(dimension=(10, 3000)),
    "KYS23/Exp.100k": lambda: kys23_rows(time=(2000.0, 10_000.0)),
    "KYS23/Mallinar6b": lambda: kys23_rows(samples=(300, 1000)),
    "KYS23/Fig3": case_rows,
    "KYS23/Line.ours": line_rows,
    "FCB22/Fig1": plane_rows,
    "FCB22/Amplification.ours": step_rows,
    "FVBS23/Clusters.ours": cluster_rows,
    "FVBS23/Dimension.ours": cluster_rows,
    "FVBS23/Noise.ours": cluster_rows,
}
# What is changed in the rows for which the condition holds; each contradicts the claim by itself.
BAD = [
    ("VYS22/Fig1a", lambda row: row["dimension"] == 100 and row["alpha"] == 1.0, {"flip_over_radius": 1.1}),
    ("VYS22/Fig1a", lambda row: row["seed"] == 0 and row["method"] == "recipe", {"separated": False}),
    ("VYS22/Fig1b", lambda row: row["width"] == 1000, {"flip": 6.0}),
    ("VYS22/Fig2a", lambda row: row["alpha"] == 1.0, {"on_margin": 0.85}),
    ("VYS22/Fig2a", lambda row: row["alpha"] == 0.5 and row["seed"] == 0, {"on_margin": 0.9}),
    ("VYS22/Fig2b", lambda row: row["alpha"] == 0.5, {"off_margin": 1}),
    ("VYS22/Fig2b", lambda row: row["alpha"] == 1.0, {"off_margin": 20}),
    ("VYS22/Fig2b", lambda row: row["alpha"] == 1.0 and row["dimension"] == 40, {"on_margin": 0.5, "off_margin": 20}),
    ("VYS22/Exp.fit", lambda row: row["seed"] == 2 and row["dimension"] == 40, {"separated": False}),
    ("VYS22/Exp.data", lambda row: row["inputs"] == "gaussian", {"flip_over_radius": 0.9}),
    ("VYS22/Exp.data", lambda row: row["inputs"] == "gaussian", {"flip_over_radius": 0.1}),
    ("VYS22/Exp.logistic", lambda row: row["loss"] == "logistic", {"flip_over_radius": 0.6}),
    ("VYS22/Exp.recipe", lambda row: row["schedule"] == "every 5", {"flip_over_radius": 0.45}),
    ("VYS22/Exact.ours", lambda row: row["method"] == "KKT point" and row["seed"] == 0, {"residual": 1e-3}),
    ("VYS22/Exact.ours", lambda row: row["method"] == "recipe", {"residual": 1e-3}),
    ("KYS23/Fig1L", lambda row: row["dimension"] == 3000, {"error": 0.4}),
    ("KYS23/Fig1L", lambda row: row["dimension"] == 10, {"error": 0.1}),
    ("KYS23/Fig1L", lambda row: row["noise"] == 0.5, {"error": 0.0}),
    ("KYS23/Fig1R", lambda row: row["seed"] == 0, {"interpolates": False}),
    ("KYS23/Fig2L", lambda row: row["width"] == 3000, {"error": 0.6}),
    ("KYS23/Fig2L", lambda row: row["width"] == 50, {"error": 0.6}),
    ("KYS23/Fig2R", lambda row: row["layers"] == 3 and row["dimension"] == 3000, {"error": 0.4}),
    ("KYS23/Exp.Common", lambda row: row["seed"] == 1 and row["noise"] == 0.5, {"interpolates": False}),
    ("KYS23/Exp.100k", lambda row: row["time"] > 2000, {"error": 0.6}),
    ("KYS23/Exp.100k", lambda row: row["time"] > 2000, {"error": 0.0}),
    ("KYS23/Mallinar6b", lambda row: row["samples"] == 300, {"error": 0.0}),
    ("KYS23/Fig3", lambda row: row["case"] == "A.6 (2)", {"norm_after": 10.5}),
    ("KYS23/Fig3", lambda row: row["case"] == "A.6 (2)", {"margin_after": 0.99}),
    ("KYS23/Fig3", lambda row: row["case"] == "A.6 (2)", {"drop_measured": 9.0}),
    ("KYS23/Fig3", lambda row: row["case"] == "A.6 (1)", {"change_elsewhere": 0.1}),
    ("KYS23/Line.ours", lambda row: row["kind"] == "local minimum" and row["noise"] == 0.3, {"error": 0.01}),
    ("KYS23/Line.ours", lambda row: row["kind"] == "global optimum", {"nearest_neighbour": 0.2}),
    ("KYS23/Line.ours", lambda row: row["seed"] == 0, {"residual": 0.1}),
    ("KYS23/Line.ours", lambda row: row["kind"] == "local minimum", {"verdict": "not a local minimum"}),
    ("KYS23/Line.ours", lambda row: row["verdict"] == "not a local minimum", {"verdict": "undecided"}),
    ("KYS23/Line.ours", lambda row: row["verdict"] == "not a local minimum", {"descents": 0}),
    ("FCB22/Fig1", lambda row: row["seed"] == 1, {"clean_wrong": 1}),
    ("FCB22/Fig1", lambda row: row["seed"] == 1, {"noisy_fitted": 3}),
    ("FCB22/Fig1", lambda row: row["seed"] == 1, {"rays": 6}),
    ("FCB22/Amplification.ours", lambda row: row["step"] == 1, {"cosine": 0.06}),
    ("FCB22/Amplification.ours", lambda row: row["step"] == 5, {"clean_labels_right": 0.9}),
    ("FVBS23/Clusters.ours", lambda row: row["classifier"] == "KKT network", {"error": 0.2}),
    ("FVBS23/Clusters.ours", lambda row: row["classifier"] == "KKT network", {"flip_over_root_d": 1.0}),
    ("FVBS23/Dimension.ours", lambda row: row["classifier"] == "robust network", {"flip_over_root_d": 0.1}),
    ("FVBS23/Noise.ours", lambda row: row["classifier"] == "KKT network" and row["seed"] == 0, {"exact": False}),
]  # fmt: skip


def test_every_judge_is_tried():
    """Those of ours that are not tried here are tried at their smoke size, as all are."""
    known = {figure.id: figure.published for figure in experiments.figures()}
    assert {id for id in known if known[id]} <= set(GOOD) <= set(known)
    assert {id for id, _, _ in BAD} == set(GOOD)


@pytest.mark.parametrize("id", GOOD)
def test_rows_as_claimed_bear_out_the_claim(id):
    outcome = experiments.figure(id).judge(list(GOOD[id]()))
    assert outcome.status == "borne out", str(outcome)


@pytest.mark.parametrize(("id", "condition", "change"), BAD)
def test_rows_against_the_claim_do_not(id, condition, change):
    rows = [copy.copy(row) for row in GOOD[id]()]
    touched = [row for row in rows if condition(row)]
    assert touched
    for row in touched:
        row.update(change)
    outcome = experiments.figure(id).judge(rows)
    assert outcome.status == "not borne out", str(outcome)


def test_runs_none_of_which_separates_the_samples_are_against_the_claim():
    outcome = experiments.figure("VYS22/Fig1a").judge(list(vys22_rows(separated=False)))
    assert outcome.status == "not borne out", str(outcome)
    assert not any("largest flip" in remark for remark in outcome.remarks)
    rows = [{**row, "samples": 7} for row in width_rows()]
    nothing = experiments.figure("VYS22/Exact.ours").judge([{**row, "separated": False} for row in rows])
    assert (nothing.status, nothing.gaps) == ("undecided", True)
    points = experiments.figure("VYS22/Exact.ours").judge(
        [{**row, "separated": row["method"] == "KKT point"} for row in rows]
    )
    assert (points.status, points.gaps, len(points.findings)) == ("undecided", True, 1)


# What does not average over draws: exact constructions, or the worst of all runs.
WITHOUT_MEANS = {"KYS23/Fig3", "FCB22/Fig1", "VYS22/Exp.fit", "KYS23/Exp.Common"}


@pytest.mark.parametrize("id", sorted(GOOD.keys() - WITHOUT_MEANS))
def test_one_seed_alone_leaves_every_claim_open(id):
    rows = [row for row in GOOD[id]() if row["seed"] == 0]
    outcome = experiments.figure(id).judge(rows)
    assert outcome.status == "undecided", str(outcome)
    assert "on one draw" in outcome.sentence


@pytest.mark.parametrize("id", GOOD)
def test_no_length_share_or_error_has_an_interval_below_zero(id):
    """Two seeds far apart: the intervals of their means are wider than all that was seen."""
    signed = ("change", "difference", "fall", "minus", "exponent", "slope", "R²", "larger")
    rows = [row for row in GOOD[id]() if row["seed"] < 2]
    spread = [{name: _apart(name, value, row["seed"]) for name, value in row.items()} for row in rows]
    for finding in experiments.figure(id).judge(spread).findings:
        if finding.low is not None and not any(word in finding.name for word in signed):
            assert finding.low >= 0.0, str(finding)


def _apart(name, value, seed):
    measured = (
        "flip",
        "flip_over_radius",
        "flip_over_root_d",
        "error",
        "residual",
        "cosine",
        "off_margin",
        "on_margin",
    )
    return value * (0.1 + 0.9 * seed) if name in measured else value


@pytest.mark.parametrize("id", GOOD)
def test_no_judge_depends_on_the_order_of_the_rows(id):
    figure = experiments.figure(id)
    rows = list(GOOD[id]())
    outcome = figure.judge(rows)
    random.Random(id).shuffle(rows)
    assert figure.judge(rows).to_dict() == outcome.to_dict()


@pytest.mark.parametrize("id", GOOD)
def test_a_number_that_was_not_measured_speaks_neither_for_nor_against_a_claim(id):
    """Every number that a run measured is made nan, whatever the order of the rows: the claim stays open or is not
    concerned; where the same rows also say that a run ended badly, this may count against it."""
    figure = experiments.figure(id)
    parameters = {*figure.cell.fields, "seed", "samples"}
    rows = list(GOOD[id]())
    measured = [name for name, value in rows[0].items() if isinstance(value, float) and name not in parameters]
    for name in measured:
        broken = [{**row, name: math.nan} for row in rows]
        try:
            outcome = figure.judge(broken)
        except InputError:
            continue
        assert outcome.status != "not borne out", (name, str(outcome))


@pytest.mark.parametrize("id", GOOD)
@pytest.mark.parametrize("status", ["diverged", "KKT point not reached"])
def test_lost_runs_are_counted_and_never_judged(id, status):
    figure = experiments.figure(id)
    rows = [{**row} for row in GOOD[id]()]
    absurd = {
        name: -7e9 for name, value in rows[0].items() if isinstance(value, float) and name not in figure.cell.fields
    }
    every = figure.judge([{**row, "run_status": status} | absurd for row in rows])
    assert every.status == "undecided"
    assert f"{len(rows)} of {len(rows)} runs" in every.sentence
    if len({row["seed"] for row in rows}) == 1:
        return  # without it nothing of its point is left
    first = rows[0]["seed"]
    some = [row | absurd | {"run_status": status} if row["seed"] == first else row for row in rows]
    outcome = figure.judge(some)
    count = sum("run_status" in row for row in some)
    assert outcome.status != "not borne out", str(outcome)
    assert not outcome.gaps
    assert f"{count} of {len(rows)} runs" in outcome.sentence


def test_made_up_runs_that_diverged_do_not_bear_out_a_claim():
    """Rows as `vys22-sphere` wrote them for runs that overflowed."""
    rows = [
        {**row, "run_status": "diverged", "separated": False, "flip": math.nan, "flip_over_radius": math.nan}
        if row["width"] == 1000
        else row
        for row in width_rows()
    ]
    outcome = experiments.figure("VYS22/Fig1b").judge(rows)
    assert outcome.status == "undecided"
    assert "6 of 12 runs were lost and are left out: 6 diverged" in outcome.sentence


def test_runs_of_which_none_fits_are_against_the_claim():
    rows = [{**row, "separated": False, "flip_over_radius": math.nan} for row in vys22_rows()]
    outcome = experiments.figure("VYS22/Fig1a").judge(rows)
    assert outcome.status == "not borne out"
    assert outcome.findings[0].value == 0.0


@pytest.mark.parametrize(
    ("stalled", "said"),
    [
        ({"method": "recipe"}, "got every sample right at fewer than two widths"),
        (
            {"method": "recipe", "width": 20},
            "With m = d^0.5 the recipe got every sample right at fewer than two",
        ),
        ({"method": "KKT point"}, "No KKT point was found."),
    ],
)
def test_runs_of_which_too_few_separate_leave_the_distance_to_kkt_points_open(stalled, said):
    rows = [row | {"separated": not stalled.items() <= row.items(), "samples": 7} for row in width_rows()]
    outcome = experiments.figure("VYS22/Exact.ours").judge(rows)
    assert (outcome.status, outcome.gaps) == ("undecided", True)
    assert said in outcome.sentence
    assert any("stalled before every sample was correct" in remark for remark in outcome.remarks)


def test_where_there_is_nothing_to_compare_a_lost_run_is_still_named():
    """One width alone has no spread to judge by, with lost runs or without."""
    rows = [row for row in width_rows() if row["width"] == 20]
    judge = experiments.figure("VYS22/Fig1b").judge
    assert (judge(rows).status, judge(rows).lost) == ("undecided", "")
    outcome = judge([rows[0] | {"run_status": "diverged"}, *rows[1:]])
    assert outcome.status == "undecided"
    assert "1 of 6 runs was lost and is left out" in outcome.lost


@pytest.mark.parametrize("id", GOOD)
def test_every_finding_says_whose_bound_it_has(id):
    for finding in experiments.figure(id).judge(list(GOOD[id]())).findings:
        assert finding.basis == "the paper's bound" or finding.basis.startswith("our bound: "), finding.name


def test_what_is_claimed_near_one_half_is_not_asked_of_less_noise():
    rows = [row for row in kys23_rows(dimension=(10, 3000)) if row["noise"] < 0.45]
    assert rows
    outcome = experiments.figure("KYS23/Fig1L").judge(rows)
    assert outcome.borne_out, str(outcome)
    assert not any("error at p = 0" in finding.name for finding in outcome.findings)
    few = experiments.figure("KYS23/Fig1R").judge([row for row in rows if row["noise"] == rows[0]["noise"]])
    assert "nan" not in " ".join(few.remarks)
