"""A training plan, the loop that carries it out, and what comes back."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginflow.arrays import FloatArray, IntArray, one_of, whole_number
from marginflow.data.dataset import Dataset
from marginflow.errors import InputError
from marginflow.flow.engines import Engine, trainable
from marginflow.flow.parameters import ParameterVector
from marginflow.flow.schedule import AbstractSchedule
from marginflow.flow.stopping import AbstractState, AbstractStop
from marginflow.flow.trainable import AbstractTrainable, Network
from marginflow.flow.trajectory import Recorder, Recording, Trajectory
from marginflow.losses import AbstractLoss, as_power_of_ten
from marginflow.networks import MLP, TwoLayer

Method = Literal["euler", "heun"]

# A progress callback is called at every record and at most this often in between.
_SECONDS_BETWEEN_REPORTS = 0.2
_SMALLEST_DAMPING = 2.0**-60
# A loss-normalised run that has gained nothing between two records this far apart is stuck on a kink.
_STEPS_TO_JUDGE = 100


@dataclass(frozen=True, kw_only=True)
class Descent:
    """A training plan: what is minimised, by which steps, on which samples, until when.

    Parameters
    ----------
    loss : AbstractLoss
        What is minimised.
    schedule : AbstractSchedule
        How long the steps are.
    stop : sequence of AbstractStop
        The first rule that holds ends the run; at least one.
    batch : int or None
        Samples in a step; None, or n and more, for all. Batches are consecutive pieces of a fresh permutation in each
        epoch; the last one may be smaller.
    method : "euler" or "heun"
        Plain gradient steps, or second-order steps of d theta = -grad ln L (two gradients each) for gradient flow.
    """

    loss: AbstractLoss
    schedule: AbstractSchedule
    stop: Sequence[AbstractStop]
    batch: int | None = None
    method: Method = "euler"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", tuple(self.stop))
        if not self.stop:
            raise InputError("stop is empty; at least one rule must end the run.")
        if self.batch is not None:
            whole_number("batch", self.batch)
        one_of("method", self.method, ("euler", "heun"))


class AbstractRecipe(ABC):
    """A published way to train: gives a plan for a network and data, and refuses what the paper does not train."""

    @abstractmethod
    def plan(self, network: Network, n_samples: int) -> Descent:
        """The training plan, or an `InputError` if the network is not one that the recipe is about."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a progress callback receives. `share` guesses how much is done, -1 if unknown."""

    step: int
    epoch: int
    log_loss: float
    seconds: float
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Run:
    """The outcome of training.

    Parameters
    ----------
    network : TwoLayer or MLP
        The network at the end, in the dimension of the data.
    status : str
        Why training ended: the sentence of a stop rule, or "interrupted", "diverged" (the parameters overflowed; the
        network is the last finite one), "stalled" (the gradient is zero, or no step lowers the loss).
    steps, epochs : int
        Steps made and passes over the samples.
    log_loss : float
        ln L over all samples at the end.
    log_time : float
        ln of the flow time t, the sum of the rates on L.
    trajectory : Trajectory
        Records on the way; the last one is the end.
    engine : str
        How gradients were computed: "dense", "span", "gram", "planar" or "layers"; all are exact.
    plan : Descent
        What was carried out.
    seconds : float
        Wall time.
    """

    network: Network
    status: str
    steps: int
    epochs: int
    log_loss: float
    log_time: float
    trajectory: Trajectory
    engine: Engine
    plan: Descent
    seconds: float

    @property
    def separated(self) -> bool:
        """Whether every sample is classified correctly, y_i N(x_i) > 0."""
        return bool(self.trajectory.least_margin[-1] > 0.0)

    def __repr__(self) -> str:
        loss = as_power_of_ten(self.log_loss)
        fitted = "all samples correct" if self.separated else "not all samples correct"
        return f"Run({self.status} after {self.steps} steps, loss {loss}, {fitted}, {self.seconds:.1f} s)"


def train(
    network: Network,
    data: Dataset,
    recipe: AbstractRecipe | Descent,
    *,
    seed: int = 0,
    stop: Sequence[AbstractStop] = (),
    recording: Recording | None = None,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine = "auto",
) -> Run:
    """Train a network on data as a recipe says.

    Parameters
    ----------
    network : TwoLayer or MLP
        Where training begins; it is not changed.
    data : Dataset
        Samples with both labels and without contradictions.
    recipe : AbstractRecipe or Descent
        A published recipe such as `recipes.VYS22()`, or a plan of your own.
    seed : int
        Order of mini-batches; without them training is deterministic.
    stop : sequence of AbstractStop
        Further reasons to stop.
    recording : Recording or None
        What to keep on the way; None for the defaults.
    progress : callable or None
        Called with a `Progress` now and then.
    engine : "auto", "dense", "span", "gram" or "planar"
        How gradients are computed; "auto" takes the cheapest. All are exact.

    Returns
    -------
    Run
        Always: an interrupt (Ctrl-C) or an overflow ends the run with its status and the last consistent state.

    Examples
    --------
    >>> import marginflow as mf
    >>> from marginflow.flow import recipes, train
    >>> data = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    >>> net = mf.networks.TwoLayer.initialise(width=20, dimension=2, seed=0)
    >>> run = train(net, data, recipes.VYS22(every=20))
    >>> run.status, run.separated
    ('loss reached', True)
    """
    if not isinstance(network, TwoLayer | MLP):
        raise InputError(f"network is {network!r}; a TwoLayer or an MLP is expected.")
    if not isinstance(data, Dataset):
        raise InputError(f"data is {type(data).__name__}; a Dataset is expected.")
    if network.dimension != data.dimension:
        raise InputError(f"The data have dimension {data.dimension}, but the network has {network.dimension}.")
    data.require_two_classes()
    if np.unique(data.X[:, 0]).size < data.n_samples:  # equal samples have equal first entries: usually none have
        data.require_no_contradiction()
    if isinstance(recipe, AbstractRecipe):
        plan = recipe.plan(network, data.n_samples)
    elif isinstance(recipe, Descent):
        plan = recipe
    else:
        raise InputError(f"recipe is {recipe!r}; a recipe such as recipes.VYS22() or a Descent is expected.")
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    batch = None if plan.batch is None or plan.batch >= data.n_samples else plan.batch
    chosen, model = trainable(network, data.X, data.y, batch=batch, engine=engine)
    loop = _Loop(model, plan, (*plan.stop, *stop), batch, rng, data.n_samples, network.degree, recording or Recording())
    status = loop.run(progress)
    log_loss = loop.recorder.records[-1].log_loss
    return Run(
        network=model.network(loop.now.theta),
        status=status,
        steps=loop.now.step,
        epochs=loop.epoch,
        log_loss=log_loss,
        log_time=loop.now.log_time,
        trajectory=loop.recorder.trajectory(),
        engine=chosen,
        plan=plan,
        seconds=loop.clock(),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Moment:
    """A consistent state: one assignment of it commits a step, so that an interrupt sees all of the step or nothing."""

    theta: ParameterVector
    step: int
    log_time: float


class _Loop(AbstractState):
    """The loop, and the state that stop rules see."""

    def __init__(
        self,
        model: AbstractTrainable,
        plan: Descent,
        stop: tuple[AbstractStop, ...],
        batch: int | None,
        rng: np.random.Generator,
        n_samples: int,
        degree: int | None,
        recording: Recording,
    ) -> None:
        self.model, self.plan, self.stop, self.batch, self.rng, self.n = model, plan, stop, batch, rng, n_samples
        self.recording_plan = recording
        self.now = _Moment(model.start(), 0, -math.inf)
        self.spare = model.vector()
        self.steps_per_epoch = 1 if batch is None else -(-n_samples // batch)
        self.recorder = Recorder(model, plan.loss, degree, n_samples, recording)
        self.began = time.perf_counter()
        self.step = self.epoch = 0
        self.seconds = 0.0
        self.log_loss_at_least = math.inf
        self.cosine = math.nan
        self.recording = False
        self.first_log_loss = math.nan
        self._asked_in_epoch = -1
        self._fresh_margins: FloatArray | None = None  # margins of all samples at self.now, where known

    # What stop rules see --------------------------------------------------------------------------

    def clock(self) -> float:
        return time.perf_counter() - self.began

    def network(self) -> Network:
        return self.model.network(self.now.theta)

    def margins(self) -> FloatArray | None:
        if self.batch is None:
            return self.model.last_margins()
        if self._fresh_margins is None and self._asked_in_epoch < self.epoch:
            self._asked_in_epoch = self.epoch
            self._fresh_margins = self.model.forward(self.now.theta)
        return self._fresh_margins

    def log_loss(self) -> float:
        if self.batch is None:
            return self.log_loss_at_least
        margins = self.margins()
        if margins is None:
            return math.inf
        return self.plan.loss.log_sum(margins) + self.plan.loss.log_scale(self.n)

    # The loop -------------------------------------------------------------------------------------

    def run(self, progress: Callable[[Progress], None] | None) -> str:
        """Train, make the last record, and say why it ended."""
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                status = self._steps(progress)
            except KeyboardInterrupt:
                status = "interrupted"
            self.step, self.epoch = self.now.step, self.now.step // self.steps_per_epoch
            if not self.recorder.records or self.recorder.records[-1].step != self.now.step:
                self._record(self.model.forward(self.now.theta))
        if progress is not None:
            self._report(progress)
        return status

    def _steps(self, progress: Callable[[Progress], None] | None) -> str:
        model, plan, loss, schedule = self.model, self.plan, self.plan.loss, self.plan.schedule
        descent, second = model.vector(), model.vector() if plan.method == "heun" else None
        before: _Moment | None = None  # the state one step ago; its vector is self.spare
        log_loss_before = math.inf
        next_record, damping, reported = 0, 1.0, 0.0
        squared_gradient = squared_norm = math.nan
        full = self.batch is None
        whole = loss.log_scale(self.n)
        for rows in self._batches():
            now = self.now
            log_sum = model.evaluate(now.theta, loss, descent, rows)
            log_loss = log_sum + (whole if rows is None else loss.log_scale(rows.size))
            if math.isnan(log_sum):
                if before is not None:  # the last step overflowed: the state before it is finite
                    self.spare, self.now = now.theta, before
                return "diverged"
            if schedule.backtracks and full and log_loss > log_loss_before and before is not None:
                self.spare, self.now = now.theta, before
                before, log_loss_before, damping = None, math.inf, 0.5 * damping
                if damping < _SMALLEST_DAMPING:
                    return "stalled"
                continue
            self.step, self.epoch = now.step, now.step // self.steps_per_epoch
            self.log_loss_at_least = log_sum + whole
            self._fresh_margins = None
            self.seconds = self.clock()
            self.recording = now.step == next_record
            if self.recording:
                next_record = self.recording_plan.after(now.step)
                self._record(model.last_margins() if full else model.forward(now.theta))
                if not descent.flat.any() or (schedule.backtracks and self._no_progress()):
                    return "stalled"
            for rule in self.stop:
                if rule.reached(self):
                    return rule.status
            if progress is not None and (self.recording or self.seconds - reported > _SECONDS_BETWEEN_REPORTS):
                reported = self.seconds
                self._report(progress)
            if schedule.needs_lengths:
                squared_gradient, squared_norm = model.squared_length(descent), model.inner(now.theta, now.theta)
                if squared_gradient == 0.0:
                    return "stalled"
            log_step = schedule.log_step(now.step, log_loss, squared_gradient, squared_norm) + math.log(damping)
            if log_step > 700.0:
                return "diverged"
            step = math.exp(log_step)
            log_time_of_step = log_step - log_loss
            spare = self.spare
            np.multiply(descent.flat, step, out=spare.flat)
            np.add(now.theta.flat, spare.flat, out=spare.flat)
            if second is not None:
                # Heun: the mean of the gradients at both ends of the step, and of 1 / L for the flow time.
                log_sum_there = model.evaluate(spare, loss, second, rows)
                if math.isnan(log_sum_there):
                    return "diverged"
                np.add(descent.flat, second.flat, out=spare.flat)
                np.multiply(spare.flat, 0.5 * step, out=spare.flat)
                np.add(now.theta.flat, spare.flat, out=spare.flat)
                there = log_step - (log_sum_there + log_loss - log_sum)
                log_time_of_step = np.logaddexp(log_time_of_step, there) - math.log(2.0)
            before, log_loss_before, damping = now, log_loss, min(1.0, 1.1 * damping)
            moment = _Moment(spare, now.step + 1, float(np.logaddexp(now.log_time, log_time_of_step)))
            self.spare, self.now = now.theta, moment
        raise AssertionError("the batches never end")

    def _no_progress(self) -> bool:
        """Whether a loss that never rises has not fallen, beyond rounding, since the record before this one."""
        *_, last, this = (None, None, *self.recorder.records)
        if last is None or this is None or this.step - last.step < _STEPS_TO_JUDGE:
            return False
        return last.log_loss - this.log_loss <= 1e-12 * max(1.0, abs(this.log_loss))

    def _batches(self) -> Iterator[IntArray | None]:
        """None forever, or mini-batches of a fresh permutation in every epoch."""
        while self.batch is None:
            yield None
        while True:
            order = self.rng.permutation(self.n)
            for start in range(0, self.n, self.batch):
                yield order[start : start + self.batch]

    def _record(self, margins: FloatArray) -> None:
        record = self.recorder.record(
            self.now.theta, margins, step=self.step, epoch=self.epoch, log_time=self.now.log_time
        )
        self.cosine = record.cosine
        self._fresh_margins = margins
        if math.isnan(self.first_log_loss):
            self.first_log_loss = record.log_loss

    def _report(self, progress: Callable[[Progress], None]) -> None:
        share = max(rule.share(self, self.first_log_loss) for rule in self.stop)
        progress(
            Progress(
                step=self.step, epoch=self.epoch, log_loss=self.log_loss_at_least, seconds=self.clock(), share=share
            )
        )
