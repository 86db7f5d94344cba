from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

import marginflow as mf
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
        ({"X": [[1.0], [2.0]], "y": [0, 0]}, "All 2 labels of y are 0"),
        ({"X": [[1.0], [2.0]], "y": [0, 1], "classes": ("a", "b")}, "labels must be -1 or"),
        ({"X": [[1.0], [2.0]], "y": [0, 3], "classes": ("a", "b", "c")}, "y contains 3"),
        ({"X": [[1.0], [2.0]], "y": [1, -1], "classes": ("a", "a")}, "two labels that differ"),
        ({"X": [[1.0], [2.0], [3.0]], "y": [0.5, 1.5, 2.0]}, "such as 0.5 and 1.5"),
        ({"X": [[1.0], [2.0]], "y": [np.nan, 1.0]}, "no label .NaN. for sample 0; leave"),
        ({"X": [[1.0], [2.0]], "y": [np.inf, 1.0]}, "finite"),
        ({"X": [[1.0], [2.0], [3.0]], "y": ["a", None, None]}, "for 2 samples, first sample 1"),
        ({"X": [[1.0], [2.0]], "y": [1, -1], "features": ("a", "b")}, "features has 2 names"),
        ({"X": [[1.0]], "y": [1], "clean_labels": [2]}, "clean_labels contains the value 2"),
        ({"X": [[1.0]], "y": [1], "clusters": [0.5]}, "whole numbers"),
        ({"X": [[1.0]], "y": [1], "clusters": [3], "means": [[0.0]]}, "from 0 to 0"),
        ({"X": [[1.0]], "y": [1], "clusters": [-1]}, "not negative"),
        ({"X": [[1.0]], "y": [1], "means": [[0.0, 1.0]]}, "means has 2 columns"),
        ({"X": [[1.0]], "y": [1], "means": [[0.0]], "mean_labels": [1, 1]}, "1 are expected"),
        ({"X": [[1.0, 2.0]], "y": [1], "ambient_dimension": 1}, "at least 2"),
        ({"X": [["a"]], "y": [1]}, "real numbers"),
        ({"X": [[1.0]], "y": [1], "origin": "Sphere"}, "origin is 'Sphere'"),
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
    assert half.origin["then"] == [{"name": "subset", "index": chosen.tolist()}]
    assert "then" not in data.origin


@pytest.mark.parametrize("index", [[], [7], [[0]], np.zeros(3, dtype=bool), np.ones(4, dtype=bool), [0.5]])
def test_a_subset_that_does_not_fit_is_refused(index: object) -> None:
    with pytest.raises(InputError, match="subset"):
        Dataset(X=np.eye(3), y=[1, 1, -1]).subset(index)


@pytest.mark.parametrize(
    ("y", "encoded", "classes"),
    [
        ([0, 1, 0], [-1, 1, -1], (0, 1)),
        ([3, 8, 8], [-1, 1, 1], (3, 8)),
        ([True, False, True], [1, -1, 1], (False, True)),
        (["no", "yes", "no"], [-1, 1, -1], ("no", "yes")),
        ([-1, 1, 1], [-1, 1, 1], (-1, 1)),
        ([1.0, 1.0, 1.0], [1, 1, 1], (-1, 1)),
        ([2, 0, 1], [2, 0, 1], (0, 1, 2)),
        ([[0], [1], [1]], [-1, 1, 1], (0, 1)),
        (np.array(["a", "b", "c"], dtype=object), [0, 1, 2], ("a", "b", "c")),
    ],
)
def test_any_labels_become_numbers_and_are_kept(y: object, encoded: list, classes: tuple, tmp_path: Path) -> None:
    data = Dataset(np.eye(3), y)
    assert data.y.tolist() == encoded
    assert data.classes == classes
    part = data.subset([1])
    assert part.classes == classes
    assert part.y.tolist() == encoded[1:2]
    again = Dataset.load(data.save(tmp_path / "data.npz"))
    assert again.classes == classes
    assert again.y.tolist() == encoded


def test_more_than_two_classes_are_refused_where_signs_count() -> None:
    data = Dataset(np.eye(3), ["a", "b", "c"])
    assert repr(data) == "Dataset(user data: n=3, d=3, 3 classes)"
    for door in (
        mf.certify,
        lambda net, d: mf.train(net, d, mf.flow.recipes.VYS22()),
    ):
        with pytest.raises(InputError, match=r"3 classes \('a', 'b', 'c'\); two are expected"):
            door(mf.networks.TwoLayer.initialise(2, 3, seed=0), data)


class Kind:
    def __init__(self, kind: str) -> None:
        self.kind = kind


class Frame:
    """What a table of pandas shows of itself."""

    def __init__(self, columns: list[str], rows: list[list[object]], kinds: str) -> None:
        self.columns, self.rows, self.dtypes = columns, rows, [Kind(kind) for kind in kinds]

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array(self.rows, dtype=dtype)


def test_the_columns_of_a_table_keep_their_names() -> None:
    data = Dataset(Frame(["age", "height"], [[1, 2.5], [3, 4.0]], "if"), [1, -1])
    assert data.features == ("age", "height")
    assert data.X.tolist() == [[1.0, 2.5], [3.0, 4.0]]
    with pytest.raises(InputError, match=r"columns that are not numbers: 'name'; leave them out"):
        Dataset(Frame(["age", "name"], [[1, "x"], [3, "y"]], "iO"), [1, -1])


def test_pandas_tables_are_taken() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"age": [30, 40], "height": [1.5, 1.8], "ill": ["no", "yes"]})
    data = Dataset(table[["age", "height"]], table["ill"])
    assert data.features == ("age", "height")
    assert data.classes == ("no", "yes")
    with pytest.raises(InputError, match="not numbers: 'ill'"):
        Dataset(table, table["ill"])


@pytest.mark.parametrize("draw", [mf.data.moons, mf.data.circles, mf.data.spirals])
def test_planar_data_are_two_halves_that_no_line_separates(draw: Callable[..., Dataset]) -> None:
    data = draw(101, noise=0.0, seed=0)
    assert (data.n_samples, data.dimension, int((data.y > 0).sum())) == (101, 2, 51)
    A = data.y[:, None] * np.column_stack([data.X, np.ones(101)])
    assert scipy.optimize.linprog(np.zeros(3), A_ub=-A, b_ub=-np.ones(101), bounds=(None, None)).status == 2
    assert np.array_equal(draw(40, seed=3).X, draw(40, seed=3).X)
    assert not np.array_equal(draw(40, seed=3).X, draw(40, seed=4).X)
