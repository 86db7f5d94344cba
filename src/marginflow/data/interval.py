r"""The one-dimensional setting of [KYS23, sec. 3]: points on [0, 1], target +1, labels -1 with probability p."""

from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np

from marginflow.arrays import FloatArray, one_of, real_number, whole_number
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import AbstractDistribution, check_coordinates, check_room
from marginflow.data.noise import UniformNoise
from marginflow.data.noisy_sphere import NoiseCount, constant_target_noise
from marginflow.errors import InputError


@final
@dataclass(frozen=True)
class Interval(AbstractDistribution):
    r"""Sorted points on [0, 1] with a constant target and label noise.

    .. math:: x_1 \le \dots \le x_n \in [0, 1], \qquad \tilde y_i = +1, \qquad P(y_i = -1) = p

    - "uniform": order statistics of independent uniform points (the paper);
    - "jittered": x_i = (i - 1/2 + jitter (U_i - 1/2)) / n with U_i uniform on [0, 1], so that neighbours are at least
      (1 - jitter)/n apart. Gradient descent does not interpolate 50 uniform points in practice, whose smallest gap is
      of order 1/n^2; it does interpolate these.

    Planted runs: `runs` maximal runs of exactly `run_length` consecutive labels -1, at uniformly random indices among
    those where no two runs touch; the neighbours of a run are +1, all other labels follow the noise. Natural runs of
    five, which [KYS23, Cor. A.3] speaks of, occur once in 1e5 points at p = 0.1. Runs of length 1 plant the pattern
    +, -, + of [KYS23, Prop. A.4].

    Parameters
    ----------
    p : number in [0, 1]
        Noise rate.
    count : "bernoulli" or "exact"
        Independent flips (the paper), or exactly round(p n).
    design : "uniform" or "jittered"
    jitter : number in [0, 1)
        Only for "jittered"; 0 is the regular grid of midpoints.
    runs, run_length : int
        Number and length of planted runs; 0 runs for none.

    Deviations
    ----------
    Test points (`fresh`) are uniform on [0, 1] with independent noise for every design, because the clean test error of
    the paper is a length.

    Examples
    --------
    >>> from marginflow.data import Interval
    >>> data = Interval(p=0.0, runs=2, run_length=5).sample(30, seed=0)
    >>> int((data.y < 0).sum()), bool((data.X[1:] > data.X[:-1]).all())
    (10, True)
    """

    p: float = 0.1
    count: NoiseCount = "bernoulli"
    design: Literal["uniform", "jittered"] = "uniform"
    jitter: float = 0.5
    runs: int = 0
    run_length: int = 5

    def __post_init__(self) -> None:
        constant_target_noise(self.p, self.count)
        one_of("design", self.design, ("uniform", "jittered"))
        real_number("jitter", self.jitter, at_least=0.0, below=1.0)
        whole_number("runs", self.runs, minimum=0)
        whole_number("run_length", self.run_length)

    @property
    def dimension(self) -> int:
        """1."""
        return 1

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        check_room(n_samples, 1)
        if self.design == "uniform":
            x = np.sort(rng.random(n_samples))
        else:
            x = (np.arange(n_samples) + 0.5 + self.jitter * (rng.random(n_samples) - 0.5)) / n_samples
        # Noise belongs to the draw, because runs are planted after it.
        noisy = constant_target_noise(self.p, self.count).apply(_constant_target(x), rng)
        return replace(noisy, y=plant_runs(noisy.y, self.runs, self.run_length, rng))

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        check_coordinates(train, 1)
        check_room(n_samples, 1)
        return UniformNoise(rate=self.p).apply(_constant_target(np.sort(rng.random(n_samples))), rng)


def _constant_target(x: FloatArray) -> Dataset:
    y = np.ones(x.size)
    return Dataset(X=x[:, None], y=y, clean_labels=y)


def plant_runs(y: FloatArray, runs: int, run_length: int, rng: np.random.Generator) -> FloatArray:
    """Labels with `runs` separated runs of exactly `run_length` labels -1 between labels +1, the rest as in y.

    The starts s_1 < ... < s_r must satisfy s_{i+1} >= s_i + length + 1; then t_i = s_i - i length (i from 0) is any set
    of r numbers from 0 to n - r length, which makes a uniformly random choice easy.
    """
    slots = y.size - runs * run_length + 1
    if runs > max(slots, 0):
        needed = runs * (run_length + 1) - 1
        raise InputError(
            f"{runs} separated runs of length {run_length} need at least {needed} samples, but there are {y.size}."
        )
    starts = np.sort(rng.choice(slots, size=runs, replace=False)) + run_length * np.arange(runs)
    planted = y.copy()
    for start in starts:
        planted[max(start - 1, 0) : start + run_length + 1] = 1.0
        planted[start : start + run_length] = -1.0
    return planted
