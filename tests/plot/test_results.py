"""Results in a notebook: short words, a table, a picture, and nothing imported that is not looked at."""

from __future__ import annotations

import dataclasses
import gc
import inspect
import math
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import marginflow as mf
from marginflow.display import Brief, brief_text, shortened
from marginflow.errors import InputError
from marginflow.flow import GradientFlow, LossBelow, Recording
from marginflow.plot.perturbations import radius_charts
from marginflow.plot.records import record_of
from marginflow.plot.results import PICTURES
from marginflow.progress import ProgressBar
from marginflow.report.style import colours
from marginflow.robustness.class_universal import universal_change

DATA = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [0.3, -1.0]], y=[1, -1, -1, 1])
LIMIT = mf.kkt_point(DATA, width=4, seed=0)
WITHOUT_PICTURE = ("Sweep", "Statement", "Universal")
SWEEP = mf.sweeps.Sweep(task="limit", grid={"dimension": [4, 5]}, fixed={"n_samples": 3, "width": 3}, seeds=2)


CLASSES = mf.data.Dataset(
    X=[[1.0, 0.0], [1.2, 0.1], [0.0, 1.0], [0.1, 1.3], [-1.0, -1.0], [-1.1, -0.8]], y=["a", "a", "b", "b", "c", "c"]
)


def _results() -> dict[str, object]:
    limit_of_classes = mf.kkt_point(CLASSES, width=10, seed=0)
    assert isinstance(limit_of_classes, mf.limit.ClassesLimit)
    audit_of_classes = mf.audit(limit_of_classes.network, CLASSES.X, [0, 0, 1, 1, 2, 2])
    assert isinstance(audit_of_classes, mf.audits.ClassesAudit)
    influence = mf.influence(LIMIT, DATA)
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
        "Influence": influence,
        "Sweep": SWEEP,
        "Results": mf.sweeps.run(SWEEP),
        "ClassesLimit": limit_of_classes,
        "ClassifierKKT": limit_of_classes.certificate,
        "ClassesAudit": audit_of_classes,
        "UniversalChange": universal_change(limit_of_classes.network, CLASSES.X, share=0.5),
        "Universal": mf.robustness.universal_perturbation(LIMIT.network, DATA.X, DATA.y),
        "RaySteps": mf.robustness.minimal_step(LIMIT.network, DATA.X, DATA.y, [1.0, 0.0]),
        "Hunt": mf.theory.hunt("KYS23/Thm3.1", seconds=60.0, tries=2),
        "FigureResult": mf.experiments.figure("KYS23/Fig3").run(size="smoke"),
        "Statement": mf.theory.statement("VYS22/Thm4.1"),
        "Atlas": mf.theory.map("VYS22/Thm4.1", {"d": [100.0, 1000.0], "m": [2.0, 10.0], "c": [0.5]}),
        "Valuation": mf.influences.valuation(influence, DATA),
        "Unlearning": mf.influences.unlearning(influence, DATA),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    return _results()


@pytest.fixture(scope="module")
def pages(results: dict[str, object]) -> dict[str, str]:
    return {name: result._repr_html_() for name, result in results.items()}


def test_every_result_shows_itself_in_five_lines_and_as_a_table(
    results: dict[str, object], pages: dict[str, str]
) -> None:
    assert set(results) == set(PICTURES)
    for name, result in results.items():
        text, html = repr(result), pages[name]
        assert text.startswith(f"{name}("), text
        assert len(text.splitlines()) <= 5
        assert max(map(len, text.splitlines())) <= 160
        assert f"<b>{name}</b>" in html
        assert "<table>" in html
        assert "<script" not in html
        assert ("<svg" in html) == (name not in WITHOUT_PICTURE)
        assert "\\" not in html  # no raw LaTeX
        assert not {"plain_names", "plain_values", "plain_arrays"} & set(dir(result))


def test_pictures_follow_the_theme_of_the_notebook(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        if name in WITHOUT_PICTURE:
            continue
        style, drawn = html[html.index("<style>") : html.index("</style>")], html[html.index("</style>") :]
        assert '[data-jp-theme-light="false"] .marginflow' in style
        used = set(re.findall(r"var\(--mf-([a-z0-9-]+),#[0-9a-f]{6}\)", drawn))
        assert {"paper", "ink"} <= used, name
        assert all(f"--mf-{colour}:#" in style for colour in used)
        bare = re.sub(r"var\(--mf-[a-z0-9-]+,#[0-9a-f]{6}\)", "", drawn)
        assert not set(colours("light").values()) & set(re.findall(r"#[0-9a-f]{6}\b", bare)), name


def test_numbers_stand_under_each_other_and_the_radius_begins_at_zero(
    results: dict[str, object], pages: dict[str, str]
) -> None:
    assert re.findall(r"text-align:(\w+);[^>]*>(?:\d+ of \d+)<", pages["Certificate"]) == ["right"] * 3
    (chart,) = radius_charts(record_of(results["Radius"]))
    assert ("at least", 0.0, 0.0) in {(row[2], row[0], row[1]) for row in chart.numbers.rows}


def test_pictures_are_altair_charts_that_can_be_drawn(results: dict[str, object]) -> None:
    for name, result in results.items():
        if name in WITHOUT_PICTURE:
            continue
        chart = result.plot()
        assert type(chart).__module__.startswith("altair")
        chart.to_dict()  # checked against the schema


def test_a_run_with_its_data_draws_the_residual_of_the_recorded_networks(results: dict[str, object]) -> None:
    plain, with_data = results["Run"].plot(), results["Run"].plot(data=DATA)
    assert len(plain.hconcat) == 2
    assert len(with_data.hconcat) == 3


def test_rows_of_a_sweep_say_once_what_is_the_same_and_wide_tables_scroll(pages: dict[str, str]) -> None:
    assert "4 rows; in all of them law sphere, n_samples 3," in pages["Results"]
    headings = re.findall(r"<th[^>]*>([^<]+)</th>", pages["Results"])
    assert "dimension" in headings
    assert "n_samples" not in headings
    for page in pages.values():
        assert page.count("<table>") == page.count('<div style="overflow-x:auto"><table>')


def test_results_of_a_sweep_are_drawn_by_the_names_of_columns(results: dict[str, object]) -> None:
    found = results["Results"]
    found.plot(x="dimension", y="norm_squared").to_dict()
    first = found.plot().to_dict()
    assert "dimension" in str(first["title"])
    with pytest.raises(InputError, match="nothing to draw"):
        mf.sweeps.run(SWEEP.some([0])).plot()
    with pytest.raises(InputError, match="There is no column 'nonsense'"):
        found.plot(x="dimension", y="nonsense")


def test_the_plane_is_shown_as_it_is_and_higher_dimensions_by_principal_directions() -> None:
    X = np.random.default_rng(0).normal(size=(30, 5)) * [5.0, 3.0, 0.1, 0.1, 0.1]
    from marginflow.plot.datasets import sample_charts

    (chart,) = sample_charts(record_of(mf.data.Dataset(X=X, y=np.where(np.arange(30) % 2, 1, -1))))
    drawn = np.array([[row[2], row[1]] for row in chart.numbers.rows])
    assert "principal" in chart.title
    assert any("% of variance" in str(column) for column in chart.numbers.columns)
    assert drawn.shape == (30, 2)
    (plane,) = sample_charts(record_of(DATA))
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
        "print(data._repr_html_())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "<table>" in done.stdout
    assert "<svg" not in done.stdout


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


def test_a_bar_ends_when_nobody_holds_it_and_names_what_the_library_says() -> None:
    seen: list[tuple[str, float]] = []

    class Recorder(ProgressBar):
        def _draw(self, line: str, share: float) -> None:
            self._open = share < 1.0
            seen.append((line, share))

    mf.kkt_point(DATA, width=4, seed=0, progress=Recorder("KKT point"))
    gc.collect()
    assert seen[-1][0].startswith("KKT point  done in ")
    assert seen[-1][1] == 1.0
    assert all(share < 1.0 for _, share in seen[:-1])
    bar = Recorder("Training")
    now = mf.flow.TrainingProgress(step=3, epoch=0, log_loss=math.log(1e-9), seconds=1.0, share=0.25)
    assert bar.line(now) == "Training  25 %  step 3, loss 10^-9.0"
    long = mf.limit.Progress(
        stage="a stage of the solver",
        iteration=10**9,
        flips=10**9,
        live_neurons=10**9,
        objective=1.0,
        gap=0.0,
        seconds=0,
    )
    assert len(bar.line(long)) <= 78
    assert not bar.line(long).endswith((",", "live", "live neurons"))
    before = len(seen)
    bar.finish()  # nothing was drawn of it
    assert len(seen) == before
