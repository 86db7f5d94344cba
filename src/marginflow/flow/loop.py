"""The training loop, written once for every engine, schedule and stop rule."""

import bisect
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.flow.descent import Descent
from marginflow.flow.parameters import ParameterVector
from marginflow.flow.stopping import AbstractState, AbstractStop
from marginflow.flow.trainable import AbstractTrainable, Network
from marginflow.flow.trajectory import Recorder, Recording

# A progress callback is called at every record and at most this often in between.
_SECONDS_BETWEEN_REPORTS = 0.2
_SMALLEST_DAMPING = 2.0**-60
# A loss-normalised run that has gained nothing between two records this far apart is stuck on a kink.
_STEPS_TO_JUDGE = 100
# A flow that has gained nothing in the last half of its steps, so many at least, has come to rest; nothing is this
# share of what its steps lower the loss by to first order.
_STEPS_AT_REST, _NOTHING = 5000, 1e-6


@dataclass(frozen=True, kw_only=True)
class TrainingProgress:
    """What a progress callback receives. `share` guesses how much is done, -1 if unknown."""

    step: int
    epoch: int
    log_loss: float
    seconds: float
    share: float


def _log_of_sum(a: float, b: float) -> float:
    """ln(e^a + e^b)."""
    low, high = (a, b) if a < b else (b, a)
    return high + math.log1p(math.exp(low - high)) if math.isfinite(low) else high


@dataclass(frozen=True, eq=False, slots=True)
class Moment:
    """A consistent state: one assignment of it commits a step, so that an interrupt sees all of the step or nothing."""

    theta: ParameterVector
    step: int
    log_time: float


class Loop(AbstractState):
    """Carries out a plan; at the same time the state that stop rules see."""

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
        self.now = Moment(model.start(), 0, -math.inf)
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
        self._expected = 0.0  # how far all steps together lower ln L, to first order
        self._expected_at: list[float] = []  # the same at each record
        self._asked_in_epoch = -1
        self._fresh_margins: FloatArray | None = None  # margins of all samples at self.now, where known

    # What stop rules see --------------------------------------------------------------------------

    def clock(self) -> float:
        """Seconds since the loop was made."""
        return time.perf_counter() - self.began

    def network(self) -> Network:
        """The network as it is now."""
        return self.model.network(self.now.theta)

    def margins(self) -> FloatArray | None:
        """As last evaluated; with mini-batches one more product over all samples, once an epoch."""
        if self.batch is None:
            return self.model.margins
        if self._fresh_margins is None and self._asked_in_epoch < self.epoch:
            self._asked_in_epoch = self.epoch
            self._fresh_margins = self.model.forward(self.now.theta)
        return self._fresh_margins

    def log_loss(self) -> float:
        """As last evaluated; with mini-batches from the margins of all samples."""
        if self.batch is None:
            return self.log_loss_at_least
        margins = self.margins()
        if margins is None:
            return math.inf
        return self.plan.loss.log_sum(margins) + self.plan.loss.log_scale(self.n)

    # The loop -------------------------------------------------------------------------------------

    def run(self, progress: Callable[[TrainingProgress], None] | None) -> str:
        """Train, make the last record, and say why it ended."""
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                status = self._steps(progress)
            except KeyboardInterrupt:
                status = "interrupted"
            self.step, self.epoch = self.now.step, self.now.step // self.steps_per_epoch
            if not self.recorder.records or self.recorder.records[-1].step != self.now.step:
                self._record(self.model.forward(self.now.theta))
        self.log_loss_at_least = self.recorder.records[-1].log_loss
        if progress is not None and status != "interrupted":
            self._report(progress)
        return status

    def _steps(self, progress: Callable[[TrainingProgress], None] | None) -> str:
        model, plan, loss, schedule = self.model, self.plan, self.plan.loss, self.plan.schedule
        descent, second = model.vector(), model.vector() if plan.method == "heun" else None
        before: Moment | None = None  # the state one step ago; its vector is self.spare
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
                self._record(model.margins if full else model.forward(now.theta))
                if not descent.flat.any() or (schedule.backtracks and self._no_progress()) or self._at_rest():
                    return "stalled"
            for rule in self.stop:
                if rule.reached(self):
                    return rule.status
            if progress is not None and (self.recording or self.seconds - reported > _SECONDS_BETWEEN_REPORTS):
                reported = self.seconds
                self._report(progress)
            if schedule.needs_lengths:
                squared_gradient, squared_norm = model.squared_length(descent), model.inner(now.theta, now.theta)
                if not 0.0 < squared_gradient < math.inf:
                    return "stalled" if squared_gradient == 0.0 else "diverged"
            log_step = schedule.log_step(now.step, log_loss, squared_gradient, squared_norm) + math.log(damping)
            if log_step > 700.0:
                return "diverged"
            step = math.exp(log_step)
            self._expected += step * squared_gradient
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
                log_time_of_step = _log_of_sum(log_time_of_step, there) - math.log(2.0)
            before, log_loss_before, damping = now, log_loss, min(1.0, 1.1 * damping)
            moment = Moment(spare, now.step + 1, _log_of_sum(now.log_time, log_time_of_step))
            self.spare, self.now = now.theta, moment
        raise AssertionError("the batches never end")

    def _no_progress(self) -> bool:
        """Whether a loss that never rises has not fallen, beyond rounding, since the record before this one."""
        *_, last, this = (None, None, *self.recorder.records)
        if last is None or this is None or this.step - last.step < _STEPS_TO_JUDGE:
            return False
        return last.log_loss - this.log_loss <= 1e-12 * max(1.0, abs(this.log_loss))

    def _at_rest(self) -> bool:
        """Whether the last half of the steps of a flow should have lowered the loss, to first order, but did not.

        So it is at a minimum above zero: the steps do not become shorter there, and the loss trembles. On a plateau
        that has an end little is to be expected, and it comes.
        """
        if self.plan.method != "heun" or self.step < 2 * _STEPS_AT_REST:
            return False
        records = self.recorder.records
        half = bisect.bisect_right(records, self.step // 2, key=lambda record: record.step) - 1
        fallen, expected = records[half].log_loss - records[-1].log_loss, self._expected - self._expected_at[half]
        return fallen <= _NOTHING * expected and expected > 1e-9 * max(1.0, abs(records[half].log_loss))

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
        self._expected_at.append(self._expected)
        self.cosine = record.cosine
        self._fresh_margins = margins
        if math.isnan(self.first_log_loss):
            self.first_log_loss = record.log_loss

    def _report(self, progress: Callable[[TrainingProgress], None]) -> None:
        share = max(rule.share(self, self.first_log_loss) for rule in self.stop)
        progress(
            TrainingProgress(
                step=self.step, epoch=self.epoch, log_loss=self.log_loss_at_least, seconds=self.clock(), share=share
            )
        )
