"""`marginflow demo`: one page, whose numbers are those of the files beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from marginflow import certify
from marginflow.cli import demo as command
from marginflow.cli import demo_edge, demo_theory, main
from marginflow.data import Clusters, Dataset, smallest_dimension
from marginflow.limit import kkt_point
from marginflow.networks import TwoLayer


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smaller demo than the real one: the same code on fewer samples."""
    folder = tmp_path_factory.mktemp("demo") / "page"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "N_CLUSTERS", 2)
        patch.setattr(command, "N_SAMPLES", 20)
        patch.setattr(command, "WIDTH", 30)
        patch.setattr(command, "STOP_LOSS", 1e-6)
        patch.setattr(command, "N_FRESH", 200)
        patch.setattr(demo_edge, "CLUSTERS", (4, 9))
        assert main(["demo", "--out", str(folder), "--seed", "1"]) == 0
    return folder


def test_files_beside_the_page_hold_what_it_says(made: Path) -> None:
    data = Dataset.load(made / "data.npz")
    assert certify(TwoLayer.load(made / "KKT-point.safetensors"), data).holds()
    assert not certify(TwoLayer.load(made / "trained-network.safetensors"), data).holds()


def test_page_gives_verdict_seed_versions_and_command(made: Path) -> None:
    page = (made / "index.html").read_text(encoding="utf-8")
    verdict = re.search(r'<p class="verdict holds">(.*?)</p>', page)
    assert verdict is not None
    assert "is certified" in verdict.group(1)
    assert "marginflow demo --seed 1" in page
    assert "The theorems on this instance" in page
    assert "Clopper and Pearson" in page
    assert "numpy" in page
    assert page.count('class="chart"') == 7


def test_second_demo_replaces_the_first_and_prints_json(
    made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"N_CLUSTERS": 2, "N_SAMPLES": 20, "WIDTH": 30, "STOP_LOSS": 1e-6, "N_FRESH": 50}.items():
        monkeypatch.setattr(command, name, value)
    monkeypatch.setattr(demo_edge, "CLUSTERS", (4, 9))
    assert main(["demo", "--out", str(made), "--seed", "1", "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert Path(record["page"]) == (made / "index.html").resolve()
    assert record["networks"]["KKT point"]["holds"] is True
    error = record["networks"]["KKT point"]["test_error"]
    assert error["trials"] == 50
    assert error["lower"] <= error["value"] <= error["upper"]
    assert record["verdicts"]["FVBS23/Asm2.2"] in ("holds", "violated")
    assert "Trained" in captured.err  # progress for people goes to stderr


def test_kkt_points_lose_room_with_every_cluster_and_the_robust_network_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A noiseless point is sqrt(d/k) from the boundary of the KKT point, sqrt(d)/2 from the robust one's."""
    monkeypatch.setattr(demo_edge, "CLUSTERS", (4, 16))
    edges = demo_edge.double_edge(0, lambda share, remark: None)
    for edge in edges:
        assert edge.certified
        thin, robust = edge.sides
        root = edge.dimension**0.5
        assert thin.median / root == pytest.approx(edge.k**-0.5, rel=0.02)
        assert robust.median / root == pytest.approx(0.5, rel=0.02)
        assert {one.status for side in edge.sides for one in side.radii} == {"proved"}
        for side in edge.sides:  # no common step is shorter than the nearest boundary
            assert side.flips.size_for_share(1.0) >= max(one.lower for one in side.radii)


def test_theorems_apply_to_the_demo_as_it_is_shipped_and_hold_and_their_contrast_needs_more_clusters() -> None:
    law = Clusters(dimension=smallest_dimension(command.N_CLUSTERS), n_clusters=command.N_CLUSTERS)
    data = law.sample(command.N_SAMPLES, seed=0)
    network = kkt_point(data, width=20, seed=0).compact
    judged = demo_theory.judge_theory(law, network, data, seed=0, show=lambda share, remark: None)
    outcomes = {one.statement.id: one.verdict.outcome for one in judged}
    assert {outcomes[name] for name in demo_theory.MAIN} == {"holds"}
    assert [name for name, outcome in outcomes.items() if outcome != "holds"] == [demo_theory.CONTRAST]
    line = demo_theory.told(judged)
    assert f"{len(judged) - 1} hold; {demo_theory.CONTRAST} is violated (with so few clusters" in line
    few = law.sample(40, seed=0)  # fewer than k ln(d)^2: the theorems are silent
    silent = demo_theory.judge_theory(
        law, kkt_point(few, width=20, seed=0).compact, few, seed=0, show=lambda share, remark: None
    )
    assert {one.verdict.outcome for one in silent if one.statement.id == "FVBS23/Thm3.1"} == {"not applicable"}
    assert "is not applicable (hypothesis not met: " in demo_theory.told(silent)


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert main(["demo", "--out", str(tmp_path / "no" / "where")]) == 2
    assert "does not exist" in capsys.readouterr().err
