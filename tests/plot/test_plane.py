"""The plane: what is drawn is where the mathematics says it is, in every format."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from marginflow import InputError, plot
from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.measurements.plane import count_directions, moving_start, plane_frame
from marginflow.networks import TwoLayer
from marginflow.report.plane_svg import _contour, png

DATA = Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
NETWORK = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])


def test_the_boundary_is_drawn_where_the_network_is_zero() -> None:
    xs, ys = np.linspace(-1, 1, 41), np.linspace(1, -1, 31)
    x, y = np.meshgrid(xs, ys)
    segments = _contour(2 * x - y, 0.0, xs, ys)
    assert len(segments) > 20
    ends = np.concatenate(segments)
    assert 2 * ends[:, 0] == pytest.approx(ends[:, 1], abs=1e-9)


def test_neurons_are_counted_by_direction_and_weight() -> None:
    rows = np.array([[1, 0, 0, 1], [2, 0, 0, 1], [1, 0.001, 0, 1], [1, 0, 0, -1], [0, 1, 0, 1], [0, 1e-9, 1e-9, 1]])
    assert count_directions(rows.astype(np.float64)) == 3  # two signs of one direction, and another direction


def test_a_frame_is_at_margin_one_and_says_what_is_on_the_margin() -> None:
    frame = plane_frame(NETWORK.scaled(5.0), DATA)
    assert np.abs(np.array(frame["neurons"])[:, :3]).max() == pytest.approx(1.0)
    assert list(frame["on_margin"]) == [0, 1]
    assert frame["residual"] == pytest.approx(0.0, abs=1e-9)


def test_a_network_that_is_wrong_somewhere_has_no_margin_and_no_residual() -> None:
    wrong = TwoLayer(W=NETWORK.W, v=[-1.0, 1.0])
    frame = plane_frame(wrong, DATA)
    assert (frame["right"], frame["residual"], frame["separates"]) == (0, None, False)
    assert "#a3195b" not in plot.plane(wrong, DATA).svg


@pytest.mark.parametrize(
    ("ending", "first"), [("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("html", b"<!do")]
)
def test_every_format_is_written(ending: str, first: bytes, tmp_path: Path) -> None:
    target = plot.plane(NETWORK, DATA).save(tmp_path / f"plane.{ending}")
    assert target.read_bytes()[:4] == first
    if ending == "html":
        assert "default-src 'none'" in target.read_text()


def test_the_svg_has_a_mark_for_every_sample_and_a_ring_for_those_on_the_margin() -> None:
    text = plot.plane(NETWORK, DATA).svg
    assert len(re.findall(r"<rect x=", text)) == 1
    assert len(re.findall(r'stroke="#a3195b"', text)) == 2


def test_a_png_holds_the_pixels_it_was_given() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    whole = png(pixels)
    start = whole.index(b"IDAT")
    (length,) = struct.unpack(">I", whole[start - 4 : start])
    lines = zlib.decompress(whole[start + 4 : start + 4 + length])
    assert lines == b"\0" + pixels[0].tobytes() + b"\0" + pixels[1].tobytes()


def test_other_dimensions_and_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the plane has 2"):
        plot.plane(TwoLayer(W=np.eye(3), v=[1, 1, -1]), Dataset(X=np.eye(3), y=[1, -1, 1]))
    with pytest.raises(InputError, match=r"\.gif"):
        plot.plane(NETWORK, DATA).save(tmp_path / "plane.gif")


def test_the_command_writes_what_the_ending_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    DATA.save("data.npz")
    NETWORK.save("net.safetensors")
    assert main("plot net.safetensors data.npz --out plane.html".split()) == 0
    assert "On the margin" in capsys.readouterr().out
    assert main("plot net.safetensors data.npz --out plane.html".split()) == 2
    assert "--force" in capsys.readouterr().err


def test_a_moving_picture_has_frames_of_the_flow_and_rests_on_the_kkt_point(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    start = TwoLayer.initialise(width=6, dimension=2, scale=0.1, seed=0)
    network, data, out = tmp_path / "start.safetensors", tmp_path / "data.npz", tmp_path / "plane.gif"
    start.save(network)
    DATA.save(data)
    assert main(["plot", str(network), str(data), "--out", str(out)]) == 0
    with image.open(out) as moving:
        assert moving.n_frames > 5
        moving.seek(moving.n_frames - 1)
        assert moving.info["duration"] == 2500
    with pytest.raises(InputError, match=r"\.gif is expected"):
        plot.moving_plane(start, DATA, tmp_path / "plane.mp4")
    shares: list[float] = []
    plot.moving_plane(start, DATA, tmp_path / "few.gif", frames=3, progress=lambda share, remark: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_moving_picture_of_a_kkt_point_begins_at_a_random_network_because_nothing_moves_there() -> None:
    assert moving_start(NETWORK, DATA).width == 60
    elsewhere = TwoLayer(W=[[1.0, 0.2], [0.1, 1.0]], v=[1.0, -1.0])
    assert moving_start(elsewhere, DATA) is elsewhere


def test_lines_of_neurons_are_pale_strokes_and_not_pale_layers_which_take_seconds_to_draw() -> None:
    text = plot.plane(NETWORK, DATA).svg
    assert 'stroke-opacity="0.' in text
    assert not re.search(r'\sopacity="', text)
