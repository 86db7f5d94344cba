"""What a statement needs and was not given, where what was given knows it: ends of a run, a law, fresh points of it."""

from dataclasses import replace
from typing import Any, Final

from marginflow.data import distribution_of
from marginflow.networks import TwoLayer
from marginflow.theory.instance import Instance
from marginflow.theory.statement import Statement

FRESH_POINTS: Final = 300


def completed(statement: Statement, given: Instance) -> Instance:
    """The instance with what the statement asks for besides, as far as it follows from what is there."""
    return _with_law(statement, _with_ends(statement, given))


def _with_ends(statement: Statement, given: Instance) -> Instance:
    """Where a run begins and ends, where the statement asks for these networks and no other was given."""
    if given.run is None:
        return given
    way = given.run.trajectory.networks
    ends = {"network": given.run.network, "start": None if way is None else way[0]}
    missing: dict[str, Any] = {
        name: end
        for name, end in ends.items()
        if name in statement.needs and getattr(given, name) is None and isinstance(end, TwoLayer)
    }
    return replace(given, **missing)


def _with_law(statement: Statement, given: Instance) -> Instance:
    """The law that the data come from, and fresh points of the law, where the statement asks and none was given."""
    data, law = given.data, given.law
    if law is None and {"law", "parameters", "run"} & set(statement.needs) and data is not None and data.origin:
        law = distribution_of(data.origin)
        given = replace(given, law=law)
    if "test" in statement.needs and given.test is None and law is not None and data is not None:
        name = f"{given.name}, {FRESH_POINTS} fresh points (seed {given.seed})"
        given = replace(given, name=name, test=law.fresh(FRESH_POINTS, train=data, seed=given.seed))
    return given
