"""The distribution of docs/add_a_distribution.md works as it is printed there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginflow as mf
from marginflow.cli import sample
from marginflow.data import ExactCountNoise
from marginflow.errors import InputError
from marginflow.sweeps.built_in import point

PAGE = Path(__file__).parents[2] / "docs" / "add_a_distribution.md"


@pytest.fixture(scope="module")
def annulus() -> Any:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": "annulus"}
    exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)
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


def test_a_new_file_is_all_that_a_law_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "annulus.py").write_text(block, encoding="utf-8")
    monkeypatch.setattr(mf.data, "__path__", [*mf.data.__path__, str(tmp_path)])
    try:
        drawn = mf.data.Annulus(outer=3.0).sample(5, seed=0)
        assert np.array_equal(mf.data.redraw(drawn.origin).X, drawn.X)
        assert mf.data.distribution_of(drawn.origin).outer == 3.0
        assert "annulus" in sample.laws()
        sweep = mf.sweeps.Sweep(task="limit", fixed={"law": "annulus", "n_samples": 6, "width": 8, "noise": 0.2})
        (record,) = mf.sweeps.run(sweep).require_complete()
        assert record.row["holds"] is True
    finally:
        sys.modules.pop("marginflow.data.annulus", None)
        vars(mf.data).pop("annulus", None)
        point._KNOWN.pop("annulus", None)
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = mf.data.Nonsense
