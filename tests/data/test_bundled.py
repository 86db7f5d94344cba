import numpy as np
import pytest

from marginflow.data import breast_cancer, digits, iris, wine
from marginflow.errors import InputError

pytest.importorskip("sklearn", reason="the bundled data sets come with scikit-learn")


@pytest.mark.parametrize(
    ("make", "shape", "positive"),
    [
        (lambda: digits(3, 8), (357, 64), 174),
        (lambda: digits(0, 1), (360, 64), 182),
        (breast_cancer, (569, 30), 212),
        (iris, (100, 4), 50),
        (lambda: iris("setosa", "virginica"), (100, 4), 50),
        (wine, (130, 13), 71),
    ],
)
def test_sizes_and_class_counts(make: object, shape: tuple, positive: int) -> None:
    data = make()
    assert data.X.shape == shape
    assert (data.y > 0).sum() == positive


def test_the_first_class_is_negative() -> None:
    forward, backward = digits(3, 8), digits(8, 3)
    assert np.array_equal(forward.X, backward.X)
    assert np.array_equal(forward.y, -backward.y)


def test_standardised_columns_vary_with_mean_zero_and_deviation_one() -> None:
    data = digits(3, 8, standardise=True)
    raw = digits(3, 8).X
    assert data.dimension == int((raw.max(axis=0) > raw.min(axis=0)).sum())
    assert data.dimension < 64
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(data.X.std(axis=0), 1.0, rtol=1e-12)
    assert data.origin == {"name": "digits", "negative": 3, "positive": 8, "standardise": True}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: digits(3, 3), "two different ones"),
        (lambda: digits(3, 10), "digits has no class 10; the classes are 0 to 9"),
        (lambda: digits(-1, 3), "no class -1"),
        (lambda: digits(True, 3), "negative is True; a whole number"),
        (lambda: iris(0, "rose"), "no class 'rose'; the classes are 0 to 2 .setosa, versicolor, virginica."),
        (lambda: digits(3), "One class of digits is given without the other; both are expected, or neither"),
        (lambda: wine(0, 1.5), "positive is 1.5; a whole number, a text or None"),
    ],
)
def test_classes_that_do_not_exist_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("make", "shape", "classes"),
    [
        (digits, (1797, 64), tuple(range(10))),
        (lambda: iris(None, None), (150, 4), ("setosa", "versicolor", "virginica")),
        (lambda: wine(None, None), (178, 13), ("class_0", "class_1", "class_2")),
    ],
)
def test_without_two_classes_they_have_all(make: object, shape: tuple, classes: tuple) -> None:
    data = make()
    assert data.X.shape == shape
    assert data.classes == classes
    assert sorted(set(data.y.tolist())) == [float(number) for number in range(len(classes))]
    pair = digits(3, 8)
    if make is digits:
        assert np.array_equal(data.X[np.isin(data.y, (3.0, 8.0))], pair.X)
