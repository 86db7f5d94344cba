"""Modules of `tests/oracles`, loaded by path because tests are no package."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


def load_oracle(name: str) -> ModuleType:
    """The module of this name in `tests/oracles`."""
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, Path(__file__).parents[1] / "oracles" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def five_points_oracle() -> ModuleType:
    """The rational proof of the five-point counterexample."""
    return load_oracle("five_points_proof")


@pytest.fixture(scope="session")
def line_oracle() -> ModuleType:
    """How networks on the line face their samples."""
    return load_oracle("line_networks")


@pytest.fixture(scope="session")
def orthonormal_oracle() -> ModuleType:
    """KKT points on orthonormal samples in fractions."""
    return load_oracle("orthonormal_kkt")
