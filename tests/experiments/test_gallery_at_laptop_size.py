"""The gallery's figures at laptop size: what each line says of a claim is judged again from the rows beside it."""

from __future__ import annotations

import importlib.util
import itertools
import re
import statistics

import pytest
from gallery_rows import GALLERY, listed, page

from marginflow import experiments
from marginflow.experiments import Finding

_SPEC = importlib.util.spec_from_file_location("draw_gallery", GALLERY.parents[1] / "benchmarks" / "gallery.py")
assert _SPEC is not None
assert _SPEC.loader is not None
draw_gallery = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(draw_gallery)
values_of = draw_gallery.read

WORDS = re.compile(r"\*\*(borne out|not borne out|undecided)\*\*", re.IGNORECASE)
NAMES = sorted(path.name.removesuffix("-laptop.csv") for path in GALLERY.glob("*-laptop.csv"))


def said_of(name: str, text: str) -> str:
    """The first judgement after the picture of a figure, or after its name in a table."""
    drawn, listed = rf"\({re.escape(name)}-laptop[-\d]*\.svg\)", rf"^\| {re.escape(name.replace('-', '/'))} \|"
    begin = re.search(f"{drawn}|{listed}", text, re.MULTILINE)
    assert begin is not None, f"the gallery does not show {name}"
    word = WORDS.search(text, begin.end())
    assert word is not None
    return word[1].lower()


@pytest.mark.parametrize("name", NAMES)
def test_the_gallery_judges_a_claim_as_the_rows_do(name: str) -> None:
    figure = experiments.figure(name.replace("-", "/"))
    result = figure.of_rows(values_of(GALLERY / f"{name}-laptop.csv"), "laptop")
    assert said_of(name, (GALLERY / "README.md").read_text(encoding="utf-8")) == result.outcome.status


def mean_of(name: str, column: str = "error", **conditions: object) -> float:
    found = values_of(GALLERY / f"{name}-laptop.csv")
    return statistics.mean(float(str(row[column])) for row in found if conditions.items() <= row.items())


def finding_of(figure: str, name: str) -> Finding:
    rows = values_of(GALLERY / f"{figure.replace('/', '-')}-laptop.csv")
    findings = experiments.figure(figure).of_rows(rows, "laptop").outcome.findings
    return next(finding for finding in findings if finding.name == name)


def fall(method: str, first: int, last: int) -> str:
    finding = finding_of("KYS23/Fig1R", f"fall of the error from d = {first} to {last} at p = 0.3, {method}")
    words = "KKT points" if method == "KKT point" else method
    return f"{finding.value:.2f} [{finding.low:.2f}, {finding.high:.2f}] from d = {first} to {last} ({words})"


def test_four_times_as_many_samples_are_as_the_rows_say() -> None:
    assert f"at p = 0.3 falls by {fall('recipe', 20, 2000)} and by {fall('KKT point', 100, 2000)}" in page()


def test_narrow_beside_wide_networks_are_as_the_rows_say() -> None:
    def change(method: str, d: int) -> float:
        name = f"mean change of the error from width 50 to 1500, {method}, d = {d}"
        return abs(finding_of("KYS23/Fig2L", name).value)

    small, (medium, large) = change("recipe", 50), (change("recipe", d) for d in (400, 2000))
    assert f"{medium:.3f}" == f"{large:.3f}"
    assert change("KKT point", 400) == change("KKT point", 2000) == 0
    assert (
        f"the mean error of the recipe changes by {small:.3f} in dimension 50 and by {large:.3f} in 400 and 2000; "
        f"at KKT points by {change('KKT point', 50):.3f}, and not at all in 400 and 2000"
    ) in page()


def test_three_layers_beside_two_are_as_the_rows_say() -> None:
    more = [
        mean_of("KYS23-Fig2R", layers=3, dimension=d) - mean_of("KYS23-Fig2R", layers=2, dimension=d)
        for d in (10, 100, 1000)
    ]
    said = [f"{value:+.1g}" if abs(value) < 1e-3 else f"{value:+.3f}" for value in more]
    assert f"three layers have {listed(said)} more error than two".replace("-", "−") in page()


def test_the_transition_at_kkt_points_is_as_the_rows_say() -> None:
    methods = ("KKT point", "recipe")
    small = [[mean_of("KYS23-Fig1L", method=m, dimension=160, noise=p) for p in (0.1, 0.2, 0.3, 0.4)] for m in methods]
    large = [f"{mean_of('KYS23-Fig1L', method=m, dimension=640, noise=0.3):.2f}" for m in methods]
    with_limits, with_recipe = (", ".join(f"{error:.2f}" for error in errors) for errors in small)
    said = f"with {with_limits} instead of {with_recipe}, and in dimension 640 it is {large[0]} instead of {large[1]}"
    assert said in page()


def test_flips_beside_residuals_are_as_the_rows_say() -> None:
    def flips(method: str, alpha: float) -> str:
        cell: dict[str, object] = {"method": method, "alpha": alpha, "separated": True}
        widths = (20, 50, 100, 200, 500, 1000)
        means = [mean_of("VYS22-Exact.ours", "flip_over_radius", width=width, **cell) for width in widths]
        return f"{min(means):.2f} to {max(means):.2f} √d"

    few, many = ((flips("recipe", alpha), flips("KKT point", alpha)) for alpha in (0.5, 1.0))
    said = f"{few[0]} for the recipe and {few[1]} for the KKT points (m = √d), {many[0]} and {many[1]} (m = d)"
    assert said in page()
    rows = values_of(GALLERY / "VYS22-Exact.ours-laptop.csv")
    assert max(float(str(row["residual"])) for row in rows if row["method"] == "KKT point") < 2e-14


def test_spreads_of_the_widths_are_as_the_rows_say() -> None:
    said = []
    for method in ("recipe", "KKT point"):
        name = "spread of the flip over the widths, relative to its mean"
        found = [100 * finding_of("VYS22/Fig1b", f"{name}, {method}, d = {d}").value for d in (40, 60, 80)]
        said.append(f"{min(found):.0f} to {max(found):.0f} %")
    assert f"the mean flips of the widths differ by {said[0]} (recipe) and {said[1]} (KKT points)" in page()


def test_faster_schedules_are_as_the_rows_say() -> None:
    rows = values_of(GALLERY / "VYS22-Exp.recipe-laptop.csv")

    def flips(schedule: str, alpha: float) -> dict[tuple[object, object], float]:
        chosen = [row for row in rows if (row["schedule"], row["alpha"]) == (schedule, alpha)]
        return {(row["dimension"], row["seed"]): float(str(row["flip"])) for row in chosen}

    changes = []
    for schedule, alpha in itertools.product(("every 5", "every 20", "normalised"), (0.5, 1.0)):
        published, faster = flips("published", alpha), flips(schedule, alpha)
        changes.append([100 * (faster[draw] / flip - 1) for draw, flip in published.items()])
    mean = max(abs(statistics.mean(some)) for some in changes)
    single = max(abs(change) for some in changes for change in some)
    assert f"at most {mean:.2f} % in the mean, single ones by up to {single:.1f} %" in page()


def test_other_losses_data_and_times_are_as_the_rows_say() -> None:
    against = "relative difference of the flip, {} against {}, m = d^{}"
    few, many = (finding_of("VYS22/Exp.logistic", against.format("logistic", "exponential", a)) for a in ("0.5", "1"))
    assert f"differ by {100 * abs(few.value):.2f} % (m = √d) and {100 * abs(many.value):.1f} % (m = d)" in page()
    said = []
    for alpha in ("0.5", "1"):
        found = finding_of("VYS22/Exp.data", against.format("gaussian", "sphere", alpha))
        smaller = [-100 * number for number in (found.value, found.high, found.low) if number is not None]
        said.append("{:.0f} % [{:.0f}, {:.0f}]".format(*smaller))
    assert f"of Gaussian inputs are {said[0]} (m = √d) and {said[1]} (m = d) smaller" in page()
    said = []
    for d in (30, 300):
        longer = finding_of("KYS23/Exp.100k", f"mean change of the error from time 2000 to 10000, recipe, d = {d}")
        said.append(f"{longer.value:.4f} [{longer.low:.4f}, {longer.high:.4f}] (d = {d})".replace("-", "−"))
    assert f"five times as long changes the mean error by {said[0]} and {said[1]}" in page()


def test_a_judgement_is_read_from_the_line_of_its_own_figure() -> None:
    text = "![a](A-Fig1-laptop-2.svg)\n\n**Borne out** so.\n\n| B/Fig2 | **not borne out** | x |\n"
    assert said_of("A-Fig1", text) == "borne out"
    assert said_of("B-Fig2", text) == "not borne out"
    with pytest.raises(AssertionError, match="does not show"):
        said_of("C-Fig3", text)


def test_every_picture_has_letters_of_its_own_and_follows_light_and_dark_pages() -> None:
    pictures = [path.read_text(encoding="utf-8") for path in GALLERY.glob("*.svg")]
    assert pictures
    assert all("@font-face" in text and "prefers-color-scheme:dark" in text for text in pictures)
