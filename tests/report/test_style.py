"""Printed charts: width and letters as asked, superscripts instead of carets, legends that fit, both modes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from marginflow.experiments import Panel
from marginflow.experiments.panel import over_seeds
from marginflow.report.bundle import register_fonts, vega_lite_version
from marginflow.report.content import Chart
from marginflow.report.encodings import SERIES_SHAPES
from marginflow.report.legends import with_marked_legends
from marginflow.report.panels import chart_of
from marginflow.report.static import draw, svg_text
from marginflow.report.style import INCHES, POWER_OF_TEN, colours, printed, raised, superscript


def chart(series: int = 5, **others: object) -> Chart:
    rows = [
        {"d": 100 * d, "flip": 1.0 + name + 0.1 * seed, "m": f"m = d^{0.5 + 0.25 * name:g}", "kind": kind}
        for d in (1, 2, 3)
        for name in range(series)
        for seed in range(3)
        for kind in ("recipe", "KKT point")
    ]
    titles = {"d": "Dimension d", "flip": "Perturbation size", "m": "Samples", "kind": "Network"}
    return chart_of(
        over_seeds(
            rows,
            x="d",
            y="flip",
            series="m",
            variant="kind",
            titles=titles,
            description="What is drawn.",
            title="Smallest perturbation that flips all of the samples on the margin, d^1.5",
            **others,
        )
    )


def extent(svg: str) -> tuple[float, float]:
    found = re.search(r'<svg[^>]* width="([0-9.]+)"[^>]* height="([0-9.]+)"', svg)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", ["column", "page"])
def test_a_printed_chart_has_its_width_its_letters_and_its_colours(width: str, mode: str) -> None:
    svg = svg_text(chart(), width=width, mode=mode)
    assert extent(svg)[0] == pytest.approx(96 * INCHES[width], abs=16)
    sizes = {float(size) for size in re.findall(r'font-size="([0-9.]+)px"', svg)}
    assert sizes
    assert all(size == pytest.approx(32 / 3, rel=1e-3) for size in sizes)  # 8 pt
    assert colours(mode)["paper"] in svg
    assert colours(mode)["series-1"] in svg
    assert "var(--" not in svg
    assert "^" not in re.sub(r"<svg[^>]*>", "", svg)
    assert "m = d⁰·⁵" in svg


def placed(node: object, begin: str = "m = d", x: float = 0.0, y: float = 0.0) -> list[tuple[float, float, str]]:
    """Where texts with this beginning, by default the names of the samples, stand in a scene: left, height, text."""
    if isinstance(node, list):
        return [found for child in node for found in placed(child, begin, x, y)]
    if not isinstance(node, dict):
        return []
    here = (x + float(node.get("x", 0) or 0), y + float(node.get("y", 0) or 0))
    if str(node.get("text", "")).startswith(begin):
        return [(here[0], here[1] + float(node.get("dy", 0) or 0), str(node["text"]))]
    return [found for key in ("items", "scenegraph") for found in placed(node.get(key), begin, *here)]


def scene_of(series: int, width: str) -> Any:
    made = printed(chart(series).specification, title="t", width=width)
    register_fonts()
    vega = with_marked_legends(vl_convert.vegalite_to_vega(made, vl_version=vega_lite_version()))
    return json.loads(json.dumps(vl_convert.vega_to_scenegraph(vega)))


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("series", [2, 5, 8])
def test_no_name_of_a_legend_leaves_the_picture_or_meets_another(series: int, width: str) -> None:
    """Names begin one after the other, each far enough from the next for the widest letters."""
    scene = scene_of(series, width)
    names = placed(scene)
    assert len(names) == series
    for x, y, text in names:
        assert x + 6.0 * len(text) <= scene["width"]
        assert all(other - x >= 6.0 * len(text) for other, level, _ in names if level == y and other > x)


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("series", [2, 8])
def test_headings_of_legends_stand_in_line_with_their_first_names(series: int, width: str) -> None:
    scene = scene_of(series, width)
    for heading, name in (("Samples", "m = d"), ("Network", "recipe")):
        (_, height, _), (_, first, _) = placed(scene, heading)[0], placed(scene, name)[0]
        middle = height + 5.0  # a heading hangs from its place, a name stands around it
        assert abs(middle - first) < 1.5, heading


def symbols(node: object) -> list[dict[str, Any]]:
    """The lines with marks of all legends in a scene."""
    if isinstance(node, list):
        return [found for child in node for found in symbols(child)]
    if not isinstance(node, dict):
        return []
    own = [node] if str(node.get("shape", "")).startswith("M-1,0H2") else []
    return own + [found for key in ("items", "scenegraph") for found in symbols(node.get(key))]


def test_legends_show_the_marks_and_the_dashes_of_each_kind_of_network() -> None:
    recipe, exact = drawn = symbols(scene_of(5, "column"))
    assert "A0.28" in recipe["shape"]  # a circle
    assert "A" not in exact["shape"]  # a square
    assert recipe["strokeDash"] != exact["strokeDash"]
    assert all(item["fill"] == item["stroke"] for item in drawn)


@pytest.mark.parametrize("shape", SERIES_SHAPES)
def test_every_mark_of_a_chart_has_its_place_in_a_legend(shape: str) -> None:
    """Also where colours alone tell the curves apart."""
    scales = [
        {"name": "a", "domain": ["x"], "range": ["#123456"]},
        {"name": "b_shape", "domain": ["x"], "range": [shape]},
    ]
    made = with_marked_legends({"scales": scales, "legends": [{"stroke": "a", "symbolType": "stroke"}]})
    update = made["legends"][0]["encode"]["symbols"]["update"]
    assert update["fill"] == {"scale": "a", "field": "value"}
    assert update["shape"][0]["value"].startswith("M-1,0H2M")


def test_a_word_with_quotes_in_a_legend_is_no_expression() -> None:
    word = 'a" + b \\ c'
    scales = [
        {"name": "a", "domain": [word], "range": [[1, 0]]},
        {"name": "b_shape", "domain": [word], "range": ["square"]},
    ]
    made = with_marked_legends({"scales": scales, "legends": [{"strokeDash": "a", "symbolType": "stroke"}]})
    (rule,) = made["legends"][0]["encode"]["symbols"]["update"]["shape"]
    assert json.loads(rule["test"].removeprefix("datum.value === ")) == word


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-15, "10⁻¹⁵"), (3e-15, "3·10⁻¹⁵"), (0.01, "0.01"), (100.0, "100"), (1e5, "10⁵"), (2.5e12, "2.5·10¹²")],
)
def test_powers_of_ten_have_real_superscripts(value: float, text: str) -> None:
    axis = {"values": [value], "labelExpr": POWER_OF_TEN}
    encoding = {"y": {"field": "v", "type": "quantitative", "scale": {"type": "log"}, "axis": axis}}
    rows = [{"v": value}, {"v": 2 * value}]
    assert f">{text}<" in vl_convert.vegalite_to_svg({"data": {"values": rows}, "mark": "point", "encoding": encoding})


def test_carets_become_superscripts_and_other_carets_stay() -> None:
    assert superscript("m = d^1.2 and d^α, 10^-4") == "m = d¹·² and dᵅ, 10⁻⁴"
    assert superscript("x^y") == "x^y"


def test_pictures_carry_their_font_and_a_printed_page_has_its_width_in_points(tmp_path: Path) -> None:
    rows = [{"d": d, "size": float(d), "kind": kind} for d in (10, 20, 1000) for kind in ("one", "two")]
    panel = Panel(
        rows=rows, x="d", y="size", series="kind", titles={"d": "Dimension d", "size": "Size", "kind": "Kind"},
        title="Sizes", description="Two curves on each other.", references={"√d": [(10.0, 3.0), (1000.0, 2000.0)]},
    )  # fmt: skip
    chart = chart_of(panel)
    picture = draw(chart, tmp_path / "a.svg", width="column").read_text()
    assert picture.count("@font-face") == 2  # regular and bold
    assert "1e+" not in picture
    assert ">1000<" in picture
    paper = draw(chart, tmp_path / "a.pdf", width="column").read_bytes()
    size = re.search(rb"/MediaBox \[\s*0 0 ([\d.]+) ([\d.]+)", paper)
    assert size is not None
    assert float(size[1]) == pytest.approx(3.25 * 72, abs=1)
    lines = re.findall(r'aria-roledescription="line mark"[^>]*stroke="(#[0-9a-f]+)" stroke-width="([\d.]+)"', picture)
    assert lines[-2:] == [("#1f5fbf", "3.6"), ("#c2560c", "2")]  # of coincident curves the lower is drawn wider


def test_numbers_in_sentences_are_raised_and_the_first_power_is_left_out() -> None:
    assert raised("residual 1.5e-15 at 1e-08") == "residual 1.5·10⁻¹⁵ at 10⁻⁸"
    assert raised("d^1 and d^1.5, v1e-3x") == "d and d¹·⁵, v1e-3x"


def test_names_in_a_legend_have_real_superscripts() -> None:
    from marginflow.report.encodings import worded

    assert worded([{"m": "m = d^0.5", "d": 3}], "m", None) == [{"m": "m = d⁰·⁵", "d": 3}]
