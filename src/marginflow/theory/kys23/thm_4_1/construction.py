r"""The network of [KYS23, Lemma B.3]: large biases make it positive, one direction makes the noisy samples negative."""

import math
from fractions import Fraction

import numpy as np

from marginflow.arrays import FloatArray, whole_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer


def biased_pair(data: Dataset, width: int) -> TwoLayer:
    r"""The weights of Lemma B.3 as printed.

    .. math:: N(x) = 2 \left[ \mathrm{relu}(1 - T) - \mathrm{relu}(T) \right], \qquad T = \sum_{r \in I_-} x_r^\top x

    Half of the neurons have w = -g s, v = 2 (sqrt(k)/n)^(1/2), b = g, the others w = g s, v = -2 (sqrt(k)/n)^(1/2),
    b = 0, with s = sum_{I_-} x_r and g = (4 / (n sqrt(k)))^(1/2). An odd width gets a zero neuron.

    Parameters
    ----------
    data : Dataset
        At least one negative sample.
    width : int
        n >= 2.
    """
    n = whole_number("width", width, minimum=2)
    minus = data.y < 0
    k = int(minus.sum())
    if k == 0:
        raise InputError("No sample is negative; the construction of Lemma B.3 divides by their number.")
    s = data.X[minus].sum(axis=0)
    half, spare = n // 2, n % 2
    even = 2 * half
    g, v = math.sqrt(4 / (even * math.sqrt(k))), 2 * math.sqrt(math.sqrt(k) / even)
    signs = np.repeat([1.0, -1.0, 0.0], [half, half, spare])
    return TwoLayer(W=-g * np.outer(signs, s), b=np.where(signs > 0, g, 0.0), v=v * signs)


def exact_norm_times_root(samples: FloatArray) -> Fraction:
    r"""sqrt(k) ||theta||^2 of the construction, exactly, for the k negative samples as they are stored.

    .. math:: \sqrt{k} \, \|\theta\|^2 = 4 \|s\|^2 + 4 k + 2

    so that ||theta||^2 <= 9 sqrt(k) exactly when this is at most 9 k: a comparison of fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.theory.kys23.thm_4_1.construction import exact_norm_times_root
    >>> [int(exact_norm_times_root(np.eye(k)) - 9 * k) for k in (1, 2, 3)]
    [1, 0, -1]
    """
    rows = [[Fraction(float(entry)) for entry in row] for row in samples]
    k = len(rows)
    s = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    return 4 * sum((entry * entry for entry in s), Fraction(0)) + 4 * k + 2
