"""`marginflow report` and `marginflow cite`: one page of any results, and what they stand on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from marginflow.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of every command that is quick, as files."""
    made = tmp_path_factory.mktemp("report")
    data, network = made / "data.npz", made / "kkt.safetensors"
    assert main(f"sample orthogonal 6 --dimension 8 --seed 0 --out {data}".split()) == 0
    assert main(f"train {data} --width 8 --stop-loss 1e-3 --out {made}/t.safetensors".split()) == 0
    assert main(f"limit {data} --width 8 --out {network}".split()) == 0
    assert main(f"certify {network} {data} --out {made}/certificate.json".split()) == 0
    assert main(f"radius {network} {data} --first 3 --out {made}/radius.json".split()) == 0
    assert main(f"flip {network} {data} --out {made}/flip.json".split()) == 0
    return made


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "sentence", "charts"),
    [
        ("t.trajectory.json", "Training ended after", 2),
        ("kkt.certificate.json", "A KKT point was found", 3),
        ("certificate.json", "The network is a KKT point", 3),
        ("radius.json", "All 3 distances to the decision boundary are proved", 2),
        ("flip.json", "flips all 6 samples", 1),
    ],
)
def test_each_kind_of_result_is_recognised_and_its_verdict_comes_first(
    file: str, sentence: str, charts: int, folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(folder / file), "--out", str(page)]) == 0
    text = text_of(page)
    verdict = re.search(r'<p class="verdict holds">(.*?)</p>', text)
    assert verdict is not None
    assert sentence in verdict.group(1)
    assert text.count('class="chart"') == charts
    assert 0 < text.index("<figure>") < text.index("<table>")  # the picture before any table or formula
    assert text.index("<figure>") < (text.index("<math") if "<math" in text else len(text))
    assert f"marginflow report {folder / file}" in text
    assert "Computed with Python" in text


def test_several_results_make_one_page_with_the_commands_that_made_them(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    files = [str(folder / name) for name in ("kkt.certificate.json", "radius.json", "flip.json")]
    assert main(["report", *files, "--out", str(page), "--title", "A & B"]) == 0
    text = text_of(page)
    verdict = re.search(r'<p class="verdict holds">(.*?)</p>', text)
    assert verdict is not None
    assert re.fullmatch(r"One vector of norm .* flips all 6 samples .*\. All 3 results hold\.", verdict[1])
    assert text.index("One vector for all samples: flip.json") < text.index("What holds the network")
    assert "<h1>A &amp; B</h1>" in text
    assert f"marginflow limit {folder}/data.npz --width 8" in text
    assert f"marginflow radius {folder}/kkt.safetensors" in text


def test_network_with_its_data_is_judged(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(folder / "data.npz"), str(folder / "kkt.safetensors"), "--out", str(page)]) == 0
    text = text_of(page)
    assert "The network is a KKT point" in text
    assert "<math" in text
    assert text.count('class="chart"') == 7
    assert "Exact, attacks and bounds" in text


def test_trained_network_is_no_kkt_point_and_the_exit_code_says_so(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(folder / "t.safetensors"), str(folder / "data.npz"), "--out", str(page)]) == 1
    assert 'class="verdict violated"' in text_of(page)


def test_every_chart_is_drawn_as_a_file_on_request(folder: Path, tmp_path: Path) -> None:
    line = ["report", str(folder / "certificate.json"), "--out", str(tmp_path / "page.html")]
    assert main([*line, "--svg", str(tmp_path / "s"), "--png", str(tmp_path / "s"), "--pdf", str(tmp_path / "s")]) == 0
    names = sorted(path.name for path in (tmp_path / "s").iterdir())
    assert len(names) == 9
    assert {name[:2] for name in names} == {"01", "02", "03"}


def test_pictures_of_an_earlier_report_stay_unless_that_is_forced(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["report", str(folder / "certificate.json"), "--svg", str(tmp_path / "s"), "--out"]
    assert main([*line, str(tmp_path / "page.html")]) == 0
    first = min((tmp_path / "s").iterdir())
    first.write_text("mine", encoding="utf-8")
    assert main([*line, str(tmp_path / "other.html")]) == 2
    assert f"{first} exists already" in capsys.readouterr().err
    assert first.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "other.html").exists()
    assert main([*line, str(tmp_path / "other.html"), "--force"]) == 0
    assert first.read_text(encoding="utf-8").startswith("<svg")


def test_rows_are_shown_and_drawn_by_named_columns(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n,error,recipe\n1,0.5,a\n2,0.25,a\n1,0.4,b\n2,,b\n", encoding="utf-8")
    line = ["report", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "page.html"), "--force"]
    assert main(line) == 0
    assert 'class="chart"' not in text_of(tmp_path / "page.html")
    assert main([*line, "--x", "n", "--y", "error", "--series", "recipe"]) == 0
    assert text_of(tmp_path / "page.html").count('class="chart"') == 1


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", "{", "not readable as JSON"),
        ("a.json", "3", "neither an object nor rows"),
        ("a.json", "[]", "neither an object nor rows"),
        ("a.json", '{"radii": 1, "all_proved": true, "sqrt_dimension": 1}', "a list of objects is expected"),
        ("a.json", '{"radii": [], "all_proved": true, "sqrt_dimension": 1}', "'relative' is missing"),
        ("a.txt", "x", "ends in '.txt'"),
        ("a.csv", 'a,b\n"x', "not readable as CSV"),
    ],
)
def test_bad_results_are_one_sentence_and_nothing_is_written(
    name: str, content: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert main(["report", str(tmp_path / name), "--out", str(tmp_path / "page.html")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--x", "n"], "needs both --x and --y"),
        (["--x", "n", "--y", "nothing"], "marginflow: There is no column 'nothing'; there are n, word"),
        (["--x", "n", "--y", "word"], "holds no numbers"),
    ],
)
def test_columns_that_cannot_be_drawn_are_refused(
    more: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("n,word\n1,a\n", encoding="utf-8")
    assert main(["report", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "p.html"), *more]) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()


def test_no_results_or_half_a_pair_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--out", str(tmp_path / "p.html")]) == 2
    assert "Which results?" in capsys.readouterr().err
    assert main(["report", str(folder / "kkt.safetensors"), "--out", str(tmp_path / "p.html")]) == 2
    assert "together with its data" in capsys.readouterr().err


def test_citations_are_those_of_what_was_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite"]) == 0
    everything = capsys.readouterr().out
    assert {key for key in ("VYS22", "FVBS23", "KYS23", "FCB22") if f"{{{key}," in everything} == {
        "VYS22",
        "FVBS23",
        "KYS23",
        "FCB22",
    }
    assert main(["cite", str(folder / "kkt.certificate.json")]) == 0
    limit = capsys.readouterr().out
    assert "@article{YR03," in limit
    assert "VYS22" not in limit
    assert limit.count("{") == limit.count("}")
    assert main(["check", "KYS23/Thm4.1", "--json"]) in (0, 1)
    (folder / "check.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["cite", str(folder / "check.json"), "--json"]) == 0
    assert "KYS23" in {reference["key"] for reference in json.loads(capsys.readouterr().out)["references"]}
