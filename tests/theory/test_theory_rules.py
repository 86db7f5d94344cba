"""Rules of the room: statements never train, the template works when filled in, instances name what they lack."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import marginflow.theory
from marginflow import InputError
from marginflow.data import Dataset, Sphere
from marginflow.networks import TwoLayer
from marginflow.theory import Instance, Statement, conformance

ROOM = Path(marginflow.theory.__file__).parent
REPOSITORY = Path(__file__).parents[2]


def called_names(path: Path) -> set[str]:
    """Names that are imported from `marginflow.flow` in a file, whatever they are renamed to."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("marginflow.flow"):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            names |= {"train" for alias in node.names if alias.name.startswith("marginflow.flow")}
    return names


def test_only_the_recorded_runs_train() -> None:
    training = {"train", "angle_flow", "GradientFlow", "Descent", "recipes"}
    trains = {path.name for path in ROOM.rglob("*.py") if called_names(path) & training}
    assert trains == {"recorded.py"}


def test_every_statement_of_the_four_papers_stands_above_a_judge_that_says_what_it_computes() -> None:
    for statement in marginflow.theory.statements():
        if statement.paper.room.startswith("marginflow."):
            lines = inspect.getsource(inspect.unwrap(statement.judge)).splitlines()
            assert statement.judge.__doc__, statement.id
            assert lines[0].startswith("@"), statement.id
            assert any(f'id="{statement.id}"' in line for line in lines), statement.id


def test_the_template_is_a_statement_once_its_blanks_are_filled() -> None:
    text = (REPOSITORY / "docs" / "statement_template.py").read_text(encoding="utf-8")
    assert text.count("BLANK") > 10
    space: dict[str, object] = {"__name__": "filled"}
    exec(compile(text.replace("VYS22/BLANK", "VYS22/LemC.4"), "template", "exec"), space)
    made = space["BLANK_NAME"]
    assert isinstance(made, Statement)
    assert made.judge_instance(made.example()).outcome == "holds"
    assert made.judge_instance(made.control()).outcome == made.control_outcome
    conformance.control_breaks_a_claim(made)


def test_the_page_on_adding_a_statement_names_things_that_exist() -> None:
    page = (REPOSITORY / "docs" / "add_a_statement.md").read_text(encoding="utf-8")
    for path in ("src/marginflow/theory/catalogue.txt", "docs/statement_template.py"):
        assert (REPOSITORY / path).is_file()
        assert Path(path).name in page
    for outcome in marginflow.theory.verdict.OUTCOMES:
        assert f"| {outcome} |" in page


def test_instances_name_what_is_missing() -> None:
    empty = Instance()
    for ask in (empty.the_network, empty.the_data, empty.the_law, empty.the_test, empty.the_run, empty.the_start):
        with pytest.raises(InputError, match="needed"):
            ask()
    with pytest.raises(InputError, match="parameter d is needed"):
        empty.number("d")
    with pytest.raises(InputError, match="a number is expected"):
        Instance(parameters={"d": "three"}).number("d")
    with pytest.raises(InputError, match="whole number"):
        Instance(parameters={"d": 2.5}).whole("d")
    with pytest.raises(InputError, match="one of"):
        Instance(parameters={"loss": "hinge"}).word("loss", "logistic", ("logistic", "exponential"))


def test_the_certificate_of_an_instance_is_computed_once() -> None:
    data = Dataset(X=np.eye(2), y=[1, -1])
    instance = Instance(network=TwoLayer(W=np.eye(2), v=[1.0, -1.0]), data=data)
    assert instance.certificate is instance.certificate


def statement(**fields: object) -> Statement:
    base: dict[str, object] = {
        "id": "VYS22/LemC.4",
        "kind": "lemma",
        "number": "Lemma",
        "meaning": "Something.",
        "formula": "x",
        "needs": ("data",),
        "judge": lambda instance: marginflow.theory.Findings(),
        "example": Instance,
        "control": Instance,
        "control_shows": "nothing",
    }
    return Statement(**(base | fields))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"id": "LemC.4"}, "does not begin with a paper"),
        ({"id": "ABC99/x"}, "does not begin with a paper"),
        ({"kind": "axiom"}, "has the kind 'axiom'"),
        ({"needs": ()}, "needs"),
        ({"needs": ("luck",)}, "needs"),
        ({"control_outcome": "holds"}, "a control must not"),
        ({"meaning": ""}, "has no meaning"),
        ({"control_shows": ""}, "has no control_shows"),
    ],
)
def test_a_statement_that_says_too_little_is_refused(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        statement(**fields)


def test_a_statement_without_conclusions_is_refused_when_judged() -> None:
    with pytest.raises(InputError, match="no claim"):
        statement().check(data=Sphere(dimension=3, labels="both").sample(4))
