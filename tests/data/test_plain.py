import numpy as np
import pytest

from marginflow.data import Sphere, UniformNoise
from marginflow.data.plain import plain
from marginflow.errors import InputError


def test_dataclasses_arrays_and_numbers_become_plain() -> None:
    assert plain(Sphere(dimension=3, noise=UniformNoise(rate=0.5))) == {
        "name": "Sphere",
        "dimension": 3,
        "radius": "sqrt(d)",
        "labels": "random",
        "noise": {"name": "UniformNoise", "rate": 0.5},
    }
    assert plain((np.float64(0.5), np.arange(2), {"a": None})) == [0.5, [0, 1], {"a": None}]
    assert type(plain(np.int64(3))) is int


def test_other_things_are_refused() -> None:
    with pytest.raises(InputError, match="not a plain value"):
        plain(object())
