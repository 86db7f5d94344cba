import sys

import numpy as np
import pytest

from marginflow.data import breast_cancer, standardised
from marginflow.errors import InputError


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(InputError, match=r"install marginflow\[sklearn\]"):
        breast_cancer()


def test_constant_columns_are_dropped() -> None:
    X = np.array([[1.0, 5.0, 0.1], [3.0, 5.0, 0.1]])
    np.testing.assert_allclose(standardised(X), [[-1.0], [1.0]])
    with pytest.raises(InputError, match="Every column is constant"):
        standardised(X[:, 1:])
