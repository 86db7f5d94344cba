import numpy as np
import pytest

from marginflow.data import Dataset, Sphere, UniformNoise
from marginflow.errors import InputError


def test_fields_are_read_only_copies() -> None:
    X = np.eye(2)
    data = Dataset(X=X, y=[1, -1])
    X[0, 0] = 5.0
    assert data.X[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 2.0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"X": [[np.nan, 1.0]], "y": [1]}, "finite"),
        ({"X": [[np.inf, 1.0]], "y": [1]}, "finite"),
        ({"X": [1.0, 2.0], "y": [1, 1]}, "matrix"),
        ({"X": [[1.0], [2.0]], "y": [1]}, "2 are expected"),
        ({"X": [[1.0], [2.0]], "y": [0, 1]}, "labels must be -1 or"),
        ({"X": [[1.0]], "y": [1], "clean_labels": [2]}, "clean_labels contains the value 2"),
        ({"X": [[1.0]], "y": [1], "clusters": [0.5]}, "whole numbers"),
        ({"X": [[1.0]], "y": [1], "clusters": [3], "means": [[0.0]]}, "from 0 to 0"),
        ({"X": [[1.0]], "y": [1], "clusters": [-1]}, "not negative"),
        ({"X": [[1.0]], "y": [1], "means": [[0.0, 1.0]]}, "means has 2 columns"),
        ({"X": [[1.0]], "y": [1], "means": [[0.0]], "mean_labels": [1, 1]}, "1 are expected"),
        ({"X": [[1.0, 2.0]], "y": [1], "ambient_dimension": 1}, "at least 2"),
        ({"X": [["a"]], "y": [1]}, "real numbers"),
        ({"X": [[1.0]], "y": [1], "law": "Sphere"}, "law is 'Sphere'"),
    ],
)
def test_bad_fields_are_refused_in_one_sentence(fields: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        Dataset(**fields)
    assert "\n" not in str(caught.value)


def test_noisy_marks_the_labels_that_differ_from_the_clean_ones() -> None:
    assert Dataset(X=[[1.0], [2.0]], y=[1, -1]).noisy is None
    data = Dataset(X=[[1.0], [2.0]], y=[1, -1], clean_labels=[1, 1])
    assert data.noisy is not None
    assert data.noisy.tolist() == [False, True]


def test_one_class_and_contradictions_are_refused_on_request() -> None:
    with pytest.raises(InputError, match=r"All 2 labels are \+1"):
        Dataset(X=[[1.0], [2.0]], y=[1, 1]).require_two_classes()
    with pytest.raises(InputError, match="Samples 0 and 2 are identical"):
        Dataset(X=[[1.0], [2.0], [1.0]], y=[1, 1, -1]).require_no_contradiction()
    Dataset(X=[[1.0], [2.0], [1.0]], y=[1, -1, 1]).require_no_contradiction()


def test_a_subset_keeps_what_is_known_and_says_so() -> None:
    data = Sphere(dimension=3, noise=UniformNoise(rate=0.5)).sample(10, seed=0)
    half = data.subset(data.y > 0)
    chosen = np.flatnonzero(data.y > 0)
    assert np.array_equal(half.X, data.X[chosen])
    assert half.clean_labels is not None
    assert data.clean_labels is not None
    assert np.array_equal(half.clean_labels, data.clean_labels[chosen])
    assert half.law["then"] == [{"name": "subset", "index": chosen.tolist()}]
    assert "then" not in data.law


@pytest.mark.parametrize("index", [[], [7], [[0]], np.zeros(3, dtype=bool), np.ones(4, dtype=bool), [0.5]])
def test_a_subset_that_does_not_fit_is_refused(index: object) -> None:
    with pytest.raises(InputError, match="subset"):
        Dataset(X=np.eye(3), y=[1, 1, -1]).subset(index)  # type: ignore[arg-type]
