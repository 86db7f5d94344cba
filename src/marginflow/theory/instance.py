"""What a statement is checked on: a network, data, their law, a test draw, a recorded run, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, real_number
from marginflow.certificates import Certificate, certify
from marginflow.data import AbstractDistribution, Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

if TYPE_CHECKING:
    from marginflow.flow import Run

Word = TypeVar("Word", bound=str)
Thing = TypeVar("Thing")
INPUTS: Final = ("network", "networks", "multipliers", "data", "law", "test", "run", "start")
"""What an instance may hold beside numbers."""
MANY_SAMPLES: Final = 5000
"""Beyond this, candidate multipliers that prove a KKT point are not compared with the best ones, which takes long."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """Everything that a statement may ask for; it names what is missing.

    Parameters
    ----------
    name : str
        What it is, for readers.
    network : TwoLayer or None
        Judged as it is: whatever needs margin 1 rescales it (`certificate.network`).
    data : Dataset or None
        The training sample.
    multipliers : (lambda (n,), mu (n, k)) or None
        Candidates at margin 1; they are checked, never trusted, and replaced where better ones exist.
    networks : tuple of TwoLayer
        Further networks on the same data, for statements that compare.
    law : AbstractDistribution or None
        The distribution that a probability statement is about.
    test : Dataset or None
        Fresh points, in the coordinates of `data`.
    run : Run or None
        A recorded training run; statements never train.
    start : TwoLayer or None
        Where training started.
    parameters : mapping
        Named numbers and words; each statement says which it knows.
    seed : int
        Of any Monte Carlo that a statement does.
    extras : mapping
        Inputs that a paper of somebody else's adds (`Paper.needs`), by name.
    """

    name: str = ""
    network: TwoLayer | None = None
    data: Dataset | None = None
    multipliers: tuple[ArrayLike, ArrayLike] | None = None
    networks: tuple[TwoLayer, ...] = ()
    law: AbstractDistribution | None = None
    test: Dataset | None = None
    run: Run | None = None
    start: TwoLayer | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    extras: Mapping[str, object] = field(default_factory=dict)
    _looked_at: set[str] = field(default_factory=set, init=False, repr=False)

    def __getattribute__(self, name: str) -> Any:
        if name in INPUTS:
            object.__getattribute__(self, "_looked_at").add(name)
        elif name == "certificate":
            object.__getattribute__(self, "_looked_at").update(("network", "data", "multipliers"))
        return object.__getattribute__(self, name)

    def given(self) -> tuple[str, ...]:
        """The names of the inputs that are there."""
        held = ((name, object.__getattribute__(self, name)) for name in INPUTS)
        return (*(name for name, thing in held if thing is not None and thing != ()), *self.extras)

    def forget_looks(self) -> None:
        """From now on `unused` counts what is looked at."""
        self._looked_at.clear()

    def unused(self) -> tuple[str, ...]:
        """Inputs that are there and that nobody has looked at since `forget_looks`."""
        return tuple(name for name in self.given() if name not in self._looked_at)

    def the_network(self) -> TwoLayer:
        """The network, or an `InputError`."""
        return _given(self.network, "A network is needed and none was given.")

    def the_data(self) -> Dataset:
        """The data, or an `InputError`."""
        return _given(self.data, "Data are needed and none were given.")

    def the_law(self) -> AbstractDistribution:
        """The distribution, or an `InputError`."""
        return _given(self.law, "A law (a distribution of marginflow.data) is needed and none was given.")

    def the_test(self) -> Dataset:
        """The test points, or an `InputError`."""
        return _given(self.test, "Test points are needed and none were given.")

    def the_run(self) -> Run:
        """The recorded run, or an `InputError`."""
        return _given(self.run, "A recorded run (of marginflow.train) is needed and none was given.")

    def the_start(self) -> TwoLayer:
        """Where training started, or an `InputError`."""
        return _given(self.start, "The network at the start of training is needed and none was given.")

    def extra(self, name: str) -> Any:
        """An input that the paper adds, or an `InputError`."""
        if name not in self.extras:
            raise InputError(f"{name} is needed and was not given.")
        self._looked_at.add(name)
        return self.extras[name]

    def number(self, name: str, default: float | None = None, **limits: float) -> float:
        """A parameter as a number, finite and within limits where some are given: above, at_least, at_most, below."""
        given = self.parameters.get(name, default)
        if given is None:
            raise InputError(f"The parameter {name} is needed and was not given.")
        if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
            raise InputError(f"The parameter {name} is {given!r}; a number is expected.")
        return real_number(f"The parameter {name}", given, **limits) if limits else float(given)

    def whole(self, name: str, default: int | None = None, **limits: float) -> int:
        """A parameter as a whole number, within limits as for `number`."""
        number = self.number(name, default, **limits)
        if not number.is_integer():
            raise InputError(f"The parameter {name} is {number:g}; a whole number is expected.")
        return int(number)

    def word(self, name: str, default: Word, choices: tuple[Word, ...]) -> Word:
        """A parameter as one of the given words."""
        given = self.parameters.get(name, default)
        for choice in choices:
            if choice == given:
                return choice
        raise InputError(f"The parameter {name} is {given!r}; one of {choices} is expected.")

    @cached_property
    def certificate(self) -> Certificate:
        """The KKT certificate of the network on the data, computed once; its network is at margin 1."""
        network, data = self.the_network(), self.the_data()
        if self.multipliers is not None and data.n_samples > MANY_SAMPLES:
            judged = certify(network, data, multipliers=self.multipliers, as_given=True)
            if judged.holds():
                return judged
        return certify(network, data, multipliers=self.multipliers)

    def certified(self, certificate: Certificate) -> Instance:
        """The same instance with the certificate that `certify` has made of its network on its data already."""
        of_data = certificate.multipliers.shape == self.the_data().y.shape
        if not of_data or not _same_but_for_scale(self.the_network(), certificate.network):
            raise InputError("The certificate belongs to another network, or to other data, than the instance.")
        carrying = replace(self)
        vars(carrying)["certificate"] = certificate
        return carrying

    def only(self, *inputs: str, **changes: Any) -> Instance:
        """An instance of these inputs of this one alone, and of what is given beside them."""
        return Instance(**{name: getattr(self, name) for name in inputs}, **changes)

    def but(self, **inputs: Any) -> Instance:
        """The same instance with some inputs changed; its certificate, if it is known already and still its own."""
        changed = replace(self, **inputs)
        if not {"network", "data", "multipliers"} & set(inputs) and "certificate" in vars(self):
            vars(changed)["certificate"] = vars(self)["certificate"]
        return changed

    def __repr__(self) -> str:
        given = [str(item) for item in (self.network, self.data, self.law, self.run) if item is not None]
        return f"Instance({self.name or 'unnamed'}: {', '.join(given) or dict(self.parameters)})"


def _same_but_for_scale(network: TwoLayer, other: TwoLayer) -> bool:
    """Whether the trained parameters of one are a positive multiple of those of the other; frozen outputs are equal."""
    if network.augmented.shape != other.augmented.shape or network.outputs != other.outputs:
        return False
    frozen = network.outputs == "frozen"
    rows, others = (np.append(net.augmented, [] if frozen else net.v) for net in (network, other))
    if frozen and not np.array_equal(network.v, other.v):
        return False
    return bool(np.allclose(_unit(rows), _unit(others), rtol=0.0, atol=1e-9))


def _unit(parameters: FloatArray) -> FloatArray:
    """The vector at length 1; zero stays zero, and numbers of every size have a length."""
    largest = np.abs(parameters).max(initial=0.0)
    scaled: FloatArray = parameters / (largest or 1.0)
    return scaled / (np.linalg.norm(scaled) or 1.0)


def _given(thing: Thing | None, otherwise: str) -> Thing:
    """What is there; an `InputError` with this sentence where nothing is."""
    if thing is None:
        raise InputError(otherwise)
    return thing
