"""A statement of a paper that can be checked: what it says, what it needs, and an example and a control for it."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from marginflow.data import AbstractDistribution, Dataset
from marginflow.display import Brief, Displayed
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.atlas import Region
from marginflow.theory.bibliography import PAPERS, Paper
from marginflow.theory.errata import Erratum
from marginflow.theory.findings import Findings, UndefinedError
from marginflow.theory.instance import INPUTS, Instance
from marginflow.theory.outcomes import Outcome
from marginflow.theory.verdict import Verdict

if TYPE_CHECKING:
    from marginflow.flow import Run
    from marginflow.theory.hunting.family import AbstractFamily

Kind = str
"""One of `KINDS`, or a kind that the paper adds."""
Need = str
"""One of `NEEDS`, or an input that the paper adds."""
KINDS: Final = (
    "definition",
    "assumption",
    "example",
    "lemma",
    "proposition",
    "theorem",
    "corollary",
    "remark",
    "construction",
    "probe",
)
NEEDS: Final = (*INPUTS, "parameters")


@dataclass(frozen=True, kw_only=True)
class Forms(Brief):
    """A statement as printed, as its proof gives it, and as sharp as we know, where these differ.

    Parameters
    ----------
    printed, proved, sharp : str
        LaTeX; empty where there is nothing to add.
    remark : str
        What a reader should know beside the forms, in one or two sentences.
    errata : tuple of Erratum
        What is wrong in print, each with its severity; docs/findings.md is written from them.
    known : str
        What is known now and not in the paper, in a sentence.
    """

    printed: str = ""
    proved: str = ""
    sharp: str = ""
    remark: str = ""
    errata: tuple[Erratum, ...] = ()
    known: str = ""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Statement(Displayed):
    r"""One statement of a paper, executable.

    Parameters
    ----------
    id : str
        As in the catalogue, "VYS22/LemC.4".
    kind : str
        definition, assumption, example, lemma, proposition, theorem, corollary, remark, construction or probe, or a
        kind that the paper adds (`Paper.kinds`).
    number : str
        Where it stands in the paper, "Lemma C.4"; for what is derived here, what it builds on.
    meaning : str
        One line.
    formula : str
        LaTeX of what is checked.
    needs : tuple of str
        What `check` must be given: network, networks, multipliers, data, law, test, run, start, parameters, or an
        input that the paper adds (`Paper.needs`).
    judge : function of an Instance that returns Findings
        The mathematics; the one argument that may go without its name. `@stated(id=..., ...)` above a function makes a
        statement of it, so that the text stands before the code.
    example, control : functions without arguments that return an Instance
        One on which the statement applies and holds, and one on which it must not.
    control_shows : str
        What is wrong with the control, in a few words.
    control_outcome : str
        The outcome on the control; not "holds" or "measured".
    gap : function without arguments that returns an Instance, or None
        One on which no claim fails and a step of the printed proof does.
    parameters : dict of str to str
        The named numbers that `check` takes by keyword, and what they mean.
    forms : Forms or None
        Printed, proved and sharp forms where they differ.
    family : AbstractFamily or None
        Instances that `theory.hunt` searches; where none is named, `hunting.FAMILIES` is asked.
    region : Region or None
        How hypotheses and bounds depend on numbers alone, for `theory.map`.

    Examples
    --------
    >>> from marginflow import theory
    >>> lemma = theory.statement("VYS22/LemC.4")
    >>> lemma.judge_instance(lemma.example()).outcome
    'holds'
    """

    id: str
    kind: Kind
    number: str
    meaning: str
    formula: str
    needs: tuple[Need, ...]
    judge: Callable[[Instance], Findings] = field(kw_only=False)
    example: Callable[[], Instance]
    control: Callable[[], Instance]
    control_shows: str
    control_outcome: Outcome = "not applicable"
    gap: Callable[[], Instance] | None = None
    parameters: dict[str, str] | None = None
    forms: Forms | None = None
    family: AbstractFamily | None = None
    region: Region | None = None

    def __post_init__(self) -> None:
        key = self.id.partition("/")[0]
        if key not in PAPERS or "/" not in self.id:
            raise InputError(f"The id {self.id!r} does not begin with a paper and a slash; known are {sorted(PAPERS)}.")
        kinds, needs = (*KINDS, *PAPERS[key].kinds), (*NEEDS, *PAPERS[key].needs)
        if self.kind not in kinds:
            raise InputError(f"{self.id} has the kind {self.kind!r}; one of {kinds} is expected.")
        if not self.needs or not set(self.needs) <= set(needs):
            raise InputError(f"{self.id} needs {self.needs}; some of {needs} are expected.")
        if self.control_outcome in ("holds", "measured"):
            raise InputError(f"{self.id} has a control that {self.control_outcome}; a control must not.")
        for name in ("number", "meaning", "formula", "control_shows"):
            if not getattr(self, name):
                raise InputError(f"{self.id} has no {name}.")

    @property
    def paper(self) -> Paper:
        """The paper that the id names."""
        return PAPERS[self.id.partition("/")[0]]

    @property
    def source(self) -> str:
        """Where it stands, as everything here cites it: "[VYS22, Lemma C.4]"."""
        return f"[{self.paper.key}, {self.number}]"

    @property
    def file(self) -> str:
        """The file that says and judges it, as in "marginflow/theory/vys22/thm_4_1/lem_c4.py"."""
        path = Path(inspect.getsourcefile(inspect.unwrap(self.judge)) or "")
        return "/".join(path.parts[path.parts.index("marginflow") :]) if "marginflow" in path.parts else str(path)

    @property
    def is_probe(self) -> bool:
        """Whether this measures an open question instead of checking a claim."""
        return self.kind == "probe"

    def judge_instance(self, instance: Instance) -> Verdict:
        """The verdict on an instance; an `InputError` names what the instance lacks."""
        given = instance.given()
        for need in self.needs:
            if need != "parameters" and need not in given:
                raise InputError(f"{self.id} needs {' and '.join(self.needs)}; {need} was not given.")
        known = set(self.parameters or {})
        foreign = sorted(set(instance.parameters) - known)
        if foreign:
            wanted = f"it knows {sorted(known)}" if known else "it has none"
            raise InputError(f"{self.id} has no parameter {foreign[0]!r}; {wanted}.")
        _check_run(instance, whole=self.kind not in ("definition", "assumption", "remark"))  # asked of parts, too
        instance.forget_looks()
        try:
            found = self.judge(instance)
        except UndefinedError as early:
            found = early.findings
        return Verdict(id=self.id, findings=found, kind=self.kind, instance=instance.name, unused=instance.unused())

    def check(
        self,
        network: TwoLayer | None = None,
        data: Dataset | None = None,
        *,
        multipliers: tuple[ArrayLike, ArrayLike] | None = None,
        networks: tuple[TwoLayer, ...] = (),
        law: AbstractDistribution | None = None,
        test: Dataset | None = None,
        run: Run | None = None,
        start: TwoLayer | None = None,
        extras: Mapping[str, object] | None = None,
        seed: int = 0,
        **parameters: object,
    ) -> Verdict:
        """The verdict on a network, data and whatever else the statement `needs`.

        Parameters
        ----------
        network : TwoLayer or None
        data : Dataset or None
        multipliers, networks, law, test, run, start, extras, seed
            See `Instance`.
        **parameters
            Those that the statement lists under `parameters`.
        """
        return self.judge_instance(
            Instance(
                network=network,
                data=data,
                multipliers=multipliers,
                networks=networks,
                law=law,
                test=test,
                run=run,
                start=start,
                extras=extras or {},
                parameters=parameters,
                seed=seed,
            )
        )

    def announces(self, outcome: Outcome) -> bool:
        """Whether the control may end so: as announced, or "violated" where "refuted" lacks its ball arithmetic."""
        unproved = outcome == "violated" and importlib.util.find_spec("flint") is None
        return outcome == self.control_outcome or (self.control_outcome == "refuted" and unproved)

    def __repr__(self) -> str:
        return f"Statement({self.id}, {self.kind}: {self.meaning})"


def _check_run(instance: Instance, *, whole: bool) -> None:
    """What comes with a run must belong to it: the network at its end; of a whole one also the start and the data.

    Its last record says what the least margin was on the data that it was made on.
    """
    run, network, start, data = instance.run, instance.network, instance.start, instance.data
    if run is None:
        return
    if network is not None and not _same(network, run.network):
        raise InputError("The network is not the end of the run that it was given with; leave one of the two out.")
    if not whole:
        return
    recorded = run.trajectory.networks
    if start is not None and recorded is not None and not _same(start, recorded[0]):
        raise InputError("The start is not where the record of the run begins; leave it out, or give the whole record.")
    if data is None:
        return
    if run.network.dimension != data.dimension:
        raise InputError(f"The run is in dimension {run.network.dimension}, but the data have {data.dimension}.")
    margins = data.y * run.network(data.X)
    found, least = float(margins.min()), float(run.trajectory.least_margin[-1])
    if not np.isclose(found, least, rtol=1e-6, atol=1e-9 * float(np.abs(margins).max())):
        raise InputError(
            f"The run was not made on these data: its least margin is {found:.6g} there, {least:.6g} in its record."
        )


def _same(network: TwoLayer, other: object) -> bool:
    if not isinstance(other, TwoLayer) or other.augmented.shape != network.augmented.shape:
        return False
    weights = np.allclose(other.augmented, network.augmented, rtol=1e-9, atol=0.0)
    return weights and np.allclose(other.v, network.v, rtol=1e-9, atol=0.0)
