"""What is kept of a run: a few numbers at geometrically spaced steps, never the whole path unless asked."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from marginflow.arrays import FloatArray, IntArray, read_only, real_number
from marginflow.flow.parameters import ParameterVector
from marginflow.flow.trainable import AbstractTrainable, Network
from marginflow.losses import AbstractLoss, as_power_of_ten
from marginflow.plain import Plain


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What to record, and when.

    Parameters
    ----------
    ratio : float
        Records are at step 0, 1, ..., each about `ratio` times the one before, and at the end. 1 records every step.
    margins : bool
        Keep the margins of all samples at every record, shape (records, n).
    networks : bool
        Keep the network at every record.
    """

    ratio: float = 1.25
    margins: bool = True
    networks: bool = False

    def __post_init__(self) -> None:
        real_number("ratio", self.ratio, at_least=1.0)

    def after(self, step: int) -> int:
        """The step of the next record."""
        return max(step + 1, math.ceil(step * self.ratio))


@dataclass(frozen=True, eq=False, kw_only=True)
class Trajectory(Plain):
    r"""Records of a run, one entry (or row) for each.

    Parameters
    ----------
    step, epoch : integer arrays, shape (r,)
        Steps made, and passes over the samples.
    log_time : array, shape (r,)
        ln of the flow time t = sum of the rates on L; -inf at the start.
    log_loss : array, shape (r,)
        ln L over all samples.
    norm : array, shape (r,)
        ||theta|| over the trained parameters.
    least_margin : array, shape (r,)
        min_i y_i N(x_i).
    normalised_margin : array, shape (r,)
        min_i y_i N(x_i) / ||theta||^degree; nan where the network is not homogeneous.
    smoothed_margin : array, shape (r,)
        q / ||theta||^degree with l(q) = sum_i l(q_i): the quantity that Lyu and Li (2020) prove never to fall along
        gradient flow once it is positive. For the exponential loss ln(1 / sum_i e^{-q_i}) / ||theta||^degree.
    cosine : array, shape (r,)
        Cosine between theta at this record and at the one before; nan at the first.
    balance : array, shape (r, k), or None
        v_j^2 - ||(w_j, b_j)||^2 of every neuron, conserved by gradient flow; None with frozen outputs.
    margins : array, shape (r, n), or None
        y_i N(x_i), if recorded.
    networks : tuple of networks, or None
        If recorded.
    """

    plain_names = (
        *("step", "epoch", "log_time", "log_loss", "norm", "least_margin", "normalised_margin"),
        *("smoothed_margin", "cosine", "final_margins"),
    )

    step: IntArray
    epoch: IntArray
    log_time: FloatArray
    log_loss: FloatArray
    norm: FloatArray
    least_margin: FloatArray
    normalised_margin: FloatArray
    smoothed_margin: FloatArray
    cosine: FloatArray
    balance: FloatArray | None
    margins: FloatArray | None
    networks: tuple[Network, ...] | None

    @property
    def final_margins(self) -> FloatArray | None:
        """y_i N(x_i) at the end, shape (n,), if margins were recorded."""
        return None if self.margins is None else self.margins[-1]

    def plain_values(self) -> dict[str, object]:
        """The records, one list each; without margins where none were recorded."""
        return {name: value for name, value in super().plain_values().items() if value is not None}

    def __len__(self) -> int:
        return int(self.step.size)

    def __repr__(self) -> str:
        first, last = as_power_of_ten(float(self.log_loss[0])), as_power_of_ten(float(self.log_loss[-1]))
        return f"Trajectory({len(self)} records to step {self.step[-1]}, loss {first} -> {last})"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Record:
    step: int
    epoch: int
    log_time: float
    log_loss: float
    norm: float
    least_margin: float
    normalised_margin: float
    smoothed_margin: float
    cosine: float
    balance: FloatArray | None
    margins: FloatArray | None
    network: Network | None


class Recorder:
    """Makes the records of one run. A record is appended whole or not at all, whatever interrupts."""

    def __init__(
        self, model: AbstractTrainable, loss: AbstractLoss, degree: int | None, n_samples: int, recording: Recording
    ) -> None:
        self._model, self._loss, self._degree, self._n, self._recording = model, loss, degree, n_samples, recording
        self._before: ParameterVector = model.vector()
        self._before_squared = 0.0
        self.records: list[_Record] = []

    def record(self, theta: ParameterVector, margins: FloatArray, *, step: int, epoch: int, log_time: float) -> _Record:
        """Measure theta, whose margins are given, and keep the measurements."""
        squared = self._model.inner(theta, theta)
        norm = math.sqrt(squared)
        log_loss = self._loss.log_sum(margins) + self._loss.log_scale(self._n)
        least = float(margins.min())
        scale = math.nan
        if self._degree is not None and norm > 0.0:
            with np.errstate(over="ignore"):  # a float would raise where a diverging deep network only becomes infinite
                scale = float(np.float64(norm) ** self._degree)
        cosine = math.nan
        if self.records and squared > 0.0 and self._before_squared > 0.0:
            cosine = self._model.inner(theta, self._before) / math.sqrt(squared) / math.sqrt(self._before_squared)
        record = _Record(
            step=step,
            epoch=epoch,
            log_time=log_time,
            log_loss=log_loss,
            norm=norm,
            least_margin=least,
            normalised_margin=least / scale,
            smoothed_margin=self._loss.smoothed_margin(log_loss, self._n) / scale,
            cosine=cosine,
            balance=self._model.balance(theta),
            margins=margins.copy() if self._recording.margins else None,
            network=self._model.network(theta) if self._recording.networks else None,
        )
        self.records.append(record)
        self._before.flat[:] = theta.flat
        self._before_squared = squared
        return record

    def trajectory(self) -> Trajectory:
        """Everything recorded so far."""

        def column(name: str) -> Any:
            kept = [value for record in self.records if (value := getattr(record, name)) is not None]
            return read_only(np.stack(kept)) if kept else None

        networks = tuple(record.network for record in self.records if record.network is not None)
        columns = {field.name: column(field.name) for field in fields(Trajectory) if field.name != "networks"}
        return Trajectory(**columns, networks=networks or None)
