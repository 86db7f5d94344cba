"""The cells of `benchmarks/sweeps.py`, in a module of their own so that workers can import them."""

from __future__ import annotations

import os
import time

import msgspec

from marginflow.data import Sphere
from marginflow.limit import kkt_point
from marginflow.sweeps import task


class Work(msgspec.Struct, frozen=True, kw_only=True):
    n_samples: int = 20
    dimension: int = 20
    width: int = 50
    repeats: int = 1


@task("benchmark-work")
def work(parameters: Work, seed: int) -> dict[str, float]:
    """Some KKT points; which process found them, and the CPU time that it has used, in all and in here."""
    before = time.process_time()
    data = Sphere(dimension=parameters.dimension, labels="both").sample(parameters.n_samples, seed=seed)
    norm = sum(
        kkt_point(data, width=parameters.width, seed=seed + 1000 * k).certificate.norm_squared
        for k in range(parameters.repeats)
    )
    return {"norm": norm, "process": os.getpid(), "cpu": time.process_time(), "inside": time.process_time() - before}
