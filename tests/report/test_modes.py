"""A picture that follows its reader: what is drawn stays, and every colour of ours has a dark twin."""

from __future__ import annotations

from xml.etree import ElementTree

from marginflow import plot
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.report.modes import follow_reader
from marginflow.report.plane_svg import DARK_TWINS
from marginflow.report.style import colours


def test_every_light_colour_of_a_picture_becomes_its_dark_twin() -> None:
    light, dark = colours("light"), colours("dark")
    drawn = "".join(f'<path fill="{colour}" stroke="{colour}"/>' for colour in light.values())
    text = follow_reader(f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}</svg>')
    style = text.split("<style>")[1].split("</style>")[0]
    assert style.startswith("@media (prefers-color-scheme:dark){")
    for name, colour in light.items():
        for part in ("fill", "stroke"):
            assert f'[{part}="{colour}"]{{{part}:{dark[name]}}}' in style
    assert text.replace(f"<style>{style}</style>", "") == f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}</svg>'


def test_no_light_colour_stands_for_two_things_that_differ_in_the_dark() -> None:
    light, dark = colours("light"), colours("dark")
    assert len(set(light.values())) == len(light)
    shared = [name for name in light if light[name] in DARK_TWINS]
    assert {light[name]: dark[name] for name in shared} == {light[name]: DARK_TWINS[light[name]] for name in shared}
    assert set(dark) == set(light)


def test_a_network_on_the_plane_is_drawn_over_a_ground_that_can_turn_dark() -> None:
    network = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    svg = follow_reader(plot.plane(network, Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])).svg)
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    colours_used = {
        element.get(part) for element in root.iter() for part in ("fill", "stroke") if element.get(part) is not None
    }
    assert colours_used - {"none"} <= set(DARK_TWINS)
    group = root.find(f"{space}g")
    assert group is not None
    assert [part.tag for part in group][:2] == [f"{space}rect", f"{space}image"]
