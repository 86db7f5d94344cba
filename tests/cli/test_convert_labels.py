"""`marginflow convert`: labels and columns that are nearly right, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginflow.cli import main
from marginflow.data import Dataset


def converted(folder: Path, text: str, *options: str) -> Dataset | None:
    """The data that a table becomes; None if it is refused, and then nothing is written."""
    (folder / "table.csv").write_text(text, encoding="utf-8")
    out = folder / "data.npz"
    out.unlink(missing_ok=True)
    code = main(["convert", str(folder / "table.csv"), "--out", str(out), *options])
    assert code == (0 if out.exists() else 2)
    return Dataset.load(out) if code == 0 else None


def test_truth_values_are_one_class_however_they_are_written(tmp_path: Path) -> None:
    data = converted(tmp_path, "a,ok\n1,True\n2,False\n3,TRUE\n4,false\n")
    assert data is not None
    assert data.classes == ("False", "True")
    assert data.y.tolist() == [1.0, -1.0, 1.0, -1.0]
    data = converted(tmp_path, "a,ok\n1,True\n2,False\n3,TRUE\n4,false\n", "--positive", "true")
    assert data is not None
    assert data.y.tolist() == [1.0, -1.0, 1.0, -1.0]


def test_words_that_differ_in_capitals_are_two_classes_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = converted(tmp_path, "a,ok\n1,yes\n2,no\n3,Yes\n4,no\n")
    assert data is not None
    assert data.n_classes == 3
    assert capsys.readouterr().err == "The labels 'Yes' and 'yes' are two classes.\n"


def test_a_quantity_is_not_taken_for_a_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "a,b,price\n" + "".join(f"{(7 * i) % 5},{(3 * i) % 4},{1.37 * i:.2f}\n" for i in range(20))
    assert converted(tmp_path, text) is None
    error = capsys.readouterr().err
    assert "the label, column 'price', has 20 different values in 20 lines; classes are expected (--label" in error
    assert error.count("\n") == 1
    assert converted(tmp_path, text, "--label", "a") is not None


def test_lines_that_end_in_a_separator_have_no_further_column(tmp_path: Path) -> None:
    data = converted(tmp_path, "a,b,k,\n1,2,u,\n2,3,v,\n")
    assert data is not None
    assert data.features == ("a", "b")
    assert data.classes == ("u", "v")


def test_a_constant_column_is_called_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = converted(tmp_path, "a,b,k\n1,5,u\n2,5,v\n3,5,u\n", "--standardise")
    assert data is not None
    assert data.X[:, 1].tolist() == [0.0, 0.0, 0.0]
    assert "b: standardised, the same everywhere\n" in capsys.readouterr().out


def test_a_minus_sign_is_a_minus(tmp_path: Path) -> None:
    data = converted(tmp_path, "a,b,k\n\u22121,\u2212$2.50,u\n2,$3.00,v\n")
    assert data is not None
    assert data.X.tolist() == [[-1.0, -2.5], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("when,t,k\n2020-01-01,3,u\n2020-01-02,4,v\n", "", "'when' is not a number: '2020-01-01' in line 2"),
        ("a,b,k\n1,x,u\ntwo,3,v\n", "", "'a' is not a number: 'two' in line 3"),
        (
            "a,k\n1,u\n2,NaN\n3,v\n",
            "",
            "the label, column 'k', is empty in 1 line, first in line 3 (--missing drop leaves",
        ),
        ("age,Outcome\n1,u\n2,v\n", "--label outcome", "no column named 'outcome'; did you mean 'Outcome'?"),
        ("a,k\n12%,u\n0.5,v\n", "", "'a' is not a number: '12%' in line 2"),
    ],
)
def test_what_cannot_be_read_is_named(
    text: str, options: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converted(tmp_path, text, *options.split()) is None
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
