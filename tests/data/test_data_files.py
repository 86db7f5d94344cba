import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from marginflow.data import Clusters, Dataset, GramReduction, Sphere, UniformNoise
from marginflow.errors import InputError

FIELDS = ("X", "y", "clean_labels", "clusters", "means", "mean_labels")

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=finite)


def same_bits(first: Dataset, second: Dataset, fields: tuple[str, ...] = FIELDS) -> bool:
    for name in fields:
        a, b = getattr(first, name), getattr(second, name)
        if (a is None) != (b is None) or (a is not None and (a.shape != b.shape or a.tobytes() != b.tobytes())):
            return False
    return True


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(X=tables, data=st.data(), suffix=st.sampled_from([".npz", ".csv"]))
def test_any_table_comes_back_bit_for_bit(tmp_path: Path, X: np.ndarray, data: st.DataObject, suffix: str) -> None:
    n = X.shape[0]
    signs = hnp.arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0]))
    fields: dict = {"X": X, "y": data.draw(signs)}
    if data.draw(st.booleans()):
        fields["clean_labels"] = data.draw(signs)
    if data.draw(st.booleans()):
        fields["clusters"] = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 9)))
    original = Dataset(**fields)
    path = original.save(tmp_path / f"table{suffix}")
    assert same_bits(original, Dataset.load(path))


def test_an_archive_keeps_everything(tmp_path: Path) -> None:
    law = GramReduction(Clusters(dimension=10**9, n_clusters=3, noise=UniformNoise(rate=0.2)))
    original = law.sample(7, seed=3).subset([0, 2, 4])
    loaded = Dataset.load(original.save(tmp_path / "data.npz"))
    assert same_bits(original, loaded)
    assert loaded.ambient_dimension == 10**9
    assert loaded.origin == original.origin


def test_the_same_data_gives_the_same_file(tmp_path: Path) -> None:
    data = Sphere(dimension=3).sample(4)
    first, second = data.save(tmp_path / "a.npz"), data.save(tmp_path / "b.npz")
    assert first.read_bytes() == second.read_bytes()


def test_an_archive_of_plain_numpy_is_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "user.npz", X=np.arange(6).reshape(3, 2), y=np.array([1, -1, 1]), remark=np.array("mine"))
    data = Dataset.load(tmp_path / "user.npz")
    assert data.X.dtype == np.float64
    assert data.y.tolist() == [1.0, -1.0, 1.0]
    np.savez_compressed(tmp_path / "small.npz", X=np.eye(2), y=np.array([1, -1]))
    assert Dataset.load(tmp_path / "small.npz").n_samples == 2


def refused(path: Path, sentence: str, **options: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        Dataset.load(path, **options)
    text = str(caught.value)
    assert text.count(str(path)) == 1
    assert text.endswith(".")


class Bomb:
    def __reduce__(self) -> tuple:
        return (pytest.fail, ("a pickle was executed",))


def test_pickles_are_refused_and_not_executed(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(pickle.dumps(Bomb()))
    refused(path, "not a readable .npz archive")
    np.savez(tmp_path / "object.npz", X=np.array([[Bomb()]], dtype=object), y=np.array([1]), allow_pickle=True)
    refused(tmp_path / "object.npz", "it holds Python objects, which are not opened")


def test_foreign_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    path.write_text("x,y\n1,2\n")
    refused(path, "not a readable .npz archive")
    path.write_bytes(b"hello")
    refused(path, r"it does not begin as one; numpy.savez writes one")
    path.write_bytes(b"")
    refused(path, "not a readable .npz archive")
    path.write_bytes(b"PK\x03\x04" + bytes(range(256)))
    refused(path, "not a readable .npz archive")
    with path.open("wb") as file:
        np.save(file, np.eye(2))
    refused(path, "one bare array")
    np.savez(path, data=np.eye(2))
    refused(path, r"holds the arrays \['data'\]; the arrays X and y")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", b"garbage")
        archive.writestr("y.npy", b"garbage")
    refused(path, "X|not a readable")
    np.savez(path, X=np.eye(2), y=np.array([0, 0]))
    refused(path, r"All 2 labels of y are 0; two or more different ones are expected")
    np.savez(path, X=np.array([[np.nan]]), y=np.array([1]))
    refused(path, "finite")
    np.savez(path, X=np.eye(2), y=np.array([1, 1]), origin=np.array("{nonsense"))
    refused(path, "not JSON")
    np.savez(path, X=np.eye(2), y=np.array([1, 1]), origin=np.array("[" * 100_000))
    refused(path, "not JSON")
    np.savez(path, X=np.eye(2), y=np.array([1, 1]), origin=np.array("[1]"))
    refused(path, "a mapping is expected")
    np.savez(path, X=np.eye(2), y=np.array([1, 1]), ambient_dimension=np.array([1.5]))
    refused(path, "one value is expected")
    np.savez(path, X=np.array([["a"]]), y=np.array([1]))
    refused(path, "real numbers")


@pytest.mark.parametrize(
    "preparation",
    [
        '{"columns": [{"name": "a", "categories": [], "mean": 1'
        + "0" * 400
        + ', "scale": 1, "filler": null}], "label": "y"}',
        '{"columns": [{"name": "a", "categories": [], "mean": NaN, "scale": 1, "filler": null}], "label": "y"}',
        '{"columns": [{"name": "a", "categories": [], "mean": 0, "scale": 0, "filler": null}], "label": "y"}',
        '{"columns": [{"name": 1, "categories": "ab", "mean": 0, "scale": 1, "filler": null}], "label": "y"}',
        '{"columns": [], "label": "y"}',
        '{"columns": "a"}',
    ],
)
def test_a_preparation_of_another_form_is_refused(tmp_path: Path, preparation: str) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, X=np.eye(2), y=np.array([1, -1]), preparation=np.array(preparation))
    with pytest.raises(InputError, match="not of the expected form"):
        Dataset.load(path)


def test_every_truncation_and_every_flipped_byte_is_noticed_or_harmless(tmp_path: Path) -> None:
    original = Dataset(X=[[0.5, -1.25]], y=[1], origin={"name": "mine"})
    content = original.save(tmp_path / "whole.npz").read_bytes()
    path = tmp_path / "damaged.npz"
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(InputError):
            Dataset.load(path)
    for index in range(0, len(content), 5):
        damaged = bytearray(content)
        damaged[index] ^= 0x55
        path.write_bytes(bytes(damaged))
        try:
            survived = Dataset.load(path)
        except InputError:
            continue
        assert same_bits(original, survived)  # only bytes that carry no data may change unnoticed


def test_a_header_that_promises_too_much_is_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)})
    path = tmp_path / "huge.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(8))
        archive.writestr("y.npy", header.getvalue() + bytes(8))
    refused(path, "declares arrays of")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "no samples"),
        ("1\n-1\n", "one column"),
        ("x;y\n1;1\n", "has semicolons between its values; data have commas, but `marginflow convert`"),
        ("1,2,1\n3,4\n", "line 2: 2 values, but the first line has 3"),
        ("x,y\n1,1\nfoo,1\n", "line 3, column 1: 'foo' is not a finite number"),
        ("x,y\n1,1\nnan,1\n", "'nan' is not a finite number"),
        ("x,y\n1,1\n1e999,1\n", "'1e999' is not a finite number"),
        ("x,y\n1,1\n1_0,1\n", "'1_0' is not a finite number"),
        ("x,y\n1,1\n,1\n", "'' is not a finite number"),
        ("2,,1\n1,1,-1\n", "line 1, column 2: '' is not a finite number"),
        ("x,y\n1,0\n", r"label column 'y' contains 0; labels must be -1 or \+1"),
        ("1,3\n", "label column 'column 2' contains 3"),
        ('x,y\n"1,1\n', "not a readable .csv"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    refused(path, sentence)


def test_binary_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.csv"
    for content in (bytes(range(256)), pickle.dumps(Bomb()), b"1,\x00,1\n", b"\xff\xfe1\x00"):
        path.write_bytes(content)
        with pytest.raises(InputError):
            Dataset.load(path)


def test_the_label_column_is_last_or_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("1.5,2,1\n3,4,-1\n")
    assert Dataset.load(path).X.tolist() == [[1.5, 2.0], [3.0, 4.0]]
    path.write_text("\ufeffclass, width ,height\n-1,2,3\n\n+1,4,5\n", encoding="utf-8")
    data = Dataset.load(path, label="class")
    assert data.y.tolist() == [-1.0, 1.0]
    assert data.X.tolist() == [[2.0, 3.0], [4.0, 5.0]]
    refused(path, "0 columns named 'species'", label="species")
    path.write_text("a,a,b\n1,1,1\n")
    refused(path, "2 columns named 'a'", label="a")
    path.write_text("1,1\n")
    refused(path, "no header line", label="y")


def test_a_feature_named_cluster_stays_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_text("cluster,width,label\n0.5,2,1\n1.5,3,-1\n")
    data = Dataset.load(path)
    assert data.X.tolist() == [[0.5, 2.0], [1.5, 3.0]]
    assert data.clusters is None


def test_other_formats_and_missing_files_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "data.pkl", "end in .npz or .csv")
    refused(tmp_path / "data.npz", "no file")
    (tmp_path / "folder.npz").mkdir()
    refused(tmp_path / "folder.npz", "no file")
    data = Dataset(X=[[1.0]], y=[1])
    for path in (tmp_path / "data.npy", tmp_path / "nowhere" / "data.npz"):
        with pytest.raises(InputError):
            data.save(path)
    np.savez(tmp_path / "fine.npz", X=np.eye(1), y=np.array([1]))
    refused(tmp_path / "fine.npz", "for .csv files only", label="y")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["fine.npz", "folder.npz"]


def test_a_law_that_is_not_plain_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no plain form"):
        Dataset(X=[[1.0]], y=[1], origin={"thing": object()}).save(tmp_path / "data.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_small_archive_that_declares_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (750_000, 1000)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        member.write(header.getvalue() + bytes(1000))
    with pytest.raises(InputError, match=r"declares arrays of 6 GB; at most 2 GB"):
        Dataset.load(path)
    with pytest.raises(InputError, match=r"at most 0\.5 GB"):
        Dataset.load(path, size_limit=0.5)
    monkeypatch.setenv("MARGINFLOW_SIZE_LIMIT", "much")
    with pytest.raises(InputError, match="MARGINFLOW_SIZE_LIMIT is 'much'"):
        Dataset.load(path)
    small = Dataset(X=[[1.0]], y=[1]).save(tmp_path / "small.npz")
    monkeypatch.setenv("MARGINFLOW_SIZE_LIMIT", "1e-8")
    with pytest.raises(InputError, match="declares arrays of"):
        Dataset.load(small)
    assert Dataset.load(small, size_limit=1).n_samples == 1
