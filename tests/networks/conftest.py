"""The exact evaluator of `tests/oracles`, which is on the path of the tests."""

import exact_relu_network
import pytest


@pytest.fixture(scope="session")
def exact():
    return exact_relu_network
