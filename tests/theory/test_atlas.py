"""Maps of theorems: hypotheses and constants on a grid agree with the judges; the paper's own cases are on them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow import InputError, sweeps, theory
from marginflow.cli import main
from marginflow.theory.atlas import grid_of
from marginflow.theory.check import compare
from marginflow.theory.fcb22.numbers import Numbers
from marginflow.theory.fvbs23.presets import A, hundreds_of_clusters, preset
from marginflow.theory.instances import gram_point, orthogonal_point


@pytest.mark.parametrize(("d", "m", "p"), [(100, 32, 0.0), (1000, 332, 0.0), (100, 10, 2.0), (200, 11, 5.0)])
def test_a_cell_agrees_with_the_verdict_on_such_data(d: int, m: int, p: float) -> None:
    point = orthogonal_point(d, m) if p == 0 else gram_point(d, m, p)
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(point)
    c = verdict["c"].observed
    (cell,) = theory.map("VYS22/Thm4.1", {"d": [d], "m": [m], "p": [p], "c": [c]}).cells
    words = {"holds": "says something", "vacuous": "says nothing"}
    if p == 0:  # with p > 0 the map bounds the length of u from above
        assert cell.word == words[verdict.outcome]
        assert cell.bound == pytest.approx(verdict["||z||, literal"].observed / d**0.5)
    else:
        assert cell.bound >= verdict["||z||, literal"].observed / d**0.5 * (1 - 1e-9)


def test_clusters_agree_with_the_verdicts_too() -> None:
    few = theory.map("FVBS23/Thm4.2", {"d": [A[0]], "k": [A[1]]}).cells[0]
    assert few.word == "says nothing"
    assert theory.statement("FVBS23/Thm4.2").judge_instance(preset(A)).outcome == "vacuous"
    many = theory.map("FVBS23/Thm4.2", {"d": [6961], "k": [396], "sigma": [1e-30]}).cells[0]
    assert many.word == "says something"
    verdict = theory.statement("FVBS23/Thm4.2").judge_instance(hundreds_of_clusters())
    assert many.bound == pytest.approx(verdict["||z|| / sqrt(d), literal"].observed)


def test_no_experiment_of_the_paper_meets_its_theorem() -> None:
    found = theory.map("VYS22/Thm4.1", grid_of(["d=100:1000:4", "m=2:40:5"]))
    assert len(found.marks) == 50
    assert all(mark.word == "not applicable" for mark in found.marks)
    assert all(mark.binding == "sample size m" for mark in found.marks)
    assert "says something about none of the 50 experiments" in found.sentence()


GRIDS = {
    "KYS23/Thm3.1": ["m=100,1e6", "p=0.01,0.4"],
    "KYS23/Thm3.2": ["m=100,1e6", "p=0.01,0.4"],
    "KYS23/Thm4.1": ["m=3e5,5e5", "p=4e-5,0.1", "d=1e3,1e18"],
    "KYS23/Thm4.3": ["m=88,1000", "d=1e3,1e20", "n=2", "p=0.005,0.2"],
    "FCB22/Thm3.1.1": ["n=100,1e4", "d=10,1e4", "m=100"],
    "FCB22/Thm3.1.2": ["n=1e4,1e6", "d=10,1e5", "m=100"],
    "FCB22/Prop3.2": ["n=1e9", "d=1e6", "m=1e4", "C=16,200"],
}


@pytest.mark.parametrize("id", GRIDS)
def test_every_theorem_of_the_other_papers_has_a_map(id: str) -> None:
    found = theory.map(id, grid_of(GRIDS[id]))
    words = {cell.word for cell in found.cells}
    assert "says something" in words
    if id not in ("KYS23/Thm3.1", "KYS23/Thm3.2"):
        assert "not applicable" in words
        assert found.marks, "the paper has experiments"
        assert all(mark.word == "not applicable" for mark in found.marks)


def test_cells_agree_with_the_verdicts_on_the_line_and_on_the_sphere() -> None:
    line = theory.statement("KYS23/Thm3.2").judge_instance(theory.statement("KYS23/Thm3.2").example())
    (cell,) = theory.map("KYS23/Thm3.2", {"m": [100], "p": [0.1]}).cells
    upper = next(check for check in line.claims if "<=" in check.name)
    assert cell.bound == pytest.approx(upper.bound)
    sphere = theory.statement("KYS23/Thm4.1").judge_instance(theory.statement("KYS23/Thm4.1").example())
    grid = {"m": [300], "p": [0.02], "d": [1e12]} | {name: [sphere[f"c_{name[1]}"].observed] for name in ("c1", "c2")}
    (cell,) = theory.map("KYS23/Thm4.1", grid | {"c3": [648.0], "c4": [0.155]}).cells
    assert cell.word == "says something"
    (cell,) = theory.map("KYS23/Thm4.1", {"m": [300], "p": [0.02], "d": [1e12]}).cells
    assert cell.word == "not applicable", "with the constants of the proof"


def test_cells_agree_with_the_assumptions_of_amplification() -> None:
    for C in (5.0, 16.0, 60.0):
        numbers = Numbers.smallest(C)
        grid = {"n": [numbers.n], "d": [numbers.d], "m": [numbers.m], "C": [C], "alpha": [numbers.alpha]}
        (cell,) = theory.map("FCB22/Thm3.1.1", grid).cells
        assert cell.word == ("says something" if numbers.feasible().state == "met" else "not applicable")


NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from([math.nan, math.inf, -math.inf])


@settings(max_examples=60)
@given(NUMBERS, NUMBERS, st.sampled_from(["<=", ">=", "<", ">", "=="]))
def test_two_numbers_are_compared_as_arrays_are(observed: float, bound: float, relation: str) -> None:
    quick = compare("x", observed, relation, bound)
    whole = compare("x", [observed], relation, [bound])
    assert quick.state == whole.state


def test_grids_are_read_and_what_cannot_be_read_is_refused() -> None:
    assert grid_of(["d=10:1000:3log", "p=0,0.5"]) == {"d": [10.0, 100.0, 1000.0], "p": [0.0, 0.5]}
    for bad in ("d", "d=", "d=a", "d=1:2", "d=0:10:3log", "d=5:1:3", "d=1:2:x"):
        with pytest.raises(InputError, match="axis"):
            grid_of([bad])
    with pytest.raises(InputError, match="twice"):
        grid_of(["d=1", "d=2"])
    with pytest.raises(InputError, match="no letter 'q'"):
        theory.map("VYS22/Thm4.1", {"d": [10], "m": [2], "q": [1]})
    with pytest.raises(InputError, match="leaves out"):
        theory.map("VYS22/Thm4.1", {"d": [10]})
    with pytest.raises(InputError, match=r"has no map; there are maps of .*VYS22/Thm4.1"):
        theory.map("VYS22/LemC.4", {"d": [10]})
    with pytest.raises(InputError, match="needs a grid"):
        theory.map("VYS22/Thm4.1", {})


@pytest.mark.parametrize("ending", ["html", "svg"])
def test_the_command_draws(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / f"map.{ending}"
    line = ["map", "theorem 4.1 vys22", "--grid", "d=100:1e6:6log", "m=2:200:6log", "--out", str(out)]
    assert main(line) == 0
    assert "VYS22/Thm4.1 says something on 2 of 36 cells" in capsys.readouterr().out
    assert "says something" in out.read_text(encoding="utf-8")
    assert main(line) == 2, "nothing is overwritten unasked"


@pytest.mark.parametrize(
    ("typed", "id"),
    [
        ("theorem 4.1 vys22", "VYS22/Thm4.1"),
        ("vys22/thm4.1", "VYS22/Thm4.1"),
        ("Lemma C.4 of VYS22", "VYS22/LemC.4"),
        ("fvbs23 cor-both", "FVBS23/Cor-Both"),
        ("kys23 prop a.4", "KYS23/PropA.4"),
    ],
)
def test_look_up_forgives(typed: str, id: str) -> None:
    assert theory.statement(typed).id == id


def test_every_id_is_found_by_itself_and_in_small_letters() -> None:
    for statement in theory.statements():
        assert theory.statement(statement.id) is statement
        assert theory.statement(statement.id.lower()) is statement, statement.id


def test_every_statement_names_the_file_that_judges_it() -> None:
    root = Path(theory.__file__).parents[2]
    for statement in theory.statements():
        assert (root / statement.file).is_file(), statement.id
        assert statement.paper.key.lower() in statement.file or "theory/" in statement.file


OBSERVED = {
    "VYS22/Thm4.1": ["d=100", "m=4,30"],
    "VYS22/Cor4.1": ["d=100", "m=30", "p=0"],
    "FVBS23/Thm3.1": ["d=600", "k=2"],
    "FVBS23/ThmA.1": ["d=600", "k=2"],
    "FVBS23/Thm4.1": ["d=600", "k=2"],
    "FVBS23/Thm4.2": ["d=600", "k=2"],
    "FVBS23/ThmD.1": ["d=600", "k=2"],
    "KYS23/Thm3.1": ["m=50", "p=0.1"],
    "KYS23/Thm3.2": ["m=50", "p=0.1"],
    "KYS23/Thm4.1": ["m=60", "p=0.02", "d=1e6"],
    "KYS23/Thm4.3": ["m=40", "p=0.05", "n=2", "d=1e6"],
    "FCB22/Thm3.1.1": ["n=100", "d=400", "m=20"],
    "FCB22/Thm3.1.2": ["n=100", "d=400", "m=20"],
    "FCB22/Prop3.2": ["n=100", "d=400", "m=20"],
}


def test_every_map_can_be_observed() -> None:
    assert set(OBSERVED) == {statement.id for statement in theory.statements() if statement.region is not None}


@pytest.mark.parametrize("id", OBSERVED)
def test_what_a_bound_is_about_is_measured_on_an_instance_of_these_numbers(id: str) -> None:
    found = sweeps.observe(theory.map(id, grid_of(OBSERVED[id])))
    assert not found.failures
    for cell in found.cells:
        assert math.isfinite(cell.mean)
        assert cell.outcomes[0] not in ("violated", "refuted")
    assert found.observed_name in found.sentence()


def test_the_observed_step_is_that_of_the_verdict() -> None:
    (cell,) = sweeps.observe(theory.map("VYS22/Thm4.1", {"d": [100], "m": [32], "p": [0]})).cells
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(orthogonal_point(100, 32))
    assert cell.mean == pytest.approx(verdict["||z||, exact"].observed / 10, rel=1e-6)
    assert cell.mean < cell.bound


def test_an_observed_map_is_resumable_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        "map",
        "VYS22/Thm4.1",
        "--grid",
        "d=100",
        "m=4,30",
        "p=0",
        "--observe",
        "--store",
        str(tmp_path / "s.sqlite"),
    ]
    assert main([*line, "--out", str(tmp_path / "map.html")]) == 0
    assert "Observed on 2 of them" in capsys.readouterr().out
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert "Bound of VYS22/Thm4.1 against observed" in page
    again: list[int] = []
    drawn = theory.map("VYS22/Thm4.1", grid_of(["d=100", "m=4,30", "p=0"]))
    sweeps.observe(drawn, store=tmp_path / "s.sqlite", progress=lambda now: again.append(now.computed))
    assert again == [0], "every cell was stored"


def test_a_cell_that_is_too_large_is_named_and_the_others_are_computed() -> None:
    found = sweeps.observe(theory.map("VYS22/Thm4.1", {"d": [20000], "m": [4, 10000], "p": [0]}))
    assert [len(cell.observed) for cell in found.cells] == [1, 0]
    assert "cells are computed up to 4000" in found.sentence()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("map VYS22/Thm4.1 --grid d=100 m=4 --seeds 3", "go with --observe"),
        ("map VYS22/Thm4.1 --grid d=100 m=4 --observe --seeds 0", "seeds"),
    ],
)
def test_options_of_observing_are_refused_where_they_mean_nothing(
    line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    assert sentence in capsys.readouterr().err
