r"""`kkt_point_of_classes`: from data with K classes to a certified KKT point of their max-margin problem.

.. math:: \min \tfrac12 \|\theta\|^2 \quad \text{s.t.} \quad f_{y_i}(x_i) - f_t(x_i) \ge 1, \; t \ne y_i

The way: an augmented Lagrangian with rounded kinks (`homotopy`), Newton's method on the structure that shows itself
(`newton`), the certificate of `certify_classifier`, which knows neither; another random network where that fails.
"""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import real_number, whole_number
from marginflow.certificates import DEFAULT_TOLERANCE, certify_classifier
from marginflow.certificates.classes import ClassifierKKT
from marginflow.data import Dataset
from marginflow.display import Plotted
from marginflow.errors import InputError
from marginflow.limit.assemble import stopped_early
from marginflow.limit.budget import Budget, Progress, Stop
from marginflow.limit.classes.homotopy import Stage, stages
from marginflow.limit.classes.newton import read_structure, settle
from marginflow.limit.classes.problem import ClassesProblem, ClassesSolution, Weights
from marginflow.limit.classes.settings import ATTEMPTS, NEAR, READ_FROM, SCALE
from marginflow.networks import Classifier
from marginflow.networks.evaluation import augmented_samples
from marginflow.plain import Plain


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassesLimit(Plotted, Plain):
    """A KKT point of the multi-class max-margin problem, with the evidence.

    Attributes
    ----------
    network : Classifier
        At margin 1, parallel neurons merged; without output biases. Logit t belongs to `data.classes[t]`.
    certificate : ClassifierKKT
        From the certificates room, which knows no solver.
    exact : bool
        Whether the certificate holds at the tolerance.
    status : str
        A sentence.
    attempts : int
        Random networks that were begun from.
    history : tuple of Progress
        One entry for every stage of the homotopy: `gap` is how far the margins are violated, relative to 1.
    stopped_by : "interrupt", "time limit" or None
        What ended the work before it was done; None if nothing did.
    seconds : float
    """

    plain_names = (
        *("status", "exact", "stopped_by", "network.width", "network.n_classes"),
        *("attempts", "seconds", "history", "certificate"),
    )

    network: Classifier
    certificate: ClassifierKKT
    exact: bool
    status: str
    attempts: int
    history: tuple[Progress, ...]
    seconds: float
    stopped_by: Stop | None = None

    @property
    def compact(self) -> Classifier:
        """The network itself: its neurons are different from each other."""
        return self.network

    def describe(self, tolerance: float = DEFAULT_TOLERANCE) -> str:
        """The point in a few lines, its certificate judged at `tolerance`."""
        begun = "one random network" if self.attempts == 1 else f"{self.attempts} random networks"
        work = f"  {self.network.width} neurons, {self.seconds:.2f} s from {begun}"
        return "\n".join([self.status, self.certificate.summary(tolerance), work])

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        kind = "KKT point" if self.certificate.holds() else "not a KKT point"
        return (
            f"ClassesLimit({kind}, residual {self.certificate.residual:.1e}, {self.network.n_classes} classes, "
            f"{self.network.width} different neurons, {int((self.certificate.multipliers > 0).any(axis=1).sum())} of "
            f"{len(self.certificate.margins)} samples with a multiplier, {self.seconds:.2g} s)"
        )


def kkt_point_of_classes(
    data: Dataset,
    *,
    width: int = 100,
    seed: int = 0,
    bias: bool = True,
    tolerance: float = 1e-9,
    budget: Budget | None = None,
) -> ClassesLimit:
    """A certified KKT point of the max-margin problem with K classes, K >= 2.

    `marginflow.kkt_point` comes here for three classes and more. With two this is the binary problem, scaled.

    Parameters
    ----------
    data : Dataset
        No identical points of different classes.
    width : int
        Neurons of the random network at the start; far fewer remain.
    seed : int
    bias : bool
        Whether neurons have a bias.
    tolerance : float
        What the certificate must reach for the status to say "exact".
    budget : Budget, optional
        Once it is over, the best point so far is returned as not exact.

    Returns
    -------
    ClassesLimit

    Examples
    --------
    >>> import numpy as np
    >>> import marginflow as mf
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> data = mf.data.Dataset(X, np.arange(30) % 3)
    >>> mf.kkt_point(data, width=20).exact
    True
    """
    width, seed = whole_number("width", width, minimum=2), whole_number("seed", seed, minimum=0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    budget = Budget() if budget is None else budget
    own = ((data.y + 1.0) / 2.0 if len(data.classes) == 2 else data.y).astype(np.int64)
    data.require_no_contradiction()
    problem = ClassesProblem(augmented_samples(data.X, bias=bias), own, len(data.classes))
    search = _Search(problem, data, tolerance, budget, bias)
    attempts = 0
    with budget.interruptible():
        while attempts < ATTEMPTS and not search.exact and not (attempts and budget.over):
            start = Classifier.initialise(
                width, data.dimension, len(data.classes), scale=SCALE, bias=bias, seed=seed + attempts
            )
            attempts += 1
            search.attempt(Weights(start.augmented, start.V))
    return search.result(attempts)


class _Search:
    """The best point so far, and how it was looked for."""

    def __init__(self, problem: ClassesProblem, data: Dataset, tolerance: float, budget: Budget, bias: bool) -> None:
        self.problem, self.data, self.tolerance, self.budget, self.bias = problem, data, tolerance, budget, bias
        self.best: ClassifierKKT | None = None
        self.history: list[Progress] = []
        self.began: Weights | None = None

    @property
    def exact(self) -> bool:
        """Whether the best certificate holds at the tolerance."""
        return self.best is not None and self.best.residual <= self.tolerance

    def attempt(self, start: Weights) -> None:
        """One random network: homotopy, and Newton's method at every stage whose kinks are sharp enough."""
        self.began = start
        last: Stage | None = None
        for last in stages(self.problem, start, lambda: self.budget.over):
            self._report(last)
            if last.delta > READ_FROM:
                continue
            for multiple in NEAR:
                near = multiple * last.delta
                structure = read_structure(self.problem, last.weights, last.lam, delta=last.delta, near=near)
                found = settle(self.problem, structure, lambda: self.budget.over)
                if found is not None:
                    judged = self._judged(found)
                    if self.best is None or judged.residual < self.best.residual:
                        self.best = judged
                    if self.exact:
                        return
        if self.best is None and last is not None:
            slopes = read_structure(self.problem, last.weights, last.lam, delta=last.delta, near=last.delta)
            # Better multipliers are sought only in time; without them those of the rounded kinks are judged.
            self.best = self._judged(ClassesSolution(last.weights, last.lam, slopes.mu))

    def _judged(self, found: ClassesSolution, *, as_given: bool = False) -> ClassifierKKT:
        network = self.problem.network(found.weights, bias=self.bias)
        return certify_classifier(
            network,
            self.data.X,
            self.problem.own,
            multipliers=(found.lam, found.mu),
            as_given=as_given or self.budget.over,
        )

    def _report(self, stage: Stage) -> None:
        hidden = np.maximum(self.problem.T @ stage.weights.U.T, 0.0)
        short = max(0.0, 1.0 - float(self.problem.margins(hidden, stage.weights.V).min()))
        live, half = len(stage.weights.U), 0.5 * stage.weights.norm**2
        self.budget.report(self.history, "rounded kinks", len(self.history) + 1, 0, live, half, short)

    def result(self, attempts: int) -> ClassesLimit:
        """With a sentence on what was reached."""
        stopped = None if self.exact else self.budget.stopped_by
        if self.best is None and self.began is not None:
            # Before anything is found the network that the search began from is what there is.
            n = self.problem.own.size
            lam, mu = np.zeros((n, self.problem.n_classes)), np.zeros((n, len(self.began.U)))
            self.best = self._judged(ClassesSolution(self.began, lam, mu), as_given=True)
        if self.best is None:
            raise InputError("The work was ended before it began; allow more time (time_limit).")
        residual = self.best.residual
        if self.exact:
            status = f"Exact KKT point: residual {residual:.1e}."
        elif stopped is not None:
            status = stopped_early(stopped, self.best.stationarity)
        elif self.best.status == "does not separate":
            status = "Not separated: no network with positive margins was found; try a larger width."
        else:
            status = f"Not exact: the structure did not settle; residual {residual:.1e}. Try another seed or more time."
        return ClassesLimit(
            network=self.best.network,
            certificate=self.best,
            exact=self.exact,
            status=status,
            attempts=attempts,
            history=tuple(self.history),
            seconds=self.budget.seconds,
            stopped_by=stopped,
        )
