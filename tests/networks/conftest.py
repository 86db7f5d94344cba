"""The exact evaluator of `tests/oracles`, loaded by path because tests are not a package."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def exact():
    path = Path(__file__).parents[1] / "oracles" / "exact_relu_network.py"
    spec = importlib.util.spec_from_file_location("exact_relu_network", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
