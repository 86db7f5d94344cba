"""`marginflow audit` on files of torch and ONNX: the same audit as of ours, in float64 digit by digit."""

import json

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

torch = pytest.importorskip("torch", reason="audits files of torch, an optional extra")
pytest.importorskip("onnx", reason="audits ONNX files, an optional extra")

from marginflow.interop import onnx as our_onnx  # noqa: E402
from marginflow.interop.torch import to_module  # noqa: E402


def test_the_format_does_not_matter(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((8, 3))
    net = TwoLayer.initialise(width=4, dimension=3, seed=1)
    Dataset(X=X, y=np.where(net(X) > np.median(net(X)), 1.0, -1.0)).save("data.csv")
    net.save("net.safetensors")
    our_onnx.save(net, "net.onnx")
    torch.save(to_module(net).state_dict(), "net.pt")
    records = []
    for suffix in ("safetensors", "onnx", "pt"):
        assert main(f"audit net.{suffix} data.csv --json --points 2".split()) == 1
        records.append(json.loads(capsys.readouterr().out))
    for key in ("verdict", "margins", "universal", "median_radius", "statements"):
        assert records[0][key] == records[1][key] == records[2][key]


def test_the_default_output_bias_of_torch_is_folded_and_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Dataset(X=np.eye(2), y=[1, -1]).save("data.npz")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    torch.save(module.state_dict(), "net.pt")
    assert main("audit net.pt data.npz --points 0".split()) in (0, 1)
    printed = capsys.readouterr().out
    assert "became one more neuron" in printed
    assert "that the activation is ReLU is assumed" in printed
