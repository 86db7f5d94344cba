"""Attempts to fool the verdicts, on every theorem, proposition and corollary: none of them may end in "holds".

Each attack takes the example, on which the statement holds, and changes one thing so that what is claimed is no longer
shown: another network, other labels, another law, test points of nobody, another run. What is allowed is a refusal,
"not applicable", "undecided" or "vacuous"; and "holds" where the statement is about every network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from marginflow import InputError, sweeps, theory
from marginflow.data import Dataset, Sphere
from marginflow.networks import TwoLayer
from marginflow.theory import Instance, Statement

OWN = ("VYS22", "FVBS23", "KYS23", "FCB22")
KINDS = ("theorem", "proposition", "corollary")
MAIN = [
    statement
    for key in OWN
    for statement in theory.statements(key)
    if statement.kind in KINDS or "/Prop" in statement.id
]
Attack = Callable[[Instance], Instance | None]


def with_network(instance: Instance, network: TwoLayer) -> Instance:
    return replace(instance, network=network, multipliers=None)


def the_start_for_the_end(instance: Instance) -> Instance | None:
    """A random network instead of the one that is judged."""
    if instance.network is None or instance.run is not None:
        return None
    old = instance.network
    made = TwoLayer.initialise(old.width, old.dimension, seed=7)
    if old.b is None:
        made = TwoLayer(W=made.W, v=made.v)
    return with_network(instance, replace(made, outputs=old.outputs))


def the_opposite_network(instance: Instance) -> Instance | None:
    """N becomes -N: every sample is wrong."""
    if instance.network is None or instance.run is not None:
        return None
    return with_network(instance, replace(instance.network, v=-instance.network.v))


def a_dead_network(instance: Instance) -> Instance | None:
    """N = 0 everywhere."""
    if instance.network is None or instance.run is not None:
        return None
    return with_network(instance, replace(instance.network, v=0.0 * instance.network.v))


def turned_labels(instance: Instance) -> Instance | None:
    """Every label of the sample is turned; the network is the same."""
    if instance.data is None or instance.network is None:
        return None
    return replace(instance, data=Dataset(X=instance.data.X, y=-instance.data.y), multipliers=None)


def turned_test_labels(instance: Instance) -> Instance | None:
    """The fresh points come with the wrong labels."""
    if instance.test is None:
        return None
    return replace(instance, test=replace(instance.test, y=-instance.test.y))


def points_of_another_law(instance: Instance) -> Instance | None:
    """The fresh points are uniform on a sphere, whatever the law says."""
    if instance.test is None:
        return None
    drawn = Sphere(dimension=instance.test.dimension, labels="both").sample(instance.test.n_samples, seed=3)
    return replace(instance, test=drawn)


def another_law(instance: Instance) -> Instance | None:
    """The law is a sphere with random labels in the same dimension."""
    if instance.law is None or instance.data is None:
        return None
    return replace(instance, law=Sphere(dimension=instance.data.dimension, labels="both"))


def an_empty_record(instance: Instance) -> Instance | None:
    """The run kept its last record alone."""
    if instance.run is None:
        return None
    path = instance.run.trajectory
    fields = {name: value[-1:] for name, value in vars(path).items() if value is not None}
    return replace(instance, run=replace(instance.run, trajectory=replace(path, **fields)))


def a_run_of_another_network(instance: Instance) -> Instance | None:
    """The end of the run is not what the record says."""
    if instance.run is None or not isinstance(instance.run.network, TwoLayer):
        return None
    end = instance.run.network
    moved = replace(end, W=end.W + 0.5 * np.abs(end.W).max())
    return replace(instance, run=replace(instance.run, network=moved), network=None)


def another_start(instance: Instance) -> Instance | None:
    """The run began elsewhere."""
    if instance.run is None or instance.start is None:
        return None
    return replace(instance, start=replace(instance.start, W=-instance.start.W))


# Their claims are about every network (of a class): they hold of a wrong one too.
ABOUT_EVERY_NETWORK = ("KYS23/Prop4.5", "KYS23/Prop4.5-repaired", "FCB22/PropB.1")

ATTACKS: tuple[Attack, ...] = (
    the_start_for_the_end,
    the_opposite_network,
    a_dead_network,
    turned_labels,
    turned_test_labels,
    points_of_another_law,
    another_law,
    an_empty_record,
    a_run_of_another_network,
    another_start,
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("statement", MAIN, ids=lambda statement: statement.id)
def test_a_main_result_is_not_fooled(statement: Statement, attack: Attack) -> None:
    attacked = attack(statement.example())
    if attacked is None:
        return
    try:
        verdict = statement.judge_instance(attacked)
    except InputError:
        return
    changed = {
        name
        for name in ("network", "data", "law", "test", "run", "start")
        if getattr(attacked, name) is not getattr(statement.example(), name)
    }
    if changed <= set(verdict.unused) or not changed & set(statement.needs):
        return  # what was changed is named as not used, or the statement does not speak of it
    if statement.id in ABOUT_EVERY_NETWORK:
        assert not verdict.failed_claims, str(verdict)
        return
    assert verdict.outcome != "holds", str(verdict)
    assert verdict.outcome not in ("violated", "refuted"), f"a theorem is not violated by wrong inputs: {verdict}"


INPUTS = ("network", "data", "law", "test", "start")


@pytest.mark.parametrize("statement", MAIN, ids=lambda statement: statement.id)
def test_an_input_that_a_main_result_does_not_use_is_refused_or_named(statement: Statement) -> None:
    """Everything of another theorem is handed over as well: none of it is taken silently for what was judged."""
    other = theory.statement("FVBS23/Thm3.1").example()
    example = statement.example()
    spare = {"network": other.network, "data": other.data, "law": other.law, "test": other.test, "start": other.network}
    for name in INPUTS:
        if name in statement.needs or getattr(example, name) is not None:
            continue
        try:
            verdict = statement.judge_instance(replace(example, **{name: spare[name]}))
        except InputError:
            continue
        if name in verdict.unused:
            assert f"Not used: {', '.join(verdict.unused)}" in verdict.sentence
        else:  # it was looked at, and is of something else
            assert verdict.outcome != "holds", f"{name}: {verdict}"


NOTHING = {
    "VYS22/Thm4.1": {"d": 100, "m": 4, "p": 0},
    "VYS22/Cor4.1": {"d": 100, "m": 4, "p": 0},
    "FVBS23/Thm4.2": {"d": 600, "k": 2},
    "FVBS23/ThmD.1": {"d": 600, "k": 2},
    "KYS23/Thm3.1": {"m": 5, "p": 0.3},
    "KYS23/Thm3.2": {"m": 5, "p": 0.3},
    "FCB22/Thm3.1.2": {"n": 400, "d": 1200, "m": 100},
}


@pytest.mark.parametrize("id", NOTHING)
def test_where_the_map_says_that_a_theorem_says_nothing_the_verdict_does_not_hold(id: str) -> None:
    drawn = theory.map(id, {name: [number] for name, number in NOTHING[id].items()})
    assert drawn.cells[0].word == "says nothing"
    (cell,) = sweeps.observe(drawn).cells
    assert cell.outcomes[0] in ("vacuous", "not applicable"), cell
