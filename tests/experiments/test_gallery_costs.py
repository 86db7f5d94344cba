"""What the gallery says that its rows at published sizes took, and what their grids lack would take."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from gallery_rows import GALLERY, GRIDS, page

BENCHMARKS = GALLERY.parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def costs() -> ModuleType:
    """The benchmark as a module, with the one beside it that it reads rows by."""
    for name in ("gallery", "gallery_costs"):
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


def test_the_costs_of_rows_and_gaps_are_those_of_the_cost_model(costs: ModuleType) -> None:
    found = costs.by_figure()
    assert {line.figure.replace("/", "-") for line in found} == {*GRIDS, "KYS23-Fig2R"}
    for line in found:
        assert str(line) in page()
    assert costs.summary(found) in page()
