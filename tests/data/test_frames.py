"""Tables of pandas: as samples, as a whole table, and what is said of empty cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from marginflow.data import Dataset, convert, read_table
from marginflow.data.raw_table import RawTable
from marginflow.errors import InputError

pandas = pytest.importorskip("pandas")


@pytest.fixture
def people() -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "age": [30, 40, 50, 20, 21, 35, 31, 32],
            "income": [10.5, None, 30.1, 20.0, 20.0, 25.3, 12.0, 14.7],
            "city": ["Rome", "Oslo", "Rome", "Oslo", "Rome", "Oslo", "Rome", "Rome"],
            "ill": ["yes", "no", "no", "yes", "yes", "no", "yes", "no"],
        }
    )


def test_empty_cells_of_a_table_are_told_of_missing(people: pandas.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        Dataset(people[["age", "income"]], people["ill"])
    sentence = str(caught.value)
    assert sentence.startswith(
        "X has empty cells (NaN): 'income' in row 1; every entry must be finite: leave such rows"
    )
    assert 'missing="mean"' in sentence
    assert "--missing drop|mean" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("kind", ["Int64", "Float64", "float32", "boolean"])
def test_empty_cells_of_every_kind_of_column_are_found(kind: str) -> None:
    table = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": pandas.Series([1, None, None], dtype="Int64").astype(kind)})
    with pytest.raises(InputError, match=r"'b' in 2 rows, first in row 1.*--missing drop\|mean"):
        Dataset(table, [1, -1, 1])
    whole = table.fillna({"b": kind == "boolean" or 1})
    assert Dataset(whole, [1, -1, 1]).X.tolist() == [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]


def test_empty_cells_of_an_array_are_found_by_their_column() -> None:
    X = np.ones((4, 3))
    X[2, 1] = np.nan
    with pytest.raises(InputError, match=r"X has empty cells \(NaN\): column 1 in row 2; .*--missing drop\|mean"):
        Dataset(X, [1, -1, 1, -1])


def test_labels_that_are_missing_are_counted(people: pandas.DataFrame) -> None:
    people.loc[3, "ill"] = None
    with pytest.raises(InputError, match=r"y has no label \(NaN\) for sample 3; leave such samples out.*notna"):
        Dataset(people[["age"]], people["ill"])
    with pytest.raises(InputError, match=r"'ill', is empty in 1 row, first in row 3 .--missing drop leaves"):
        convert(people, label="ill", one_hot=True, missing="mean")
    assert convert(people, label="ill", one_hot=True, missing="drop").incomplete == 2


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_a_table_is_read_as_the_file_that_it_would_be_written_to(
    people: pandas.DataFrame, missing: str, tmp_path: Path
) -> None:
    people.to_csv(tmp_path / "people.csv", index=False)
    options = {"label": "ill", "standardise": True, "one_hot": True, "missing": missing}
    frame, file = convert(people, **options), convert(tmp_path / "people.csv", **options)
    assert frame.how == file.how
    assert frame.incomplete == file.incomplete == (missing == "drop")
    raw = convert(read_table(tmp_path / "people.csv"), **options)
    assert frame.data.X.tobytes() == file.data.X.tobytes() == raw.data.X.tobytes()
    assert frame.data.preparation == file.data.preparation
    assert frame.data.classes == file.data.classes == ("no", "yes")


def test_new_rows_are_converted_like_the_table(people: pandas.DataFrame) -> None:
    data = convert(people, label="ill", standardise=True, one_hot=True, missing="mean").data
    again = convert(people.iloc[4:], like=data, missing="mean").data
    assert again.X.tobytes() == data.X[4:].tobytes()


def test_columns_that_cannot_be_used_are_named_with_their_row(people: pandas.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        convert(people, label="ill")
    sentence = str(caught.value)
    assert "'income' is empty in 1 row, first in row 1 (--missing drop, --missing mean, or --drop income)" in sentence
    assert "'city' is not a number: 'Rome' in row 0 (--one-hot, or --drop city)" in sentence


def test_two_columns_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    table = pandas.DataFrame([[1.0, 2.0, "u"], [3.5, 4.0, "v"]], columns=["a", "a", "y"])
    table.to_csv(tmp_path / "table.csv", index=False)
    for given in (table, tmp_path / "table.csv"):
        found = convert(given)
        assert found.how == {"a": "as it is", "a.1": "as it is, called 'a' in the table", "y": "label"}
        assert found.data.features == ("a", "a.1")
        assert found.data.X.tolist() == [[1.0, 2.0], [3.5, 4.0]]
        assert convert(given, drop=["a"]).data.X.tolist() == [[2.0], [4.0]]
        assert convert(given, like=found.data).data.X.tolist() == [[1.0, 2.0], [3.5, 4.0]]
    assert found.data.preparation is not None
    assert found.data.preparation.apply(table).tolist() == [[1.0, 2.0], [3.5, 4.0]]
    lines = ((0, ("1", "2", "u")),)
    with pytest.raises(InputError, match="t has 2 columns named 'a'; names that differ are expected"):
        RawTable(source="t", names=("a", "a", "y"), lines=lines)
    with pytest.raises(InputError, match="names is True; the names of the columns are expected"):
        RawTable(source="t", names=True, lines=lines)


def test_a_second_column_of_the_label_is_asked_about() -> None:
    y = list("uvuvuvuvuv")
    x = [float(i % 4) for i in range(10)]
    twice = pandas.DataFrame({"x": x, "y": y, "copy": y})
    with pytest.raises(
        InputError, match=r"'y' has the label, 'copy', in every row \(--drop y, or --keep y if"
    ) as caught:
        convert(twice, label="copy", one_hot=True)
    assert "'x'" not in str(caught.value)
    assert convert(twice, label="copy", one_hot=True, keep=["y"]).data.features == ("x", "y=u", "y=v")
    twice.columns = ["x", "y", "y"]
    twice.iloc[0, 2] = "v"  # not quite the same labels
    for label, other in (("y", "y.1"), ("y.1", "y"), (None, "y")):
        with pytest.raises(InputError, match=rf"'{other}' has the name of the label in the table \(--drop {other}"):
            convert(twice, label=label, one_hot=True)
        assert convert(twice, label=label, drop=[other]).data.features == ("x",)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    table = pandas.DataFrame({"a": [1, 2, None, 4], "b": ["x", "y", "x", "y"], "k": ["u", None, "v", "v"]})
    with pytest.raises(InputError) as caught:
        convert(table, label="k")
    for part in ("the label, column 'k', is empty in 1 row, first in row 1", "'a' is empty in 1 row", "'b' is not a"):
        assert part in str(caught.value)
    found = convert(table, label="k", one_hot=True, missing="drop")
    assert (found.incomplete, found.data.n_samples) == (2, 2)
    with pytest.raises(InputError, match=r"the table: the label, column 'k', is empty in 1 row"):
        convert(table, like=found.data)


def test_columns_with_the_same_values_are_noticed() -> None:
    table = pandas.DataFrame({"price": [1.5, 2.5, 4.0], "one": 1, "also": 1, "copy": [1.5, 2.5, 4.0], "k": list("uvu")})
    found = convert(table, label="k").how
    assert found["copy"] == "as it is, the same as 'price'"
    assert found["also"] == "as it is, the same everywhere"


def test_a_word_among_numbers_is_perhaps_an_empty_cell() -> None:
    table = pandas.DataFrame({"a": ["1", "2", "-", "4"], "b": list("xyxy"), "k": list("uvuv")})
    with pytest.raises(InputError) as caught:
        convert(table)
    assert "'a' is not a number: '-' in row 2 (--one-hot, or --drop a; if it means no value, leave the cell" in str(
        caught.value
    )
    assert "'b' is not a number: 'x' in row 0 (--one-hot, or --drop b)" in str(caught.value)


def test_the_columns_of_a_table_may_be_called_by_numbers() -> None:
    assert convert(pandas.DataFrame([[1.5, "a", 2.0], [2.5, "b", 3.0]]), label=1).data.classes == ("a", "b")


def test_a_sparse_matrix_is_told_how_to_become_dense() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(InputError, match=r"X is a sparse matrix; .*X\.toarray\(\)"):
        Dataset(sparse.csr_matrix(np.eye(2)), [1, -1])


def test_the_positive_label_may_be_a_number() -> None:
    table = pandas.DataFrame({"a": [0.5, 1.0, 2.0], "b": [1.0, 0.0, 0.5], "kind": [1, 2, 3]})
    data = convert(table, label="kind", positive=2).data
    assert data.y.tolist() == [-1.0, 1.0, -1.0]


@pytest.mark.parametrize("table", [3, None, np.eye(2), pandas.DataFrame(), pandas.DataFrame({"a": []})])
def test_what_is_not_a_table_is_refused(table: object) -> None:
    with pytest.raises(InputError, match=r"a DataFrame, the name of a \.csv|at least one of each"):
        convert(table)


def test_truth_values_that_may_be_missing_stay_truth_values() -> None:
    y = pandas.Series([True, False, True], dtype="boolean")
    assert Dataset([[1.0], [2.0], [3.0]], y).classes == (False, True)


def test_labels_in_another_order_than_the_rows_are_asked_about() -> None:
    X = pandas.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[5, 6, 7])
    y = pandas.Series(["u", "v", "v"], index=[7, 6, 5])
    with pytest.raises(InputError, match=r"same rows in another order; y\.loc\[X\.index\] is expected, or y\.to_numpy"):
        Dataset(X, y)
    assert Dataset(X, y.loc[X.index]).y.tolist() == [1.0, 1.0, -1.0]
    assert Dataset(X, y.to_numpy()).y.tolist() == [-1.0, 1.0, 1.0]
    assert Dataset(X, y.reset_index(drop=True)).y.tolist() == [-1.0, 1.0, 1.0]


def test_images_and_indicators_are_told_what_to_write() -> None:
    with pytest.raises(
        InputError, match=r"X has shape \(4, 2, 2\); a row for each sample .* X\.reshape\(len\(X\), -1\)"
    ):
        Dataset(np.zeros((4, 2, 2)), [0, 1, 0, 1])
    with pytest.raises(InputError, match=r"y has shape \(4, 2\); a vector .*y\.argmax\(axis=1\)"):
        Dataset(np.zeros((4, 2)), np.eye(2)[[0, 1, 0, 1]])
    with pytest.raises(InputError, match=r"y has shape \(4, 2\); a vector \(one axis\) is expected\.$"):
        Dataset(np.zeros((4, 2)), np.arange(8).reshape(4, 2))
