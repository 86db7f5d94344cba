"""The lines of docs/audit.md that make an output bias a hidden neuron give a network that computes the same."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from marginflow.interop.files import load_network

torch = pytest.importorskip("torch", reason="the lines are for networks of torch")

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"


def test_lines_of_the_page_keep_the_function_and_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    block = re.search(r"  ```python\n(  W, b, v, b_out = .*?)  ```\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 7), torch.nn.ReLU(), torch.nn.Linear(7, 1)).double()
    torch.save(model.state_dict(), "model.pt")
    assert load_network("model.pt").width == 8
    exec("\n".join(line[2:] for line in block.group(1).splitlines()), {"torch": torch, "model": model})
    X = np.random.default_rng(0).normal(size=(9, 4))
    wider = load_network("wider.pt")
    assert wider.width == 8
    with torch.no_grad():
        np.testing.assert_allclose(wider(X), model(torch.from_numpy(X)).numpy().ravel(), rtol=1e-12, atol=1e-12)
