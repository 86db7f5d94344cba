"""What `--json` prints has exactly the keys that docs/json.md lists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def section(command: str) -> str:
    """What the document says of a command."""
    found = re.search(rf"^## {re.escape(command)}\n(.*?)(?=^## |\Z)", DOCUMENT, flags=re.DOTALL | re.MULTILINE)
    assert found is not None, command
    return found.group(1)


def documented(command: str) -> set[str]:
    """The names in code that open an item of the command's list, up to the text that explains them."""
    items = re.findall(r"^- (.*(?:\n  .*)*)", section(command), flags=re.MULTILINE)
    names: set[str] = set()
    for item in items:
        for part in item.split(";"):
            head = re.match(r"\s*((?:`[a-z_]+`(?:, )?)+)", part)
            names |= set(re.findall(r"`([a-z_]+)`", head.group(1))) if head else set()
    return names


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("json")
    assert main(f"sample orthogonal 6 --dimension 8 --seed 0 --out {made}/data.npz".split()) == 0
    (made / "table.csv").write_text("x,kind\n1,a\n2,b\n", encoding="utf-8")
    spec = '[sweep]\nname = "small"\ntask = "limit"\n[grid]\ndimension = [4]\n[fixed]\nn_samples = 4\nwidth = 6\n'
    (made / "spec.toml").write_text(spec, encoding="utf-8")
    assert main(f"limit {made}/data.npz --width 8 --seed 0 --out {made}/kkt.safetensors".split()) == 0
    Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1]).save(made / "plane.npz")
    TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0]).save(made / "plane.safetensors")
    return made


LINES = {
    "sample": "sample sphere 5 --dimension 3 --out {f}/s.npz --force",
    "convert": "convert {f}/table.csv --positive b --out {f}/c.npz --force",
    "train": "train {f}/data.npz --width 8 --stop-loss 1e-3 --out {f}/t.safetensors --force",
    "limit": "limit {f}/data.npz --width 8 --out {f}/l.safetensors --force",
    "certify": "certify {f}/kkt.safetensors {f}/data.npz",
    "influence": "influence {f}/data.npz --width 8 --mode fast",
    "unlearn": "unlearn {f}/data.npz --forget 1 --width 8 --mode fast --steps 3",
    "value": "value {f}/data.npz {f}/data.npz --width 8",
    "radius": "radius {f}/kkt.safetensors {f}/data.npz --first 2",
    "flip": "flip {f}/kkt.safetensors {f}/data.npz",
    "plot": "plot {f}/plane.safetensors {f}/plane.npz --out {f}/plane.svg --force",
    "statements": "statements VYS22/Thm4.1",
    "check": "check VYS22/Lem3.1a",
    "check --all": "check --all --paper VYS22 --network {f}/kkt.safetensors --data {f}/data.npz",
    "map": "map VYS22/Thm4.1 --grid d=100 m=4",
    "new-paper": "new-paper JSON26 --out {f}/paper",
    "hunt": "hunt KYS23/LemB.3-repaired --tries 3",
    "audit": "audit {f}/kkt.safetensors {f}/data.npz --points 1",
    "sweep": "sweep {f}/spec.toml --store {f}/cells.sqlite",
    "report": "report {f}/kkt.safetensors {f}/data.npz --out {f}/page.html --force",
    "cite": "cite",
    "doctor": "doctor",
}


def unknown_keys(example: object, record: object) -> list[str]:
    """The keys of an example that a printed object does not have, at any depth."""
    match example, record:
        case dict(), dict():
            missing = [key for key in example if key not in record]
            return missing + [k for key in example if key in record for k in unknown_keys(example[key], record[key])]
        case [first, *_], [other, *_]:
            return unknown_keys(first, other)
    return []


@pytest.mark.parametrize("command", LINES)
def test_json_has_the_documented_keys(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [*LINES[command].format(f=folder).split(), "--json"]
    assert main(line) in (0, 1)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    record = json.loads(printed)
    assert set(record) == documented(command)
    for example in re.findall(r"```json\n(.*?)```", section(command), flags=re.DOTALL):
        assert unknown_keys(json.loads(example), record) == []
    assert record["made_by"]["command"].startswith(f"marginflow {line[0]} ")
    assert set(record["made_by"]["versions"]) == {"Python", "marginflow", "numpy", "scipy", "BLAS"}


def test_reading_of_the_document_can_fail() -> None:
    assert "nonsense" not in documented("certify")
    assert {"holds", "total_lower_bound", "scale", "made_by"} <= documented("certify")


def test_an_example_with_a_key_that_is_not_printed_is_found() -> None:
    assert unknown_keys({"a": 1, "b": [{"c": 0, "d": 0}]}, {"a": 2, "b": [{"c": 1}]}) == ["d"]
