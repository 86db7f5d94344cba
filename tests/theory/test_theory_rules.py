"""Rules of the room: statements never train, the template works when filled in, instances name what they lack."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path, PurePosixPath

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


COLLECTIVE = {
    "definition": ("definitions",),
    "assumption": ("assumptions", "definitions"),
    "remark": ("remarks",),
    "probe": ("open_questions",),
}
"""Files and folders that hold statements of one kind; what begins with X. may stand in `derived`."""
WORDS = {"theorem": "thm", "corollary": "cor", "section": "sec", "proofof": ""}


def squashed(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def beginnings(name: str) -> set[str]:
    """What a name and its beginnings are called: Lem3.1b is lem31b, lem31 and lem3."""
    parts = re.findall(r"[A-Za-z]*\d+|[A-Za-z]+", name)
    return {squashed("".join(parts[: end + 1])) for end in range(len(parts))}


def names_of(statement: Statement) -> set[str]:
    """How its id and its number call it, beginnings included."""
    phrases = (re.sub(r"proof of|[a-z]+", of_word, phrase) for phrase in statement.number.lower().split(","))
    return beginnings(statement.id.partition("/")[2]).union(*map(beginnings, phrases))


def of_word(found: re.Match[str]) -> str:
    return WORDS.get(squashed(found[0]), found[0])


def names_in(path: PurePosixPath) -> set[str]:
    """The statements that a path in the room of a paper names: lem_a1_a4 means Lemmas A.1, A.2, A.3 and A.4."""
    folder, stem = squashed(str(path.parent)), path.name
    names = {folder if stem == "theorem" else squashed(stem), folder + squashed(stem)}
    several = re.fullmatch(r"(\w*?)(\w+?)(\d+)(?:_\2\d+)*_\2(\d+)", stem)
    if several is not None:
        kind, unit, first, last = several.groups()
        names |= {squashed(f"{kind}{unit}{number}") for number in range(int(first), int(last) + 1)}
    return names


def is_found_by_guessing(statement: Statement, file: str) -> bool:
    """Whether the path is what the id or the number says, or the collective one of the kind."""
    path = PurePosixPath(*PurePosixPath(file).with_suffix("").parts[3:])
    collective = COLLECTIVE.get(statement.kind, ())
    if statement.id.partition("/")[2].startswith("X."):
        collective = (*collective, "derived")
    return bool(names_of(statement) & names_in(path)) or any(part.startswith(collective) for part in path.parts)


def test_the_file_of_every_statement_is_found_by_guessing() -> None:
    own = [known for known in marginflow.theory.statements() if known.paper.room.startswith("marginflow.")]
    assert len(own) > 200
    for known in own:
        assert Path(known.file).parts[2] == known.paper.key.lower(), known.id
    assert {known.id: known.file for known in own if not is_found_by_guessing(known, known.file)} == {}


@pytest.mark.parametrize(
    ("id", "misplaced"),
    [
        ("VYS22/LemC.4", "vys22/thm_4_1/lem_c7_c8.py"),
        ("FVBS23/Thm2.1+3.1", "fvbs23/end_to_end.py"),
        ("FVBS23/Thm3.1", "fvbs23/thm_3_1/thm_a1.py"),
        ("FVBS23/LemA.4", "fvbs23/thm_3_1/lem_a5_a7.py"),
        ("FVBS23/P1", "fvbs23/thm_3_1/prop_a1.py"),
        ("FVBS23/Rem-Best", "fvbs23/def_4_1.py"),
        ("KYS23/A1.Flip", "kys23/thm_3_1/upper.py"),
        ("KYS23/X.A5", "kys23/thm_3_2/prop_a5.py"),
        ("FCB22/A.ledger", "fcb22/ledger.py"),
        ("FCB22/Thm3.1.1", "fcb22/thm_3_1/part_2.py"),
    ],
)
def test_a_misplaced_statement_is_noticed(id: str, misplaced: str) -> None:
    assert not is_found_by_guessing(marginflow.theory.statement(id), f"marginflow/theory/{misplaced}")


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
