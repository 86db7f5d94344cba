"""Every theorem, proposition and corollary of the papers is reached from files: `check ID` on what a user has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marginflow import theory
from marginflow.cli import main
from marginflow.flow import save_run
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain
from marginflow.theory import Instance, Statement

OWN = ("VYS22", "FVBS23", "KYS23", "FCB22")
KINDS = ("theorem", "proposition", "corollary")
MAIN = [
    statement
    for key in OWN
    for statement in theory.statements(key)
    if statement.kind in KINDS or "/Prop" in statement.id
]


def toml(table: Mapping[str, object], head: str = "") -> str:
    """A table of plain values as TOML, tables within it after its own lines."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, Mapping | None)]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += [f"[{head}{key}]", toml(value, f"{head}{key}.")]
    return "\n".join(lines)


def command_line(statement: Statement, instance: Instance, folder: Path) -> list[str]:
    """The files of an instance, and the line that judges the statement on them."""
    line = ["check", statement.id, "--json"]
    if instance.run is not None:
        save_run(instance.run, folder / "run.json")
        line += ["--run", str(folder / "run.json")]
    elif instance.network is not None:
        instance.network.save(folder / "network.safetensors")
        line += ["--network", str(folder / "network.safetensors")]
    if "start" in statement.needs and instance.start is not None:
        instance.start.save(folder / "start.safetensors")
        line += ["--start", str(folder / "start.safetensors")]
    for name in ("data", "test"):
        data = getattr(instance, name)
        if data is not None and name in statement.needs:
            data.save(folder / f"{name}.npz")
            line += [f"--{name}", str(folder / f"{name}.npz")]
    if instance.law is not None and {"law", "parameters", "run"} & set(statement.needs):
        (folder / "law.toml").write_text(toml(to_plain(instance.law, named=True)), encoding="utf-8")
        line += ["--law", str(folder / "law.toml")]
    if instance.multipliers is not None and statement.id in ("FVBS23/Thm4.2", "FVBS23/ThmD.1"):  # 31,003 samples
        lam, mu = instance.multipliers
        np.savez(folder / "multipliers.npz", **{"lambda": lam, "mu": mu})
        line += ["--multipliers", str(folder / "multipliers.npz")]
    for name, number in instance.parameters.items():
        line += ["-p", f"{name}={number!r}"]
    return line


def test_there_are_as_many_main_results_as_the_papers_have() -> None:
    printed = [
        statement
        for statement in MAIN
        if not statement.number.startswith(("ours", "from")) and "X." not in statement.id
    ]
    counts = {key: sum(statement.id.startswith(key) for statement in printed) for key in OWN}
    assert len(MAIN) >= 33
    assert sum(counts.values()) >= 33, counts


@pytest.mark.parametrize("statement", MAIN, ids=lambda statement: statement.id)
def test_a_main_result_is_judged_from_files_as_on_its_example(
    statement: Statement, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(command_line(statement, statement.example(), tmp_path))
    printed = capsys.readouterr()
    assert printed.err == ""
    verdict = json.loads(printed.out)
    assert (code, verdict["outcome"]) == (0, "holds"), verdict["sentence"]


def test_a_network_that_is_not_the_end_of_the_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = theory.statement("FCB22/Thm3.1.2")
    example = statement.example()
    line = command_line(statement, example, tmp_path)
    network = example.the_network()
    replace(network, W=1.001 * network.W).save(tmp_path / "other.safetensors")
    assert main([*line, "--network", str(tmp_path / "other.safetensors")]) == 2
    assert "not the end of the run" in capsys.readouterr().err


def test_a_run_on_other_data_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    statement = theory.statement("VYS22/Thm2.1")
    example = statement.example()
    line = command_line(statement, example, tmp_path)
    data = example.the_data()
    replace(data, y=-data.y).save(tmp_path / "data.npz")
    assert main(line) == 2
    assert "was not made on these data" in capsys.readouterr().err


def test_train_keeps_a_run_that_check_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, run = str(tmp_path / "data.npz"), str(tmp_path / "run.json")
    assert main(["sample", "orthogonal", "6", "--dimension", "20", "--out", data]) == 0
    network = str(tmp_path / "network.safetensors")
    line = ["train", data, "--width", "8", "--scale", "0.1", "--stop-loss", "1e-12", "--out", network, "--run", run]
    assert main(line) == 0
    assert main(["check", "VYS22/Thm2.1", "--run", run, "--data", data]) == 0
    assert "VYS22/Thm2.1 holds here" in capsys.readouterr().out
    assert main([*line[:-1], str(tmp_path / "network.json"), "--force"]) == 2, "both would be network.safetensors"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "marginflow run 1"}'])
def test_what_is_not_a_run_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    TwoLayer(W=[[1.0]], v=[1.0]).save(tmp_path / "run.safetensors")
    assert main(["check", "VYS22/Thm2.1", "--run", str(tmp_path / "run.json")]) == 2
    assert "run.json" in capsys.readouterr().err
