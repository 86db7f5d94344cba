"""A KKT point on 25 samples of the sphere, and every sample of it left out in two ways."""

from __future__ import annotations

import pytest

import marginflow as mf
from marginflow.data import Sphere


@pytest.fixture(scope="session")
def sphere():
    data = Sphere(dimension=25).sample(25, seed=1)
    return mf.kkt_point(data, width=50, seed=1), data


@pytest.fixture(scope="session")
def followed(sphere):
    """Every sample left out by continuation."""
    return mf.influence(*sphere)


@pytest.fixture(scope="session")
def at_once(sphere):
    """Every sample left out at once."""
    return mf.influence(*sphere, mode="fast")
