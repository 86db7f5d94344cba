"""A folder in which nothing may be written is named before anything is computed, and nothing else is blamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from marginflow import InputError
from marginflow.cli import main
from marginflow.storage import write_text

SPEC = '[sweep]\nname = "closed"\ntask = "limit"\nseeds = 1\n[fixed]\ndimension = 4\nn_samples = 6\nwidth = 8\n'


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder without the right to write; the superuser, whom nothing stops, is told so by the system's two calls."""
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        access, mkstemp = os.access, tempfile.mkstemp

        def refused(path: os.PathLike[str], mode: int) -> bool:
            return access(path, mode) and not (Path(path) == folder and mode & os.W_OK)

        def not_here(dir: Path, **options: str) -> tuple[int, str]:
            if Path(dir) == folder:
                raise PermissionError(13, "Permission denied", f"{dir}/.part")
            return mkstemp(dir=dir, **options)

        monkeypatch.setattr(os, "access", refused)
        monkeypatch.setattr(tempfile, "mkstemp", not_here)
    yield folder
    folder.chmod(0o755)


@pytest.mark.parametrize(
    "line",
    [
        "sweep {open}/spec.toml --export {closed}/rows.csv",
        "sweep {open}/spec.toml --watch {closed}/page.html",
        "figure FCB22/Amplification.ours --size smoke --out {closed}/figures",
        "figure FCB22/Amplification.ours --size smoke --out {closed}",
        "hunt KYS23/LemB.3-repaired --tries 2 --out {closed}/new/found",
        "demo --out {closed}/demo",
        "sample sphere --dimension 5 --n-samples 10 --out {closed}/data.npz",
    ],
)
def test_the_folder_is_named_before_anything_is_computed(
    line: str, closed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    assert main(line.format(open=tmp_path, closed=closed).split()) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"cannot be written: the folder {closed} is read-only." in said
    assert ".part" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["closed", "spec.toml"]
    assert not list(closed.iterdir())


def test_a_file_there_is_refused_by_its_own_name(closed: Path) -> None:
    with pytest.raises(InputError, match=rf"{closed}/page\.html cannot be written: the folder {closed} is read-only"):
        write_text(closed / "page.html", "text")
