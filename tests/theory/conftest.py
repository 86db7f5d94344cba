"""Modules of `tests/oracles`, which is on the path of the tests."""

from __future__ import annotations

from types import ModuleType

import five_points_proof
import line_networks
import orthonormal_kkt
import pytest


@pytest.fixture(scope="session")
def five_points_oracle() -> ModuleType:
    """The rational proof of the five-point counterexample."""
    return five_points_proof


@pytest.fixture(scope="session")
def line_oracle() -> ModuleType:
    """How networks on the line face their samples."""
    return line_networks


@pytest.fixture(scope="session")
def orthonormal_oracle() -> ModuleType:
    """KKT points on orthonormal samples in fractions."""
    return orthonormal_kkt
