"""`marginflow convert` of tables as spreadsheets write them: separators, decimal commas, encodings."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset

GERMAN = (
    "Alter;Gr\u00f6\u00dfe;Preis;krank\n"
    "30;1,5;1.234,50 \u20ac;ja\n40;2,25;999,00 \u20ac;nein\n50;;12.000,00 \u20ac;ja\n"
)


def converted(table: Path, *options: str) -> Dataset | None:
    """The data that a table becomes; None if it is refused, and then nothing is written."""
    out = table.with_suffix(".npz")
    out.unlink(missing_ok=True)
    code = main(["convert", str(table), "--out", str(out), *options])
    assert code == (0 if out.exists() else 2)
    return Dataset.load(out) if code == 0 else None


def written(folder: Path, text: str, name: str = "table.csv", encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


@pytest.mark.parametrize(
    ("text", "name", "separator"),
    [
        ("a,b,k\n1,2,u\n3,4,v\n", "table.csv", "comma"),
        ("a;b;k\n1;2;u\n3;4;v\n", "table.csv", "semicolon"),
        ("a\tb\tk\r\n1\t2\tu\r\n3\t4\tv\r\n", "table.tsv", "tab"),
        ("a\tb\tk\n1\t2\tu\n3\t4\tv\n", "table.csv", "tab"),
        ("sep=;\r\na;b;k\r\n1;2;u\r\n3;4;v\r\n", "table.csv", "semicolon"),
        ('"a";"b";"k, or kind"\n1;2;u\n3;4;v\n', "table.txt", "semicolon"),
    ],
)
def test_the_separator_is_found_and_said(
    text: str, name: str, separator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = converted(written(tmp_path, text, name))
    assert data is not None
    assert data.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert data.classes == ("u", "v")
    assert f"Separator      {separator}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("a,b;k\n1,2;u\n3,4;v\n", ["--separator", "semicolon"], "has commas and semicolons; --separator says what"),
        ("a b k\n1  2 u\n3 4 v \n", ["--separator", "space"], "neither commas nor semicolons nor tabs"),
        ("a|k\n1|u\n3|v\n", ["--separator", "|"], "(--separator, if its values are not separated by a comma)"),
    ],
)
def test_a_separator_that_is_not_clear_is_asked_about(
    text: str, options: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path, text)
    assert converted(table) is None
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    data = converted(table, *options)
    assert data is not None
    assert data.classes == ("u", "v")


def test_a_separator_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert converted(written(tmp_path, "a,k\n1,u\n2,v\n"), "--separator", "colon") is None
    assert "The separator is 'colon'; comma, semicolon, tab, space or one character" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_german_table_is_read_as_it_is(encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = written(tmp_path, GERMAN, encoding=encoding)
    assert encoding == "utf-8" or table.read_bytes().startswith((codecs.BOM_UTF8, codecs.BOM_UTF16))
    data = converted(table, "--missing", "mean")
    assert data is not None
    assert data.features == ("Alter", "Gr\u00f6\u00dfe", "Preis")
    np.testing.assert_array_equal(data.X, [[30, 1.5, 1234.5], [40, 2.25, 999], [50, 1.875, 12000]])
    printed = capsys.readouterr().out
    assert "Gr\u00f6\u00dfe: as it is, empty cells filled, '1,5' read as 1.5\n" in printed
    assert "Preis: as it is, '1.234,50 \u20ac' read as 1234.5\n" in printed


def test_new_lines_are_read_like_the_old(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = written(tmp_path, GERMAN)
    assert converted(table, "--missing", "mean") is not None
    new = written(tmp_path, "Alter;Gr\u00f6\u00dfe;Preis;krank\n1;1,234;1.234 \u20ac;ja\n2;;7 \u20ac;nein\n", "new.csv")
    data = converted(new, "--like", str(table.with_suffix(".npz")))
    assert data is not None
    np.testing.assert_array_equal(data.X, [[1, 1.234, 1234], [2, 1.875, 7]])
    assert converted(new, "--like", str(table.with_suffix(".npz")), "--decimal", "comma") is None
    assert "and --decimal cannot be given with it" in capsys.readouterr().err
    other = written(tmp_path, "Alter;Gr\u00f6\u00dfe;Preis;krank\n1;1,5;7 $;ja\n2;1;7 $;nein\n", "other.csv")
    assert converted(other, "--like", str(table.with_suffix(".npz"))) is None
    assert "The column 'Preis' contains '7 $'" in capsys.readouterr().err


@pytest.mark.parametrize(("mark", "point", "comma"), [(",", 1234.0, 1.234), (".", 1.234, 1234.0)])
def test_what_can_be_read_in_two_ways_is_asked_about(
    mark: str, point: float, comma: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path, f"a;n;k\n1{mark}234;1;u\n2{mark}345;2;v\n")
    assert converted(table) is None
    error = capsys.readouterr().err
    sentence = f"'1{mark}234' as {point:g} (--decimal point) or as {comma:g} (--decimal comma)"
    assert f"'a' can be read in two ways: {sentence}." in error
    for word, value in (("point", point), ("comma", comma)):
        data = converted(table, "--decimal", word)
        assert data is not None
        assert data.X[0, 0] == value


def test_another_column_says_what_is_decimal(tmp_path: Path) -> None:
    data = converted(written(tmp_path, 'pay,size,k\n"1,234",0.5,u\n"12,000",1.5,v\n'))
    assert data is not None
    assert data.X[:, 0].tolist() == [1234.0, 12000.0]
    data = converted(written(tmp_path, "pay;size;k\n1.234;0,5;u\n12.000;1,5;v\n"))
    assert data is not None
    assert data.X[:, 0].tolist() == [1234.0, 12000.0]
    assert converted(written(tmp_path, "pay;size;s;k\n1.234;0,5;0.5;u\n12.000;1,5;1.5;v\n")) is None  # they disagree


@pytest.mark.parametrize(
    "name", ["book.xlsx", "book.ods", "rows.parquet", "rows.csv.gz", "data.npz", "renamed.csv", "rows.jsonl"]
)
def test_what_is_not_text_gets_the_sentence_that_helps(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 and so on")
    assert main(["convert", str(tmp_path / name), "--out", str(tmp_path / "out.npz")]) == 2
    error = capsys.readouterr().err
    expected = {
        ".xlsx": "save it as .csv in UTF-8, or in Python mf.data.convert(pandas.read_excel('book.xlsx'), label=...)",
        ".ods": "pandas.read_excel('book.ods')",
        ".parquet": "pandas.read_parquet('rows.parquet')",
        ".gz": "pandas.read_csv('rows.csv.gz')",
        ".jsonl": "pandas.read_json('rows.jsonl', lines=True)",
        ".npz": "data in .npz need not be converted",
        ".csv": "is an archive or a spreadsheet, whatever its name; save it as CSV UTF-8",
    }
    assert expected[Path(name).suffix] in error
    assert error.count("\n") == 1
