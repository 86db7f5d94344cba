"""Where `kkt_point` spends its time, and the matrix products in it, for `benchmarks/limit.py`."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from marginflow.limit import assemble, task
from marginflow.limit.solver import newton, polish


def rate(dtype: type) -> float:
    """Multiplications a second in a product of 1000 x 1000 matrices."""
    A = np.ones((1000, 1000), dtype=dtype)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        A @ A
        times.append(time.perf_counter() - began)
    return 1e9 / min(times)


class Stages:
    """Seconds and multiplications of the stages of one call."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.single = 0.0  # multiplications in single precision: flow and ADMM
        self.double = 0.0  # in double: the Hessians of Newton's method, of which half is computed

    def products(self) -> float:
        """Seconds that the matrix products take at the speed of large ones."""
        return self.single / rate(np.float32) + self.double / rate(np.float64)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within this context the stages of `kkt_point` are timed and their products counted."""
        stages: list[tuple[Any, str, str]] = [
            (task.AngleSteps, "take", "flow"),
            (polish.Admm, "run", "ADMM"),
            (polish, "newton", "Newton"),
            (newton, "hessian", ""),
            (assemble, "certify", "certificate"),
        ]
        originals = [getattr(owner, name) for owner, name, _ in stages]
        for (owner, name, stage), original in zip(stages, originals, strict=True):
            setattr(owner, name, self._timed(original, name, stage))
        try:
            yield
        finally:
            for (owner, name, _), original in zip(stages, originals, strict=True):
                setattr(owner, name, original)

    def _timed(self, work: Callable[..., Any], name: str, stage: str) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            if name == "run":
                admm, iterations = args
                self.single += 2.0 * iterations * admm.problem.X.size * len(admm.s)
            if name == "hessian":
                _, rows, _, bases, _ = args
                self.double += 0.5 * len(rows) ** 2 * sum(basis.narrow.shape[1] for basis in bases)
            began = time.perf_counter()
            result = work(*args, **options)
            if stage:
                self.seconds[stage] += time.perf_counter() - began
            if name == "take":
                kernel = args[0]._kernel
                self.single += 2.0 * result * kernel.X.size * kernel.shapes[0][0]
            return result

        return timed
