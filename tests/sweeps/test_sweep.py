"""Specs: what they expand to, and one sentence with the path of whatever is wrong in them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from marginflow import InputError
from marginflow.sweeps import Sweep, find_task, task, tasks

pytestmark = pytest.mark.usefixtures("task_folder")

LIMIT = '[sweep]\ntask = "limit"\n[fixed]\nn_samples = 5\n'
HEAD = '[sweep]\ntask = "cheap"\n'


def test_cells_are_the_product_of_the_axes_with_seeds_varying_fastest() -> None:
    sweep = Sweep(task="cheap", grid={"a": [1, 2], "b": [0.5, 1]}, fixed={"kind": "other"}, seeds=[4, 7])
    found = [(cell.parameters["a"], cell.parameters["b"], cell.seed) for cell in sweep.cells]
    assert found == [(a, b, seed) for a in (1, 2) for b in (0.5, 1.0) for seed in (4, 7)]
    assert all(cell.parameters["kind"] == "other" for cell in sweep.cells)


def test_points_vary_together() -> None:
    sweep = Sweep(task="cheap", points=[{"a": 1, "kind": "plain"}, {"a": 5, "kind": "other"}], grid={"b": [1, 2]})
    found = [(cell.parameters["a"], cell.parameters["kind"], cell.parameters["b"]) for cell in sweep.cells]
    assert found == [(1, "plain", 1.0), (1, "plain", 2.0), (5, "other", 1.0), (5, "other", 2.0)]


def test_a_file_says_the_same_as_python(tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(HEAD + 'name = "both"\nseeds = 2\n[grid]\na = [1, 2]\n[fixed]\nb = 1\n[[points]]\nkind = "other"\n')
    read = Sweep.load(spec)
    typed = Sweep(task="cheap", name="both", seeds=2, grid={"a": [1, 2]}, fixed={"b": 1}, points=[{"kind": "other"}])
    assert [cell.key for cell in read.cells] == [cell.key for cell in typed.cells]
    assert read.name == "both"


def test_a_cell_is_the_same_whether_a_default_is_written_down_or_not() -> None:
    assert Sweep(task="cheap").cells[0].key == Sweep(task="cheap", fixed={"a": 1, "b": 0.5}).cells[0].key


def test_cells_differ_as_soon_as_anything_of_them_differs() -> None:
    sweep = Sweep(task="cheap", grid={"a": [1, 2], "b": [0.5, 1], "kind": ["plain", "other"]}, seeds=3)
    assert len({cell.key for cell in sweep.cells}) == 24
    assert Sweep(task="counts-threads").cells[0].key != Sweep(task="cheap").cells[0].key


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + '[grid]\na = [1, 2, "x"]', 'grid.a[2]: expected a whole number >= 1, got "x".'),
        (HEAD + "[grid]\na = [3, 0]", "grid.a[1]: expected a whole number >= 1, got 0."),
        (HEAD + "[grid]\na = [1.5]", "grid.a[0]: expected a whole number >= 1, got 1.5."),
        (HEAD + "[grid]\na = [true]", "grid.a[0]: expected a whole number >= 1, got true."),
        (HEAD + "[grid]\na = 3", "grid.a: expected a list of at least one value, got 3."),
        (HEAD + "[grid]\na = []", "grid.a: expected a list of at least one value, got []."),
        (HEAD + "[grid]\nb = [1, 1.0]", "grid.b[1]: 1.0 occurs twice."),
        (HEAD + "[grid]\nb = [nan]", "grid.b[0]: expected a number, got nan."),
        (HEAD + '[grid]\nkind = ["plane"]', 'grid.kind[0]: expected one of "other", "plain", got "plane".'),
        (HEAD + "[grid]\npuase = [1]", "grid.puase: the task 'cheap' has no such parameter; did you mean 'pause'?"),
        (HEAD + "[fixed]\nb = 'x'", 'fixed.b: expected a number, got "x".'),
        (HEAD + "[fixed]\na = 1\n[grid]\na = [1]", "fixed.a: is an axis of the grid too; leave one of them out."),
        (HEAD + "[[points]]\na = 0", "points[0].a: expected a whole number >= 1, got 0."),
        (HEAD + "[[points]]\na = 1\n[[points]]\na = 1", "points: the cell a=1, b=0.5, kind=plain, pause=0.0, seed=0 o"),
        (HEAD + "[fixed]\na = 1\n[[points]]\na = 1", "points[0].a: is given under [fixed] too; leave one of them out."),
        (HEAD + "points = 3", "sweep.points: there is no such field; known are 'name', 'task', 'seeds', 'time_limit'."),
        (HEAD + "[girds]\na = [1]", "girds: there is no such field; did you mean 'grid'?"),
        (HEAD + "seed = 3", "sweep.seed: there is no such field; did you mean 'seeds'?"),
        (HEAD + "seeds = [0, -1]", "sweep.seeds[1]: expected a whole number >= 0, got -1."),
        (HEAD + "seeds = 0", "sweep.seeds: expected a whole number >= 1, got 0."),
        (HEAD + "seeds = [2, 2]", "sweep.seeds[1]: 2 occurs twice."),
        (HEAD + 'seeds = "3"', 'sweep.seeds: expected a whole number >= 1 or a list of seeds, got "3".'),
        ('[sweep]\ntask = "cheep"', "There is no task 'cheep'; did you mean 'cheap'?"),
        ("[sweep]\ntask = 3", "sweep.task: expected a text in quotes, got 3."),
        ("[grid]\na = [1]", "sweep.task: expected the name of a task, but there is none."),
        ('[sweep]\ntask = "no_such_module:x"', "The task 'no_such_module:x' cannot be found: No module named"),
        ("[sweep\n", "This is not TOML:"),
        ('[sweep]\ntask = "limit"\n[grid]\nwidth = [10]', "fixed.n_samples: the task 'limit' needs this parameter"),
        ('[sweep]\ntask = "limit"\n[fixed]\nn_samples = 5', "the law 'sphere' needs dimension, which is not"),
        (LIMIT + 'law = "interval"\ndimension = 2', "the law 'interval' has no dimension."),
        (LIMIT + "dimension = 4\nn_clusters = 2", "the law 'sphere' has no n_clusters."),
        (LIMIT + 'law = "clusters"\ndimension = 4', "the law 'clusters' needs n_clusters, which is not given."),
        (LIMIT + 'law = "sfere"\ndimension = 4', "There is no law 'sfere'; did you mean 'sphere'?"),
        (LIMIT + 'law = "gram"\ndimension = 4', "There is no law 'gram'"),
        (LIMIT.replace("limit", "overfitting") + 'law = "xor"\ndimension = 4', "'xor' has no constant target"),
    ],
)
def test_a_typo_is_one_sentence_with_the_path_of_the_field(text: str, sentence: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(text)
    with pytest.raises(InputError) as caught:
        Sweep.load(spec)
    message = str(caught.value)
    assert message.startswith(f"{spec}: ")
    assert sentence in message
    assert "\n" not in message


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file .*spec\.toml"):
        Sweep.load(tmp_path / "spec.toml")


def test_a_task_is_found_by_module_and_name_and_two_tasks_cannot_share_a_name() -> None:
    assert find_task("cheap_tasks:cheap") is find_task("cheap") is tasks()["cheap"]
    with pytest.raises(InputError, match="There is a task named 'cheap' in cheap_tasks already"):
        task("cheap", parameters=find_task("cheap").parameters)(lambda parameters, seed: {})


def test_a_task_needs_a_struct_of_parameters() -> None:
    def untyped(parameters: dict[str, int], seed: int) -> dict[str, int]:
        return {}

    with pytest.raises(InputError, match=r"a subclass of msgspec\.Struct is expected"):
        task("untyped")(untyped)


def test_a_public_name_is_not_hidden_by_a_module_that_is_imported_later() -> None:
    import marginflow.sweeps
    import marginflow.sweeps.built_in

    assert all(not isinstance(getattr(marginflow.sweeps, name), ModuleType) for name in marginflow.sweeps.__all__)
