"""The distribution of docs/add_a_distribution.md works as it is printed there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import ExactCountNoise
from marginflow.errors import InputError

PAGE = Path(__file__).parents[2] / "docs" / "add_a_distribution.md"


def printed() -> str:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return str(block)


@pytest.fixture(scope="module")
def annulus() -> Any:
    names: dict[str, Any] = {"__name__": "annulus"}
    exec(compile(printed(), str(PAGE), "exec", dont_inherit=True), names)
    return names["Annulus"]


def test_the_printed_law_draws_what_it_says(annulus: Any) -> None:
    data = annulus(outer=3.0).sample(400, seed=0)
    radius = np.linalg.norm(data.X, axis=1)
    assert np.allclose(radius, np.where(data.y > 0, 3.0, 1.0))
    assert 100 < (data.y > 0).sum() < 300  # 10 standard deviations


def test_noise_flips_labels_and_leaves_the_samples_alone(annulus: Any) -> None:
    clean = annulus().sample(50, seed=1)
    noisy = annulus(noise=ExactCountNoise(rate=0.2)).sample(50, seed=1)
    assert np.array_equal(clean.X, noisy.X)
    assert int((clean.y != noisy.y).sum()) == 10


def test_fresh_points_are_others(annulus: Any) -> None:
    data = annulus().sample(20, seed=2)
    assert not np.isin(annulus().fresh(20, train=data, seed=2).X, data.X).any()


def test_radii_that_are_not_in_order_are_refused(annulus: Any) -> None:
    with pytest.raises(InputError, match=r"outer is 0\.5"):
        annulus(inner=1.0, outer=0.5)


PROGRAM = """
import numpy as np
import marginflow as mf
from marginflow.cli import main
from marginflow.data import Annulus

assert "Annulus" in dir(mf.data) and mf.data.Annulus is Annulus
drawn = Annulus(outer=3.0).sample(5, seed=0)
assert np.array_equal(mf.data.redraw(drawn.origin).X, drawn.X)
assert mf.data.distribution_of(drawn.origin).outer == 3.0
sweep = mf.sweeps.Sweep(task="limit", fixed={"law": "annulus", "n_samples": 6, "width": 8, "noise": 0.2})
(record,) = mf.sweeps.run(sweep).require_complete()
assert record.row["holds"] is True
assert main(["sample", "annulus", "100", "--outer", "3", "--out", "a.npz"]) == 0
assert np.linalg.norm(mf.data.Dataset.load("a.npz").X, axis=1).max() <= 3.0 + 1e-12
"""


def test_a_new_file_is_all_that_a_law_needs(newcomer: Any) -> None:
    newcomer.adds("data/annulus.py", printed())
    done = newcomer.runs("-c", PROGRAM)
    assert done.returncode == 0, done.stderr


def test_a_new_law_keeps_the_rules_for_laws(newcomer: Any) -> None:
    newcomer.adds("data/annulus.py", printed())
    found = newcomer.is_judged_by(
        "cli/test_sample_command.py",
        "test_house_rules.py",
        "test_package.py",
        only="annulus or every_distribution or follows or names_of or imports or entered",
    )
    assert set(found.values()) == {"PASSED"}
    assert {
        "test_every_distribution_of_the_library_is_offered",
        "test_example_in_the_help_of_every_law_runs[annulus]",
        "test_names_of_public_classes_are_unique",
    } <= set(found)


def test_a_law_that_cannot_draw_is_written_down_but_not_offered_and_the_test_says_so(newcomer: Any) -> None:
    newcomer.adds("data/annulus.py", printed().replace("def _draw", "def _drew"))
    found = newcomer.is_judged_by("cli/test_sample_command.py", only="every_distribution")
    assert found == {"test_every_distribution_of_the_library_is_offered": "FAILED"}


def test_a_name_that_no_file_brings_is_none_of_the_room() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = mf.data.Nonsense
    assert {"Sphere", "UniformNoise", "moons"} <= set(dir(mf.data)) >= set(mf.data.__all__)
