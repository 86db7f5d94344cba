"""Outside truths for radii."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def least_over_all_subsets() -> Callable[..., float]:
    """The radius by brute force over all patterns of opposing neurons."""
    pytest.importorskip("clarabel", reason="the outside solver of the brute-force search")
    path = Path(__file__).parents[1] / "oracles" / "patterns.py"
    specification = importlib.util.spec_from_file_location("patterns", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.least_over_all_subsets
