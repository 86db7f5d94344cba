"""One attempt of `kkt_point`: flow, polish, certificate, in coordinates of the span of the samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.certificates import certify
from marginflow.data import Dataset, in_span
from marginflow.errors import InputError
from marginflow.flow import angle_flow
from marginflow.limit.column_point import column_point, in_reach
from marginflow.limit.feasible_start import feasible_start
from marginflow.limit.limit import Limit, Moved, Stop
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.rising_start import rising_start
from marginflow.limit.solver.polish import Polished, Progress, polish
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.threads import available_threads, threads_for

# Bundles of neurons that the polish starts from, for every multiple of the rank that there are samples.
_BUNDLES = 96
# The flow is asked every so many steps whether it has separated the data, and then goes on for as long again / 2.
_FLOW_BLOCK = 20
_FLOW_LEAST, _FLOW_MOST = 60, 3000
_FRESH_POINTS = 500
# Iterations of ADMM after which columns are generated instead in very few dimensions, where they are cheap.
_BEFORE_COLUMNS, _VERY_FEW_DIMENSIONS = 3000, 4


class VanishedError(InputError):
    """Every neuron was set to zero."""


def stopped_early(by: Stop, stationarity: float) -> str:
    """The status of a point whose work was ended from outside."""
    what = {"interrupt": "by an interrupt", "time limit": "at the time limit"}[by]
    return f"Stopped early {what}: relative stationarity {stationarity:.1e}."


class Solve:
    """One call of `kkt_point`: flow, polish, certificate, in coordinates of the span of the samples."""

    def __init__(
        self,
        data: Dataset,
        start: TwoLayer,
        cap: float,
        stay_near: float,
        tolerance: float,
        max_iterations: int,
        began: float,
        deadline: float,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.data, self.cap, self.stay_near, self.tolerance = data, cap, stay_near, tolerance
        self.max_iterations, self.began, self.deadline, self.progress = max_iterations, began, deadline, progress
        self.X, self.Q = in_span(data.X)
        # What a neuron has outside the span of the samples is dropped: at a KKT point it is zero.
        self.start = replace(start, W=start.W @ self.Q.T)
        self.frozen = start.outputs == "frozen"
        self.problem = Problem.of(self.X, data.y, bias=start.b is not None, penalty=cap)

    def attempt(self, number: int, steps: int | None, angle: float, loss: AbstractLoss | None) -> Limit:
        """Flow, polish, certify; the second attempt flows longer and bundles less, the third starts feasible.

        In few dimensions the second attempt generates columns instead, where that leads to an exact point.
        """
        columns = not self.frozen and in_reach(self.problem)
        if number == 1 and columns:
            generated = self._generated()
            if generated is not None:
                return self._limit(self.start, generated, self._neurons(self.start), generated.members, 0.0)
        if number == 1:
            steps = 4 * max(500, steps or 0)
        flow_began = time.monotonic()
        with threads_for(self.X.size * self.start.width, available_threads()):
            flowed = self._flow(steps, angle, loss)
        flow_seconds = time.monotonic() - flow_began
        neurons = self._neurons(flowed)
        one_sided = self._missing_sign(neurons)
        most = int(_BUNDLES * (4 if number else 1) * max(1.0, self.problem.n_samples / self.problem.X.shape[1]))
        groups = gather(neurons.U, neurons.s, most)
        bundles, multipliers = add_up(neurons, groups), None
        if (number == 2 or one_sided is not None) and not self.frozen:
            start = feasible_start(self.problem, bundles.U, seed=0)
            if start is not None and len(start.neurons.s) <= self.start.width:
                bundles, multipliers = start.neurons, start.multipliers
                groups = np.full(self.start.width, -1, dtype=np.int64)  # no neuron of the flow survives
                one_sided = None
        if number == 2 and np.isfinite(self.cap) and not self.frozen:
            risen = rising_start(self.problem, bundles.U, seed=0)
            if risen is not None and len(risen.s) <= self.start.width:
                bundles, multipliers = risen, np.full(self.problem.n_samples, self.cap)  # as they are at zero
                groups = np.full(self.start.width, -1, dtype=np.int64)
        if one_sided is not None and self._missing_sign(self._neurons(self.start)) is None:
            # The flow let every neuron of one sign die: better to polish from where it began.
            flowed, neurons, one_sided = self.start, self._neurons(self.start), None
            groups = gather(neurons.U, neurons.s, most)
            bundles = add_up(neurons, groups)
        if one_sided is not None:
            raise InputError(
                f"The start has no neuron with sign {one_sided:+g} that is not zero, but data with both labels need "
                "neurons of both signs; try another seed, a larger width or another start."
            )
        patience = self.max_iterations
        if number == 0 and columns and self.problem.X.shape[1] <= _VERY_FEW_DIMENSIONS:
            patience = min(patience, _BEFORE_COLUMNS)
        found = polish(
            self.problem,
            bundles,
            multipliers=multipliers,
            anchor_weight=self.stay_near / float(np.linalg.norm(bundles.U, axis=1).mean()),
            deadline=self.deadline,
            max_iterations=patience,
            precision="double" if number == 2 else "single",  # the last attempt is for delicate cases
            progress=self.progress,
        )
        if len(found.s) == 0:
            raise VanishedError(
                f"penalty is {self.cap:g}, so small that the best network found is the zero function; try a larger one."
            )
        members = np.where(groups >= 0, found.members[groups], -1)
        return self._limit(flowed, found, neurons, members, flow_seconds)

    def _generated(self) -> Polished | None:
        """The point of the columns, if it has no more neurons than asked for."""
        point = column_point(self.problem, seed=0, deadline=self.deadline)
        if point is None or len(point.s) > self.start.width:
            return None
        size = np.linalg.norm(point.U, axis=1)
        nowhere = np.full(self.start.width, -1, dtype=np.int64)
        return Polished(
            point.U, point.s, point.lam, point.mu, size, nowhere, True, newton_steps=point.iterations, generated=True
        )

    def _limit(
        self, flowed: TwoLayer, found: Polished, neurons: Neurons, members: IntArray, flow_seconds: float
    ) -> Limit:
        """The network of the requested width, certified."""
        network, mu = self._network(found, neurons, members)
        with threads_for(self.data.X.size * self.start.width, available_threads()):
            certificate = certify(
                network,
                self.data,
                penalty=None if np.isinf(self.cap) else self.cap,
                multipliers=(self._in_user_order(found.lam), self._in_user_order(mu)),
            )
        gap = self._gap(found)
        exact = certificate.holds(self.tolerance) and gap <= self.tolerance
        stopped = None if exact else self._stop(found)
        return Limit(
            network=certificate.network,
            compact=certificate.network.compact(rtol=1e-9),
            certificate=certificate,
            gap=gap,
            moved=None if found.generated else self._moved(flowed, found, members, certificate.network),
            history=found.history,
            status=self._status(found, exact, stopped, certificate.stationarity, float(certificate.margins.min())),
            exact=exact,
            seconds=time.monotonic() - self.began,
            flow_seconds=flow_seconds,
            stopped_by=stopped,
        )

    def _flow(self, steps: int | None, angle: float, loss: AbstractLoss | None) -> TwoLayer:
        """Angle-bounded steps: as many as asked for, or until every margin is positive and half as long again."""
        network, done = self.start, 0
        until = _FLOW_MOST if steps is None else steps
        while done < until and time.monotonic() < self.deadline:
            block = min(_FLOW_BLOCK, until - done)
            end = angle_flow(
                network.W, network.b, network.v, self.X, self.data.y,
                steps=block, angle=angle, outputs=network.outputs, loss=loss, precision="single",
            )  # fmt: skip
            if not all(np.isfinite(part).all() for part in (end.W, end.v)):
                break  # data that the network cannot separate drive it to infinity
            network = replace(network, W=end.W, b=end.b, v=end.v)
            done += block
            if end.steps < block:
                break
            if steps is None and end.separated and until == _FLOW_MOST:
                until = max(_FLOW_LEAST, int(1.5 * done))
        return network

    def _missing_sign(self, neurons: Neurons) -> float | None:
        """A sign that no neuron has any more: outputs may change sign in a flow that cannot separate the data."""
        live = neurons.U.any(axis=1)
        if np.isfinite(self.cap) and live.any():
            return None  # with a soft margin one sign may be all that pays
        return next((sign for sign in (1.0, -1.0) if not (live & (neurons.s == sign)).any()), None)

    def _neurons(self, network: TwoLayer) -> Neurons:
        """Rows u_j at a typical margin of 1.

        Scaled to a smallest margin of 1, most samples would lie beyond the margin, where no multiplier holds the
        neurons, and ADMM would let all of them shrink to zero before the first sample resists.
        """
        margins = network.margins(self.X, self.data.y)
        typical = float(margins.mean())
        size = typical if typical > 0 else float(np.abs(margins).mean())
        U = self.problem.reduced(network.directions)
        return Neurons(U / (size if size > 0 else 1.0), network.signs, network.v**2 if self.frozen else None)

    def _network(self, found: Polished, neurons: Neurons, members: IntArray) -> tuple[TwoLayer, FloatArray]:
        """The ambient network of the requested width, and mu for each of its neurons."""
        U = self.problem.ambient(found.U)
        bias = self.start.b is not None
        width = self.start.width
        if self.frozen:
            # Neurons of one group share its u in proportion to v_j^2; those that vanished have zero weights.
            a2 = self.start.v**2
            total = np.zeros(len(found.s))
            np.add.at(total, members[members >= 0], a2[members >= 0])
            share = np.where(members >= 0, np.abs(self.start.v) / total[members], 0.0)
            rows = share[:, None] * U[members]
            W = rows[:, :-1] @ self.Q if bias else rows @ self.Q
            mu = np.where(members >= 0, found.mu[:, members], 0.0)
            return TwoLayer(W=W, b=rows[:, -1] if bias else None, v=self.start.v, outputs="frozen"), mu
        parents = _parents(np.linalg.norm(U, axis=1), width)
        copies = np.bincount(parents, minlength=len(found.s))[parents]
        rows = U[parents] / copies[:, None]
        W = rows[:, :-1] @ self.Q if bias else rows @ self.Q
        ambient = np.column_stack([W, rows[:, -1]]) if bias else W
        return TwoLayer.from_directions(ambient, found.s[parents], bias=bias), found.mu[:, parents]

    def _in_user_order(self, rows: FloatArray) -> FloatArray:
        out = np.empty_like(rows)
        out[self.problem.order] = rows
        return out

    def _gap(self, found: Polished) -> float:
        """(primal - dual) / primal of the last convex problem (C), from U, lambda and mu alone.

        With trained outputs the dual is max sum lambda s.t. ||sum_i y_i mu_ij x_i|| <= 1, so lambda is scaled by the
        largest of these norms; with frozen outputs it is sum lambda - 1/2 sum_j v_j^2 ||sum_i y_i mu_ij x_i||^2.
        """
        pull = (found.mu * self.problem.y[:, None]).T @ self.problem.X
        norms = np.linalg.norm(pull, axis=1)
        size = np.linalg.norm(found.U, axis=1)
        slack = np.maximum(1.0 - self.problem.margins(found.U, found.s), 0.0)
        paid = self.cap * float(slack.sum()) if np.isfinite(self.cap) else 0.0
        if self.frozen:
            a2 = found.outputs_squared
            primal = 0.5 * float((size**2 / a2).sum()) + paid
            dual = float(found.lam.sum()) - 0.5 * float((a2 * norms**2).sum())
        else:
            primal = float(size.sum()) + paid
            dual = float(found.lam.sum()) / max(1.0, float(norms.max(initial=0.0)))
        return (primal - dual) / primal if primal > 0 else 0.0

    def _moved(self, flowed: TwoLayer, found: Polished, members: IntArray, network: TwoLayer) -> Moved:
        margins = flowed.margins(self.X, self.data.y)
        least = float(margins.min())
        before = flowed.norm_squared() / least ** (2 / flowed.degree) if least > 0 else np.inf
        rng = np.random.default_rng(0)
        centre = self.X.mean(axis=0)
        weights = rng.standard_normal((_FRESH_POINTS, len(self.X))) / np.sqrt(len(self.X))
        fresh = centre + weights @ (self.X - centre)
        old = flowed(fresh)
        compact = replace(network, W=network.W @ self.Q.T).compact(rtol=1e-9)
        new = compact(fresh)
        lengths = float(np.linalg.norm(old) * np.linalg.norm(new))
        kept = np.flatnonzero(members >= 0)
        was = flowed.patterns(self.X)[self.problem.order][:, kept]
        now = (self.problem.X @ found.U.T > 0)[:, members[kept]]
        return Moved(
            cosine=float(old @ new) / lengths if lengths > 0 else 0.0,
            norm_squared_before=before,
            norm_squared_after=network.norm_squared(),
            patterns_changed=float((was != now).mean()) if kept.size else 0.0,
            neurons_vanished=1.0 - kept.size / len(members),
            separated_by_flow=least > 0,
        )

    def _stop(self, found: Polished) -> Stop | None:
        if found.interrupted:
            return "interrupt"
        return "time limit" if time.monotonic() > self.deadline else None

    def _status(self, found: Polished, exact: bool, stopped: Stop | None, stationarity: float, least: float) -> str:
        if exact and found.generated:
            return (
                f"Exact KKT point: relative stationarity {stationarity:.1e} by generating columns, as the flow settled "
                "on no structure; the point need not be near the flow."
            )
        if exact:
            return (
                f"Exact KKT point: relative stationarity {stationarity:.1e} after {found.iterations} ADMM iterations "
                f"and {found.newton_steps} Newton steps."
            )
        if stopped is not None:
            return stopped_early(stopped, stationarity)
        if least <= 0 and np.isinf(self.cap):
            return (
                f"Not separated: no network of {self.start.width} neurons with positive margins was found; try a "
                "larger width or a soft margin (penalty)."
            )
        return f"Not exact: the structure did not settle; relative stationarity {stationarity:.1e}."


def _parents(size: FloatArray, width: int) -> IntArray:
    """Which neuron each of `width` copies comes from: the largest are split, each copy in equal shares."""
    copies = np.ones(len(size), dtype=np.int64)
    for _ in range(width - len(size)):
        copies[np.argmax(size / copies)] += 1
    return np.repeat(np.arange(len(size)), copies)
