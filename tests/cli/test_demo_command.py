"""`marginflow demo`: one page, whose numbers are those of the files beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marginflow import certify
from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.demo import clusters, digits, plane, theorem
from marginflow.measurements import PlaneFlow, plane_flow
from marginflow.networks import TwoLayer
from marginflow.report.demo_page import render_demo
from marginflow.theory import statement
from marginflow.theory.registry import headlines


def test_files_beside_the_page_hold_what_it_says(small_demo: Any) -> None:
    folder, record = small_demo.folder, small_demo.record
    moons, digit_data = Dataset.load(folder / "moons.npz"), Dataset.load(folder / "digits.npz")
    point = certify(TwoLayer.load(folder / "moons-kkt.safetensors"), moons)
    trained = certify(TwoLayer.load(folder / "moons-trained.safetensors"), moons)
    assert point.holds()
    assert not trained.holds()
    drawn = record["chapters"]["plane"]["record"]
    assert drawn["point"]["residual"] == pytest.approx(point.total, abs=1e-13)
    assert drawn["frames"][-1]["residual"] == pytest.approx(trained.total)
    assert len(drawn["point"]["on_margin"]) == int(point.margin_set.sum())
    assert certify(TwoLayer.load(folder / "digits-kkt.safetensors"), digit_data).holds()


def test_every_network_is_certified_once_with_every_tolerance(small_demo: Any) -> None:
    """Its certificate is carried from there; another scale of its parameters makes it no other network."""
    again = [times for times in Counter(small_demo.certified).values() if times > 1]
    assert again == []
    assert len(small_demo.certified) > 10


def test_the_page_is_whole_and_says_the_same_numbers(small_demo: Any) -> None:
    folder, record = small_demo.folder, small_demo.record
    page = (folder / "index.html").read_text(encoding="utf-8")
    chapters = record["chapters"]
    assert f"{chapters['digits']['record']['upper']:.2f}" in page
    words = page[page.index("<main>") : page.index("</main>")]
    assert words.count("<h2") == 7
    assert words.count('class="chart"') == 3
    assert "default-src 'none'" in page
    for word in ("slack", "e-16", "None", "nan"):
        assert word not in words
    assert all(id in page for id in headlines())
    theorem_record = chapters["theorem"]["record"]
    assert f"fewer than {theorem_record['speaks_from']['literal']} clusters" in words
    assert "marginflow demo" in page
    assert record["holds"] is True
    assert record["interrupted"] is False


def test_kkt_points_lose_room_with_every_cluster_and_the_robust_network_does_not(small_demo: Any) -> None:
    """A noiseless point is sqrt(d/k) from the boundary of the KKT point, sqrt(d)/2 from the robust one's."""
    rows = small_demo.record["chapters"]["clusters"]["record"]["rows"]
    for row in rows:
        assert row["certified"]
        assert row["kkt"] == pytest.approx(row["k"] ** -0.5, rel=0.02)
        assert row["robust"] == pytest.approx(0.5, rel=0.02)
        assert row["kkt_settled"] == row["robust_settled"] == clusters.N_RADII
        assert row["kkt_flips_all"] >= row["kkt_smallest"]  # no common step is shorter than the nearest boundary


def test_what_the_page_calls_false_is_false_as_printed_by_the_statements_own_list() -> None:
    found = headlines()
    assert len(found) >= 7
    for id, sentence in found.items():
        forms = statement(id).forms
        assert forms is not None
        assert [erratum.severity for erratum in forms.errata if erratum.headline == sentence] == ["statement false"]


def test_all_the_bundled_digits_are_there() -> None:
    data = digits.handwritten()
    assert (data.X.shape, int((data.y > 0).sum())) == ((357, 64), 174)
    assert (data.X.min(), data.X.max()) == (0.0, 16.0)


def test_an_interrupt_keeps_the_pictures_that_are_finished(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    smaller: Callable[[pytest.MonkeyPatch], None],
) -> None:
    smaller(monkeypatch)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(digits, "universal_perturbation", interrupted)
    assert main(["demo", "--out", str(tmp_path / "page")]) == 130
    captured = capsys.readouterr()
    assert "1 of 4 pictures are kept" in captured.err
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "The demo was interrupted" in page
    assert "Where training goes" in page
    assert "One vector flips them all" not in page
    assert (tmp_path / "page" / "moons-kkt.safetensors").is_file()


def test_a_flow_that_does_not_separate_the_moons_is_said_in_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def unfinished(*given: Any, **options: Any) -> PlaneFlow:
        found = plane_flow(*given, **options)
        *others, last = found.frames
        return replace(found, frames=(*others, last | {"residual": None, "forgiven": None}))

    monkeypatch.setattr(plane, "plane_flow", unfinished)
    monkeypatch.setattr(plane, "WIDTH", 20)
    monkeypatch.setattr(plane, "N_FRAMES", 3)
    chapter = plane.plane(0, lambda share, remark: None)
    assert "does not separate the samples; the KKT point has" in chapter.sentence
    assert render_demo({"plane": chapter.record}, findings={}, command="", versions={}, parameters={})


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert main(["demo", "--out", str(tmp_path / "no" / "where")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("form", theorem.FORMS)
def test_a_bound_says_something_from_the_named_number_of_clusters_on_and_not_before(form: str) -> None:
    k = theorem.speaks_from(form)
    assert k is not None
    assert theorem.bounds(k)[form] < theorem.THRESHOLD <= theorem.bounds(k - 2)[form]
