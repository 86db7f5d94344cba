"""Results in a notebook: short words, a table, a picture, and nothing imported that is not looked at."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import types

import numpy as np
import pytest

import marginflow as mf
from marginflow.display import Brief, brief_text, shortened
from marginflow.errors import InputError
from marginflow.flow import GradientFlow, LossBelow, Recording
from marginflow.plot.results import PICTURES
from marginflow.progress import ProgressBar

DATA = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [0.3, -1.0]], y=[1, -1, -1, 1])
LIMIT = mf.kkt_point(DATA, width=4, seed=0)
SWEEP = mf.sweeps.Sweep(task="limit", grid={"dimension": [4, 5]}, fixed={"n_samples": 3, "width": 3}, seeds=2)


def _results() -> dict[str, object]:
    start = mf.networks.TwoLayer.initialise(width=4, dimension=2, seed=0)
    run = mf.train(start, DATA, GradientFlow(stop=[LossBelow(1e-3)]), recording=Recording(networks=True))
    return {
        "Dataset": DATA,
        "Run": run,
        "Limit": LIMIT,
        "Certificate": LIMIT.certificate,
        "Radius": mf.robustness.exact_radius(LIMIT.network, DATA.X[0]),
        "Verdict": mf.theory.statement("VYS22/Thm4.1").check(LIMIT.network, DATA),
        "Audit": mf.audit(LIMIT.network, DATA.X, DATA.y),
        "Influence": mf.influence(LIMIT, DATA),
        "Sweep": SWEEP,
        "Results": mf.sweeps.run(SWEEP),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    return _results()


def test_every_result_shows_itself_in_five_lines_and_as_a_table(results: dict[str, object]) -> None:
    assert set(results) == set(PICTURES)
    for name, result in results.items():
        text, html = repr(result), result._repr_html_()  # type: ignore[attr-defined]
        assert text.startswith(f"{name}("), text
        assert len(text.splitlines()) <= 5
        assert max(map(len, text.splitlines())) <= 160
        assert f"<b>{name}</b>" in html
        assert "<table>" in html
        assert "<script" not in html
        assert ("<svg" in html) == (name != "Sweep")


def test_pictures_are_altair_charts_that_can_be_drawn(results: dict[str, object]) -> None:
    for name, result in results.items():
        if name == "Sweep":
            continue
        chart = result.plot()  # type: ignore[attr-defined]
        assert type(chart).__module__.startswith("altair")
        chart.to_dict()  # checked against the schema


def test_a_run_with_its_data_draws_the_residual_of_the_recorded_networks(results: dict[str, object]) -> None:
    plain, with_data = results["Run"].plot(), results["Run"].plot(data=DATA)  # type: ignore[attr-defined]
    assert len(plain.hconcat) == 2
    assert len(with_data.hconcat) == 3


def test_results_of_a_sweep_are_drawn_by_the_names_of_columns(results: dict[str, object]) -> None:
    found = results["Results"]
    found.plot(x="dimension", y="norm_squared").to_dict()  # type: ignore[attr-defined]
    first = found.plot().to_dict()  # type: ignore[attr-defined]
    assert "dimension" in str(first["title"])
    with pytest.raises(InputError, match="nothing to draw"):
        mf.sweeps.run(SWEEP.some([0])).plot()
    with pytest.raises(InputError, match="There is no column 'nonsense'"):
        found.plot(x="dimension", y="nonsense")  # type: ignore[attr-defined]


def test_the_plane_is_shown_as_it_is_and_higher_dimensions_by_principal_directions() -> None:
    X = np.random.default_rng(0).normal(size=(30, 5)) * [5.0, 3.0, 0.1, 0.1, 0.1]
    from marginflow.plot.datasets import charts

    (chart,) = charts(mf.data.Dataset(X=X, y=np.where(np.arange(30) % 2, 1, -1)))
    drawn = np.array([[row[2], row[1]] for row in chart.numbers.rows])
    assert "principal" in chart.title
    assert any("% of variance" in str(column) for column in chart.numbers.columns)
    assert drawn.shape == (30, 2)
    (plane,) = charts(DATA)
    assert {row[0] for row in plane.numbers.rows} == set(DATA.X[:, 0])


def test_every_public_dataclass_with_arrays_or_parts_has_a_short_repr() -> None:
    long = []
    for room in (getattr(mf, name) for name in mf.__all__):
        if not isinstance(room, types.ModuleType):
            continue
        for name in getattr(room, "__all__", ()):
            kind = getattr(room, name)
            if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and kind.__repr__ is not Brief.__repr__:
                written = not hasattr(kind.__repr__, "__wrapped__")  # by hand, not by dataclass
                heavy = any("Array" in str(field.type) for field in dataclasses.fields(kind) if field.repr)
                long += [] if written or not heavy else [f"{room.__name__}.{name}"]
    assert not long, long


def test_arrays_are_named_by_their_shapes_and_long_values_cut() -> None:
    assert brief_text(np.zeros((3, 2))) == "array of 3 × 2"
    assert brief_text(tuple(range(100))) == "100 entries"
    assert brief_text({"a": 1}) == "{'a': 1}"
    assert len(brief_text("x" * 500)) < 70
    assert len(shortened("word " * 1000).splitlines()) == 5


def test_dir_shows_the_doors_of_a_room_only() -> None:
    for name in mf.__all__:
        room = getattr(mf, name)
        if isinstance(room, types.ModuleType):
            assert dir(room) == sorted(room.__all__), name
    assert "progress_bar" in dir(mf)


def test_results_show_their_tables_where_no_charts_are_installed() -> None:
    code = (
        "import sys; sys.modules['altair'] = sys.modules['vl_convert'] = None\n"
        "import marginflow as mf\n"
        "data = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])\n"
        "shown = data._repr_html_(); assert '<table>' in shown and '<svg' not in shown"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_progress_bar_reads_everything_that_the_library_reports() -> None:
    bar = ProgressBar("Radii")
    assert bar.line(3, 12) == "Radii  25 %  3 of 12"
    assert bar.line(0.5, "certificate") == "Radii  50 %  certificate"
    assert "60 %" in bar.line(mf.sweeps.SweepProgress(total=10, stored=2, computed=4, failed=0, seconds=1.0))
    seen = []

    class Recorder(ProgressBar):
        def _draw(self, line: str, share: float) -> None:
            seen.append(line)

    mf.kkt_point(DATA, width=4, seed=0, progress=Recorder("KKT point"))
    assert seen
    assert all(line.startswith("KKT point") and len(line) <= 78 for line in seen)
