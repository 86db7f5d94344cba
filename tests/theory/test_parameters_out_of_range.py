"""Parameters that mean nothing are refused in a sentence, or the verdict says that the statement does not apply."""

from __future__ import annotations

import math

import pytest

from marginflow import InputError, theory
from marginflow.theory.outcomes import OUTCOMES

ASKED = [
    *(("VYS22/Ex1a", {"p": p}) for p in (-1, -5, math.nan, math.inf)),
    *(("VYS22/Ex1a", {"exponent": exponent}) for exponent in (-10, 3, 10, 1e9)),
    *(("VYS22/Ex1b", {"dimension": d}) for d in (0, -1, math.nan, math.inf)),
    ("VYS22/Ex1b", {"samples": 100}),
    *((f"VYS22/Lem3.1{part}", {"k": 1e9}) for part in "ab"),
    *(("VYS22/Rem.notlocal", {"s": s}) for s in (math.nan, math.inf, -1)),
    *(("VYS22/Sec5.1", {"dimension": d}) for d in (-1, 10**9, math.nan)),
    ("VYS22/OQ1", {"dimension": math.nan}),
    ("VYS22/OQ5", {"draws": 0}),
    ("FVBS23/Def-Net", {"exponent": 1e9}),
    *(("FVBS23/Ex2", {"dimension": d}) for d in (0, 100, 1000, math.nan, math.inf)),
    *(("FVBS23/Ex2", {"share": share}) for share in (0, 1e9, math.inf)),
    *(("FVBS23/LemA.1", {"dimension": d}) for d in (0, math.nan, math.inf)),
    ("FVBS23/LemA.3", {"stretch": 1e-300}),
    ("FVBS23/LemA.8", {"dimension": 0}),
    ("FVBS23/PropA.1", {"n": 0}),
    *((f"FVBS23/{name}", {"epsilon": 0}) for name in ("Thm3.1", "Thm4.2", "Thm2.1+3.1", "OQ3")),
    *((f"FVBS23/{name}", {"delta": 0}) for name in ("Thm3.1", "Thm4.2", "Thm2.1+3.1", "OQ3")),
    ("FVBS23/OQ6", {"sigma": 1.0, "n_clusters": 10**9}),
    ("FVBS23/OQ6", {"sigma": 100}),
]


@pytest.mark.parametrize(("id", "parameters"), ASKED, ids=[f"{id} {given}" for id, given in ASKED])
def test_a_parameter_without_meaning_ends_in_a_sentence(id: str, parameters: dict[str, float]) -> None:
    statement = theory.statement(id)
    example = statement.example()
    try:
        verdict = statement.judge_instance(example.but(parameters={**example.parameters, **parameters}))
    except InputError as error:
        said = str(error)
    else:
        assert verdict.outcome in OUTCOMES
        said = str(verdict)
    assert said


@pytest.mark.parametrize("share", ["epsilon", "delta"])
@pytest.mark.parametrize("id", ["FVBS23/Thm3.1", "FVBS23/Thm4.2"])
def test_a_map_does_not_apply_where_a_share_is_nothing(id: str, share: str) -> None:
    drawn = theory.map(id, {"d": [10**4], "k": [2], share: [0.0, -1.0]})
    assert [cell.word for cell in drawn.cells] == ["not applicable"] * 2


@pytest.mark.parametrize(
    ("id", "grid"),
    [
        ("VYS22/Thm4.1", {"d": [-1], "m": [2]}),
        ("VYS22/Cor4.1", {"d": [0], "m": [1e300]}),
        ("FVBS23/Thm3.1", {"d": [0], "k": [2]}),
        ("FVBS23/Thm4.1", {"d": [-1], "k": [2]}),
        ("KYS23/Thm4.1", {"d": [-1], "m": [-1], "p": [0.5]}),
        ("FCB22/Prop3.2", {"n": [3], "d": [-1], "m": [-1]}),
    ],
)
def test_a_map_of_numbers_without_meaning_ends_in_a_sentence(id: str, grid: dict[str, list[float]]) -> None:
    with pytest.raises(InputError, match=f"{id} has no meaning at d = |{id} has no meaning at n = "):
        theory.map(id, grid)
