"""A package for a paper of one's own, written from a template: one statement with its example, control and tests."""

import re
from pathlib import Path
from typing import Final

from marginflow.errors import InputError
from marginflow.storage import write_text
from marginflow.theory.bibliography import PAPERS

_PROJECT: Final = """[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "PACKAGE"
version = "0.1.0"
description = "The statements of KEY, executable with marginflow"
requires-python = ">=3.11"
dependencies = ["marginflow"]

[project.entry-points."marginflow.papers"]
KEY = "PACKAGE:PAPER"
"""

_PAPER: Final = '''"""The statements of KEY, executable: `marginflow statements --paper KEY`."""

from marginflow.theory import PAPERS, Paper

PAPER = Paper(
    key="KEY",
    title="TITLE of the paper",
    authors="A. Author, B. Author",
    year=2026,
    kind="article",
    venue="Journal",
    room="PACKAGE",
    # kinds=("conjecture",)                    kinds of statements beside theorem, lemma, ...
    # needs={"graph": "a graph on the samples"}  inputs beside network, data, ...: Instance(extras={"graph": ...})
    # proofs={"KEY/Thm1": ("KEY/Lem1",)}       what a proof uses, for the dependency graph
)
PAPERS.add(PAPER)  # for whoever imports this without installing it
'''

_STATEMENT: Final = '''r"""[KEY, Lemma 1]: replace this by what the paper says."""

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, at_least, at_most, stated, undefined, unmet, value


def _orthogonal() -> Instance:
    """Two orthogonal samples, one neuron each."""
    network = TwoLayer(W=np.eye(2), v=np.array([1.0, -1.0]))
    return Instance(name="one neuron for each of two samples", network=network, data=Dataset(X=np.eye(2), y=[1, -1]))


def _parallel() -> Instance:
    """Two samples at a small angle: each wakes the neuron of the other, and one margin is lost."""
    network = TwoLayer(W=np.eye(2), v=np.array([1.0, -1.0]))
    data = Dataset(X=np.array([[1.0, 0.0], [1.0, 0.1]]), y=[1, -1])
    return Instance(name="two samples at a small angle", network=network, data=data)


@stated(
    id="KEY/Lem1",
    meaning="A network with one neuron for each of some orthonormal samples has margin 1 on all of them.",
    formula=r"x_i \\cdot x_j = 0, \\ w_i = x_i, \\ v_i = y_i \\implies y_i N(x_i) = 1",
    needs=("network", "data"),
    example=_orthogonal,
    control=_parallel,
    control_shows="the samples are not orthogonal, and a margin is negative",
)
def lemma_1(instance: Instance) -> Findings:
    """Inner products of the samples, then the margins."""
    network, data = instance.the_network(), instance.the_data()
    gram = data.X @ data.X.T
    hypotheses = (at_most("largest |<x_i, x_j>|", np.abs(gram - np.diag(np.diag(gram))).max(), 0.0),)
    margins = network.margins(data.X, data.y)
    if unmet(hypotheses) and margins.size == 0:
        return undefined(hypotheses, "there are no samples")
    return Findings(
        value("samples", data.n_samples),
        hypotheses=hypotheses,
        claims=(at_least("y_i N(x_i)", margins, 1.0),),
    )
'''

_TESTS: Final = '''"""The statements of KEY pass the rules that those of marginflow pass."""

import pytest

import PACKAGE
from marginflow.theory import conformance


@pytest.mark.parametrize(("rule", "statement"), conformance.cases(PACKAGE.PAPER.key), ids=conformance.name_of)
def test_conformance(rule, statement):
    rule(statement)
'''

_README: Final = """# The statements of KEY

    pip install -e .
    marginflow statements --paper KEY
    marginflow check KEY/Lem1
    marginflow check KEY/Lem1 --control
    pytest

`PACKAGE/__init__.py` describes the paper. Every module-level `Statement` in the package counts; a `FIGURE` in a module
of its own joins `marginflow figure`.
"""


def package_of(key: str) -> str:
    """The name of the package for a key."""
    return f"marginflow_{key.lower()}"


def files_of(key: str) -> dict[str, str]:
    """The files of a new package, by path; an `InputError` where the key is taken or cannot be one.

    Examples
    --------
    >>> from marginflow.theory.new_paper import files_of
    >>> list(files_of("ABC26"))[:2]
    ['pyproject.toml', 'README.md']
    """
    if not re.fullmatch(r"[A-Z][A-Z0-9]*", key):
        raise InputError(f"The key is {key!r}; capital letters and digits are expected, such as ABC26.")
    if key in PAPERS:
        raise InputError(f"There is a paper {key} already: {PAPERS[key]}")
    package = package_of(key)
    texts = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"{package}/__init__.py": _PAPER,
        f"{package}/lem_1.py": _STATEMENT,
        "tests/test_conformance.py": _TESTS,
    }
    return {path: text.replace("PACKAGE", package).replace("KEY", key) for path, text in texts.items()}


def write_package(key: str, folder: str | Path) -> tuple[Path, ...]:
    """Write a new package into a folder that does not exist or is empty; the paths of its files.

    Parameters
    ----------
    key : str
        Of the paper, capital letters and digits.
    folder : str or Path
    """
    root = Path(folder)
    files = files_of(key)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InputError(f"{root} exists and is not an empty folder; nothing was written.")
    for path in {(root / name).parent for name in files}:
        path.mkdir(parents=True, exist_ok=True)
    return tuple(write_text(root / name, text) for name, text in files.items())
