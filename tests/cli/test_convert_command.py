"""`marginflow convert`: a table with any two labels becomes data, or one sentence says why not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import Classifier, TwoLayer


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pets.csv"
    path.write_text("name,a,b,pet\nx,1,2.5,cat\ny,3,-1e-3,dog\nz,0,0,fish\n", encoding="utf-8")
    return path


def test_words_become_labels_and_numbers_stay(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = table.with_suffix(".npz")
    assert main(f"convert {table} --positive cat --drop name --out {out}".split()) == 0
    data = Dataset.load(out)
    np.testing.assert_array_equal(data.X, [[1.0, 2.5], [3.0, -1e-3], [0.0, 0.0]])
    np.testing.assert_array_equal(data.y, [1.0, -1.0, -1.0])
    assert capsys.readouterr().err == "Several labels become -1: 'dog', 'fish'; --negative keeps one of them only.\n"


def test_two_spellings_of_a_number_are_one_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("a,kind\n5,1\n6,0\n7,0.0\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --positive 1 --out {tmp_path}/d.npz".split()) == 0
    assert capsys.readouterr().err == ""
    (tmp_path / "t.csv").write_text("a,kind\n5,1\n6,1.0\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --positive 1 --out {tmp_path}/e.npz".split()) == 2
    assert "has the label '1'; two kinds of labels are expected" in capsys.readouterr().err
    assert not (tmp_path / "e.npz").exists()


def test_only_two_of_several_classes_are_kept(table: Path) -> None:
    out = table.with_suffix(".npz")
    assert main(f"convert {table} --positive cat --negative fish --drop name --out {out}".split()) == 0
    np.testing.assert_array_equal(Dataset.load(out).X, [[1.0, 2.5], [0.0, 0.0]])


def test_zero_and_one_in_a_named_column_are_labels(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("label,a\n1.0,5\n0,6\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --positive 1 --label label --out {tmp_path}/d.csv".split()) == 0
    data = Dataset.load(tmp_path / "d.csv")
    np.testing.assert_array_equal(data.y, [1.0, -1.0])
    np.testing.assert_array_equal(data.X, [[5.0], [6.0]])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--positive cat", "'name' is not a number: 'x' in line 2 (--one-hot, or --drop name)"),
        ("--positive cat --label pets", "no column named 'pets'; did you mean 'pet'?"),
        ("--positive cat --label species", "the columns are 'name', 'a', 'b', 'pet'."),
        ("--positive bird --drop name", "the labels are 'cat', 'dog', 'fish'"),
        ("--positive cat --negative bird --drop name", "has the label 'bird'"),
        ("--positive cat --negative cat --drop name", "--positive and --negative are both 'cat'"),
        ("--positive cat --drop nose", "no column named 'nose'; the columns are 'name'"),
        ("--positive cat --drop pet", "holds the labels"),
        ("--positive cat --drop name a b", "no column left"),
    ],
)
def test_what_cannot_be_converted_is_one_sentence(
    options: str, expected: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"convert {table} {options} --out {table.with_suffix('.npz')}".split()) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
    assert not table.with_suffix(".npz").exists()


@pytest.mark.parametrize(
    ("text", "positive", "expected"),
    [
        ("5.1,3.5,1\n4.9,3.0,1\n6.1,2.0,0\n", "1", "consists of numbers"),
        ("5.1,,1\n4.9,3.0,1\n6.1,2.0,0\n", "1", "consists of numbers"),
        ("5.1,3.5,cat\n4.9,3.0,cat\n6.1,2.0,dog\n", "cat", "has 'cat' where other lines have their label"),
    ],
)
def test_a_first_line_that_looks_like_a_sample_is_not_taken_for_names(
    text: str, positive: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --positive {positive} --out {tmp_path}/d.npz".split()) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert "--no-header" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "d.npz").exists()


def test_the_first_line_is_a_sample_or_names_if_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("0,1,2\n4.9,3.0,1\n6.1,2.0,2\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --positive 2 --no-header --drop 1 --out {tmp_path}/all.npz".split()) == 0
    every = Dataset.load(tmp_path / "all.npz")
    np.testing.assert_array_equal(every.X, [[1.0], [3.0], [2.0]])
    np.testing.assert_array_equal(every.y, [1.0, -1.0, 1.0])
    assert main(f"convert {tmp_path}/t.csv --positive 2 --header --drop 1 --out {tmp_path}/rest.npz".split()) == 0
    np.testing.assert_array_equal(Dataset.load(tmp_path / "rest.npz").X, [[4.9], [6.1]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,my b,pet\n1,2,cat\n3,nan,dog\n", "'my b' is empty in 1 line, first in line 3"),
        ("a,my b,pet\n1,2,cat\n3,,dog\n", "(--missing drop, --missing mean, or --drop 'my b')."),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_what_to_do(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --positive cat --out {tmp_path}/d.npz".split()) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "d.npz").exists()


def test_a_folder_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"convert {tmp_path} --positive cat --out {tmp_path}/d.npz".split()) == 2
    assert f"{tmp_path} is a folder, not a file" in capsys.readouterr().err


TABLE = """,age,income,city,hint,outcome
0,30,10,Rome,1,yes
1,40,,Oslo,2,no
2,50,30,Rome,3,no
3,20,20,Oslo,4,yes
4,20,20,Rome,4,yes
5,35,25,Oslo,4,no
6,31,12,Rome,1,yes
7,32,14,Rome,1,no
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_every_column_that_cannot_be_used_is_named_at_once(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"convert {people} --label outcome --out {people.with_suffix('.npz')}".split()) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "'' has no name and a different value in every line (--drop '', or --keep ''" in error
    assert "'income' is empty in 1 line, first in line 3 (--missing drop, --missing mean, or --drop income)" in error
    assert "'city' is not a number: 'Rome' in line 2 (--one-hot, or --drop city)" in error


def test_index_and_identifier_are_asked_about_in_a_short_table_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "short.csv"
    table.write_text(",patient_id,x,y\n0,71,1,a\n1,84,2,b\n2,99,3,a\n", encoding="utf-8")
    assert main(f"convert {table} --out {tmp_path / 'data.npz'}".split()) == 2
    error = capsys.readouterr().err
    assert "'' has no name and a different value in every line" in error
    assert "'patient_id' looks like an identifier" in error
    assert "'x'" not in error  # 1, 2, 3 may well be a feature


def test_words_that_differ_in_every_line_are_asked_about_before_they_become_a_feature_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "dates.csv"
    lines = [f"2020-01-{day:02d},{day % 3},{'ab'[day % 2]}" for day in range(1, 11)]
    table.write_text("joined,x,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    command = f"convert {table} --one-hot --out {tmp_path / 'data.npz'}"
    assert main(command.split()) == 2
    sentence = "'joined' has a different word in every line, such as '2020-01-01' (--drop joined, or --keep joined if"
    assert sentence in capsys.readouterr().err
    assert main(f"{command} --keep joined".split()) == 0
    assert "joined: 10 indicators" in capsys.readouterr().out


def test_a_table_that_is_not_utf_8_is_said_to_be_so_and_read_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "old.csv"
    table.write_bytes("gr\xf6sse,y\n1,a\n2,b\n".encode("latin-1"))
    assert main(f"convert {table} --out {tmp_path / 'data.npz'}".split()) == 2
    assert "is not written in UTF-8 (byte 2 is 0xf6); --encoding cp1252 reads" in capsys.readouterr().err
    assert main(f"convert {table} --encoding cp1252 --out {tmp_path / 'data.npz'}".split()) == 0
    assert Dataset.load(tmp_path / "data.npz").features == ("gr\xf6sse",)
    assert main(f"convert {table} --encoding ascii --out {tmp_path / 'other.npz'}".split()) == 2
    assert main(f"convert {table} --encoding klingon --out {tmp_path / 'other.npz'}".split()) == 2
    error = capsys.readouterr().err
    assert "is not written in ascii (byte 2 is 0xf6)." in error
    assert "The encoding 'klingon' is unknown" in error


def test_new_points_without_labels_get_the_sentence_that_helps_and_the_way_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pandas = pytest.importorskip("pandas", reason="new points come as a DataFrame")
    table, new = tmp_path / "table.csv", tmp_path / "new.csv"
    table.write_text("age,town,ill\n30,Bern,no\n50,,yes\n70,Bern,yes\n", encoding="utf-8")
    new.write_text("age,town\n40,\n50,Bern\n", encoding="utf-8")
    out = tmp_path / "data.npz"
    assert main(f"convert {table} --standardise --one-hot --missing mean --out {out}".split()) == 0
    assert main(f"convert {new} --like {out} --out {tmp_path / 'new.npz'}".split()) == 2
    assert "data.preparation.apply(frame) makes X" in capsys.readouterr().err
    data = Dataset.load(out)
    assert data.features == ("age", "town empty", "town=Bern")
    X = data.preparation.apply(pandas.read_csv(new))
    np.testing.assert_allclose(X[:, 0] * np.std([30, 50, 70]) + 50, [40, 50])
    np.testing.assert_array_equal(X[:, 1:], [[1, 0], [0, 1]])


def test_what_was_standardised_is_folded_back_into_a_classifier_too(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,y\n1,40,u\n2,80,v\n5,20,w\n", encoding="utf-8")
    out = tmp_path / "data.npz"
    assert main(f"convert {table} --standardise --out {out}".split()) == 0
    data = Dataset.load(out)
    network = Classifier.initialise(width=4, dimension=2, n_classes=3, seed=0)
    raw = data.preparation.undo(network)
    np.testing.assert_allclose(raw([[1, 40], [2, 80], [5, 20]]), network(data.X), atol=1e-12)


def test_columns_are_standardised_encoded_and_filled(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = people.with_suffix(".npz")
    command = [
        "convert",
        str(people),
        "--drop",
        "",
        "--standardise",
        "--one-hot",
        "--missing",
        "mean",
        "--out",
        str(out),
    ]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "income: standardised, empty cells filled" in printed
    assert "city: 2 indicators" in printed
    data = Dataset.load(out)
    assert data.classes == ("no", "yes")
    assert data.features == ("age", "income", "city=Oslo", "city=Rome", "hint")
    np.testing.assert_allclose(data.X[:, [0, 1, 4]].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(data.X[:, [0, 1, 4]].std(axis=0), 1.0)
    np.testing.assert_array_equal(data.X[:, 2:4].sum(axis=1), 1.0)
    assert data.X[1, 1] == pytest.approx(0.0)  # an empty income is the mean


def test_new_points_are_converted_like_the_old_and_the_network_takes_raw_numbers(people: Path, tmp_path: Path) -> None:
    out = people.with_suffix(".npz")
    assert (
        main(["convert", str(people), "--drop", "", "city", "--standardise", "--missing", "drop", "--out", str(out)])
        == 0
    )
    data = Dataset.load(out)
    assert data.n_samples == 7
    new = tmp_path / "new.csv"
    new.write_text("outcome,hint,age,income\nyes,2,60,5\nno,3,20,7\n", encoding="utf-8")
    assert main(f"convert {new} --like {out} --out {tmp_path}/new.npz".split()) == 0
    fresh = Dataset.load(tmp_path / "new.npz")
    assert fresh.y.tolist() == [1.0, -1.0]
    preparation = data.preparation
    assert preparation is not None
    assert fresh.preparation == preparation
    network = TwoLayer.initialise(6, 3, seed=0)
    raw = preparation.undo(network)
    np.testing.assert_allclose(raw([[60, 5, 2], [20, 7, 3]]), network(fresh.X), rtol=1e-12)
    new.write_text("outcome,hint,age\nyes,2,60\n", encoding="utf-8")
    assert main(f"convert {new} --like {out} --out {tmp_path}/other.npz".split()) == 2
    assert main(f"convert {people} --like {out} --standardise --out {tmp_path}/other.npz".split()) == 2
    assert not (tmp_path / "other.npz").exists()


def test_three_labels_stay_three_classes(table: Path) -> None:
    out = table.with_suffix(".npz")
    assert main(f"convert {table} --drop name --out {out}".split()) == 0
    data = Dataset.load(out)
    assert data.classes == ("cat", "dog", "fish")
    assert data.y.tolist() == [0.0, 1.0, 2.0]


def test_a_named_label_above_numbers_is_told_of_the_missing_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("5.1,3.5,1\n4.9,3.0,1\n6.1,2.0,0\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --label y --out {tmp_path}/d.npz".split()) == 2
    error = capsys.readouterr().err
    assert "no column named 'y'" in error
    assert "--no-header" in error
    assert error.count("\n") == 1


def test_the_output_says_which_label_became_which_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b,ill\n0.5,1,yes\n0.7,3,no\n0.1,2,yes\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --label ill --out {tmp_path}/d.npz".split()) == 0
    printed = capsys.readouterr().out
    assert "Labels +1 (yes)" in printed
    assert "Labels -1 (no)" in printed


def test_one_empty_cell_is_empty_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b,ill\n0.5,1,yes\n,3,no\n0.1,2,yes\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --label ill --out {tmp_path}/d.npz".split()) == 2
    assert "'a' is empty in 1 line, first in line 3 (--missing drop" in capsys.readouterr().err


def test_codes_with_leading_zeros_are_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("zip,a,ill\n01234,1,yes\n20095,3,no\n01234,2,yes\n", encoding="utf-8")
    command = f"convert {tmp_path}/t.csv --label ill --out {tmp_path}/d.npz".split()
    assert main(command) == 2
    assert (
        "'zip' looks like a code, which is not a quantity: '01234' begins with 0 (--drop zip" in capsys.readouterr().err
    )
    assert main([*command, "--keep", "zip"]) == 0
    assert Dataset.load(tmp_path / "d.npz").dimension == 2
    (tmp_path / "t.csv").write_text("share,ill\n0.5,yes\n0,no\n0.25,yes\n", encoding="utf-8")
    assert main([*command, "--force"]) == 0  # numbers may begin with 0


def test_lines_with_an_empty_cell_that_were_dropped_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("a,ill\n0.5,yes\n0.7,no\n0.1,\n,yes\n", encoding="utf-8")
    assert main(f"convert {tmp_path}/t.csv --label ill --missing drop --out {tmp_path}/d.npz".split()) == 0
    printed = capsys.readouterr().out
    assert re.search(r"Incomplete +2\n", printed)
    assert re.search(r"Left out +0\n", printed)
