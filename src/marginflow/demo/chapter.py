"""One picture of the demo before it is drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from marginflow.data import Dataset
from marginflow.networks import TwoLayer

Report = Callable[[float, str], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Chapter:
    """What one picture shows.

    Parameters
    ----------
    name : str
        "plane", "digits", "clusters" or "theorem".
    record : mapping of plain values
        Everything that is drawn and said.
    sentence : str
        The outcome, for the terminal.
    holds : bool
        Whether what should be exact is.
    interrupted : bool
        Whether the work was cut short; the record then holds the best that there was.
    networks, data : mappings
        What is worth keeping as files, by name.
    """

    name: str
    record: Mapping[str, object]
    sentence: str
    holds: bool
    interrupted: bool = False
    networks: Mapping[str, TwoLayer] = field(default_factory=dict)
    data: Mapping[str, Dataset] = field(default_factory=dict)
