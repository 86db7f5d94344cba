"""`marginflow check`: exit code 0 where a statement holds, 1 where not, 2 for what cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset, Sphere
from marginflow.flow import GradientFlow, Steps, save_run, train
from marginflow.limit import orthogonal
from marginflow.networks import TwoLayer
from marginflow.robustness import one_neuron_per_sample


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = Dataset(X=10.0 * np.eye(100)[:32], y=[1] * 16 + [-1] * 16)
    data.save("data.npz")
    orthogonal(data).network.save("kkt.safetensors")
    one_neuron_per_sample(data.X, data.y).network.save("robust.safetensors")
    Sphere(dimension=100, labels="both").sample(32).save("random.npz")
    Dataset(X=np.eye(2), y=[1, -1]).save("plane.npz")
    TwoLayer(W=np.eye(2), v=[1.0, -1.0]).save("plane.safetensors")
    start = TwoLayer.initialise(4, 3, seed=0)
    run = train(start, Sphere(dimension=3).sample(5, seed=0), GradientFlow(stop=[Steps(2)]))
    save_run(run, "run.json")


def test_built_in_example_holds_and_control_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check VYS22/LemC.5".split()) == 0
    assert "VYS22/LemC.5: holds" in capsys.readouterr().out
    assert main("check VYS22/LemC.5 --control".split()) == 1
    printed = capsys.readouterr().out
    assert "not applicable" in printed
    assert "This is the control, as announced: " in printed


def test_own_files_are_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check VYS22/Thm4.1 --network kkt.safetensors --data data.npz --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["outcome"] == "holds"
    flip = next(check for check in record["constants"] if check["name"] == "||z||, exact")
    assert flip["observed"] == pytest.approx(np.sqrt(100 / 32))
    assert main("check VYS22/Thm4.1 --network robust.safetensors --data data.npz --json".split()) == 1
    assert json.loads(capsys.readouterr().out)["outcome"] == "not applicable"


def test_parameters_are_given_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check VYS22/Lem3.1a -p dimension=100 -p k=0.5 --json".split()) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "holds"
    assert main("check VYS22/Lem3.1a --parameter dimension=50 --parameter n_samples=50".split()) == 1
    assert "vacuous" in capsys.readouterr().out


def test_all_statements_that_the_files_suffice_for(capsys: pytest.CaptureFixture[str]) -> None:
    line = "check --all --paper VYS22 --network kkt.safetensors --data data.npz --json"
    assert main(line.split()) == 0
    record = json.loads(capsys.readouterr().out)
    outcomes = {verdict["id"]: verdict["outcome"] for verdict in record["verdicts"]}
    assert outcomes["VYS22/Thm4.1"] == outcomes["VYS22/LemC.2"] == outcomes["VYS22/A.KKT"] == "holds"
    assert "VYS22/Thm2.1" in record["skipped"]
    assert record["violated"] == []


def test_a_missing_property_of_the_data_is_no_violation(capsys: pytest.CaptureFixture[str]) -> None:
    """On random data the assumption on m fails, and the theorems do not apply; nothing contradicts them."""
    assert main("check --all --paper VYS22 --network kkt.safetensors --data random.npz".split()) == 0
    printed = capsys.readouterr().out
    assert "not applicable" in printed
    assert max(map(len, printed[printed.index("\n\n") :].splitlines()[:5])) <= 80
    line = next(line for line in printed.splitlines() if line.startswith("VYS22/A.msize"))
    assert line.split()[1:3] == ["not", "met"]
    assert "fails" not in line


def test_a_conclusion_that_is_not_defined_was_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """On random data eta_1 is negative, and the vector z of the theorem does not exist."""
    assert main("check VYS22/Thm4.1 --network kkt.safetensors --data random.npz".split()) == 1
    printed = capsys.readouterr().out
    assert "claim       not judged: z is not defined for these data" in printed
    assert "nan" not in printed


def test_a_gap_in_a_printed_proof_is_shown_by_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check KYS23/LemB.3 --gap".split()) == 1
    assert "KYS23/LemB.3 is not contradicted, but its proof is" in capsys.readouterr().out


def test_all_built_in_examples_of_a_paper_with_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check --all --paper VYS22 --out page.html --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["implemented"] == record["total"] == 61
    assert record["violated"] == record["unsound"] == []
    assert "VYS22/Thm4.1" in Path("page.html").read_text(encoding="utf-8")
    assert main("check --all --paper VYS22 --out page.html".split()) == 2, "a page is not overwritten unasked"


def test_anything_violated_gives_exit_code_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    from marginflow import theory
    from marginflow.theory import Findings

    good = theory.covered("VYS22/LemC.5")
    assert good.example is not None
    broken = replace(good, example=replace(good.example, findings=Findings(claims=good.control.claims)))
    assert broken.example is not None
    assert broken.example.outcome == "violated"
    monkeypatch.setattr(theory, "coverage", lambda *_, **__: (good,))
    monkeypatch.setattr(theory, "covered", lambda _: broken)
    assert main("check --all".split()) == 1
    assert "VYS22/LemC.5" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("check", "Which statement?"),
        ("check VYS22/Thmm4.1", "did you mean VYS22/Thm4.1"),
        ("check VYS22/Thm4.1 --data data.npz", "network was not given"),
        ("check VYS22/Thm4.1 --network no.safetensors --data data.npz", "There is no file"),
        ("check VYS22/Thm4.1 --network kkt.safetensors --data data.npz --control", "built-in"),
        ("check VYS22/Thm4.1 --gap", "KYS23/LemB.3"),
        ("check KYS23/LemB.3 --gap --control", "give one of them"),
        ("check VYS22/Lem3.1a -p dimension", "NAME=VALUE"),
        ("check VYS22/Lem3.1a -p height=3", "no parameter 'height'"),
        ("check VYS22/Lem3.1a -p dimension=many -p n_samples=3", "a number is expected"),
        ("check VYS22/Lem3.1a --out page.html", "go with --all"),
        ("check --all VYS22/Lem3.1a", "leave out the id"),
        ("check --all --out page.txt", ".html is expected"),
        ("check --all --paper XYZ", "XYZ"),
        ("check --all --network plane.safetensors --data data.npz", "the samples of data.npz have 100 columns"),
        ("check VYS22/Def.net --network plane.safetensors --data data.npz", "plane.safetensors takes points of"),
        ("check VYS22/Def.net --run run.json --data plane.npz", "run.json takes points of dimension 3"),
        ("check --all --network kkt.safetensors --data data.npz --test plane.npz", "the samples of plane.npz have 2"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert sorted(tmp_path.iterdir()) == before


def test_statements_about_another_kind_of_data_are_left_out_and_missing_properties_are_no_contradiction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain points have none of the clusters that FCB22 speaks of, and do not lie on a sphere as VYS22 assumes."""
    rng = np.random.default_rng(0)
    Dataset(X=rng.normal(size=(12, 3)), y=np.where(np.arange(12) % 2, 1.0, -1.0)).save(tmp_path / "data.npz")
    TwoLayer.initialise(6, 3, seed=0).save(tmp_path / "net.safetensors")
    line = f"check --all --network {tmp_path}/net.safetensors --data {tmp_path}/data.npz --out {tmp_path}/p.html --json"
    assert main(line.split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["violated"] == []
    assert "VYS22/A.sphere" in record["not_met"]
    assert any(name.startswith("FCB22/") for name in record["skipped"])
    assert "properties that are not met here" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_theorems_about_a_law_are_judged_on_files_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`sample` stores the law with the data; fresh points are drawn from it."""
    data, network = tmp_path / "d.npz", tmp_path / "k.safetensors"
    assert main(f"sample clusters 80 --dimension 549 --n-clusters 2 --reduced --out {data}".split()) == 0
    assert main(f"limit {data} --width 6 --out {network}".split()) == 0
    outcomes = {"Thm3.1": 0, "ThmA.1": 0, "Thm4.1": 0, "PropA.1": 0, "Lem2.1": 0, "Thm4.2": 1, "Cor-Both": 1}
    for name, code in outcomes.items():
        assert main(f"check FVBS23/{name} --network {network} --data {data}".split()) == code, name
    printed = capsys.readouterr().out
    assert "300 fresh points (seed 0)" in printed
    assert "FVBS23/Thm4.2 says nothing here" in printed
    law = tmp_path / "law.toml"
    law.write_text('name = "Clusters"\ndimension = 549\nn_clusters = 2\n', encoding="utf-8")
    assert main(f"check FVBS23/Asm2.2 --law {law}".split()) == 0
    law.write_text("dimension = 549\n", encoding="utf-8")
    assert main(f"check FVBS23/Asm2.2 --law {law}".split()) == 2
    law.write_text("nonsense", encoding="utf-8")
    assert main(f"check FVBS23/Asm2.2 --law {law}".split()) == 2


def test_an_input_that_is_not_looked_at_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check VYS22/Thm3.1 --network kkt.safetensors --data data.npz".split()) == 0
    assert "Not used: network." in capsys.readouterr().out
