import importlib
import pkgutil
import re

import pytest

from marginflow import experiments, theory
from marginflow.errors import InputError
from marginflow.experiments import Figure, Grid, product
from marginflow.sweeps import Sweep

EVERY = experiments.figures()


def test_every_figure_of_the_catalogue_is_there():
    wanted = {name for name, entry in theory.catalogue().items() if entry == "figure"}
    assert wanted <= {figure.id for figure in EVERY}
    assert {figure.id for figure in EVERY if figure.published} == wanted


def module_guessed_from(id):
    """Where to look: VYS22/Fig1a in vys22/figure_1a.py, VYS22/FewSamples.ours in vys22/few_samples.py."""
    paper, _, name = id.removesuffix(".ours").partition("/")
    for short, long in ((r"^Fig", "figure"), (r"(?<=\d)L$", "_left"), (r"(?<=\d)R$", "_right"), (r"\.", "_")):
        name = re.sub(short, long, name)
    return f"{paper}.".lower() + re.sub(r"(?<=[a-z])(?=[A-Z\d])", "_", name).lower()


def test_every_figure_lives_in_a_module_of_its_own_whose_name_is_guessable():
    homes = {}
    for module in pkgutil.walk_packages(experiments.__path__, prefix="marginflow.experiments."):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, Figure):
                homes.setdefault(thing.id, []).append(module.name.removeprefix("marginflow.experiments."))
    assert homes == {figure.id: [module_guessed_from(figure.id)] for figure in EVERY}
    assert len({home for (home,) in homes.values()}) == len(EVERY)


def test_every_paper_has_a_figure_of_ours():
    ours = {figure.id.partition("/")[0] for figure in EVERY if not figure.published}
    assert ours == set(theory.PAPERS)


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.id)
def test_sizes_are_valid(figure: Figure):
    for size in experiments.SIZES:
        grid = figure.grid(size)
        assert len(Sweep(task=figure.cell, points=grid.cells, seeds=grid.seeds).cells) == len(grid.cells) * grid.seeds


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.id)
def test_claims_and_titles_are_sentences(figure: Figure):
    assert figure.claim[0].isupper() or not figure.claim[0].isalpha()
    assert figure.claim.endswith(".")
    assert figure.title[0].islower() or figure.title[0] == "‖"
    assert figure.deviations.endswith(".")


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(InputError, match=r"There is no figure 'VYS22/Fig1'; did you mean VYS22/Fig1"):
        experiments.figure("VYS22/Fig1")


def test_an_unknown_size_is_refused():
    with pytest.raises(InputError, match="size is 'huge'; one of smoke, laptop, paper is expected"):
        experiments.figure("KYS23/Fig3").run(size="huge")


def test_a_grid_without_seeds_is_refused():
    with pytest.raises(InputError, match="seeds"):
        Grid(cells=product(d=(1,)), seeds=0)


def test_a_grid_of_axes_has_every_combination_of_them() -> None:
    made = experiments.Grid.product(d=(10, 20), method=("recipe",), seeds=3)
    assert (made.cells, made.seeds) == (experiments.product(d=(10, 20), method=("recipe",)), 3)
    assert experiments.Grid.product(d=(10,)).seeds == 1
