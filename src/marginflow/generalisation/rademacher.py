r"""The Rademacher complexity of two-layer networks with frozen outputs, exactly in the plane [FCB22, Prop B.1].

For outputs a_j frozen and W in the ball ||W||_F <= R the supremum over all neurons collapses to two problems of one
neuron each: with h(w) = sum_i eps_i relu(<w, x_i>) and G_+ = sup_{|w| <= 1} h, G_- = sup_{|w| <= 1} -h,

.. math:: \sup_{\|W\|_F \le R} \sum_i \varepsilon_i f(x_i; W) = R \sqrt{A_+ G_+^2 + A_- G_-^2}, \qquad
          A_\pm = \sum_{\pm a_j > 0} a_j^2 ,

because only the lengths of the w_j remain to be chosen, by Cauchy and Schwarz. In the plane h is linear between the
right angles to the samples, so G_+ and G_- are found exactly by one turn around the circle.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, real_number, vector, whole_number
from marginflow.errors import InputError

# Up to this many samples all sign vectors are enumerated; 2^12 of them take a fraction of a second.
_ENUMERATED = 12


@dataclass(frozen=True)
class Complexity:
    """The empirical Rademacher complexity: its value, and the interval in which it certainly lies.

    `exact` where all sign vectors were enumerated and the interval is a point; else `draws` of them were averaged, and
    the interval has the confidence 0.99 by the inequality of McDiarmid.
    """

    value: float
    low: float
    high: float
    draws: int
    exact: bool


def one_neuron_suprema(X: ArrayLike, signs: ArrayLike) -> FloatArray:
    """G_+ and G_-: the largest values of h and of -h over the unit disc, for each row of signs; shape (b, 2).

    Parameters
    ----------
    X : array, shape (n, 2)
        Samples in the plane.
    signs : array, shape (b, n)
        Rademacher vectors.

    Examples
    --------
    >>> from marginflow.generalisation.rademacher import one_neuron_suprema
    >>> one_neuron_suprema([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]])
    array([[1.41421356, 0.        ],
           [1.        , 1.        ]])
    """
    points = matrix("X", X)
    if points.shape[1] != 2:
        raise InputError(f"X has {points.shape[1]} columns; samples in the plane are expected.")
    eps = matrix("signs", signs)
    if eps.shape[1] != points.shape[0]:
        raise InputError(f"signs has {eps.shape[1]} columns, but there are {points.shape[0]} samples.")
    points = points[keep := points.any(axis=1)]
    eps = eps[:, keep]
    if points.shape[0] == 0:
        return np.zeros((eps.shape[0], 2))
    turn = 2.0 * math.pi
    angle = np.arctan2(points[:, 1], points[:, 0])
    corners = np.unique(np.mod(np.concatenate([angle + 0.5 * math.pi, angle - 0.5 * math.pi]), turn))
    after = np.append(corners[1:], corners[0] + turn)
    middle = 0.5 * (corners + after)
    u = np.column_stack([np.cos(middle), np.sin(middle)])
    active = (u @ points.T > 0.0).astype(np.float64)  # (arcs, n)
    ends = np.column_stack([np.cos(corners), np.sin(corners)])
    best = np.zeros((eps.shape[0], 2))
    # S: sums of eps_i x_i over the samples active on an arc, shape (b, arcs, 2); in blocks to bound the memory.
    block = max(1, (1 << 22) // (points.shape[0] * 4 + corners.size))
    half = 0.5 * (after - corners)
    for start in range(0, eps.shape[0], block):
        rows = slice(start, start + block)
        e = eps[rows]
        S = np.stack([(e * points[:, c]) @ active.T for c in range(2)], axis=2)
        length = np.hypot(S[:, :, 0], S[:, :, 1])
        at_end = S[:, :, 0] * ends[:, 0] + S[:, :, 1] * ends[:, 1]  # continuous: one end of every arc is enough
        for column, side in enumerate((1.0, -1.0)):
            direction = np.arctan2(side * S[:, :, 1], side * S[:, :, 0])
            away = np.abs(np.mod(direction - middle + math.pi, turn) - math.pi)
            inside = np.where(away <= half, length, 0.0)
            best[rows, column] = np.maximum(np.maximum(inside, side * at_end).max(axis=1), 0.0)
    return best


def rademacher_complexity(
    X: ArrayLike, outputs: ArrayLike, radius: float = 1.0, *, draws: int = 400, seed: int = 0
) -> Complexity:
    r"""The empirical Rademacher complexity of {f(.; W): ||W||_F <= radius} on samples in the plane.

    .. math:: \hat{R} = \frac{R}{n} E_\varepsilon \sqrt{A_+ G_+^2 + A_- G_-^2}

    Parameters
    ----------
    X : array, shape (n, 2)
    outputs : array, shape (m,)
        The frozen a_j.
    radius : float
        R.
    draws, seed : int
        Sign vectors that are drawn where there are too many (n > 12) to enumerate.

    Examples
    --------
    >>> from marginflow.generalisation.rademacher import rademacher_complexity
    >>> rademacher_complexity([[1.0, 0.0]], [1.0], radius=1.0).value  # eps = +1 gives 1, eps = -1 gives 0
    0.5
    """
    points = matrix("X", X)
    a = vector("outputs", outputs)
    R = real_number("radius", radius, above=0.0)
    n = points.shape[0]
    A = np.array([(a[a > 0] ** 2).sum(), (a[a < 0] ** 2).sum()])
    exact = n <= _ENUMERATED
    if exact:
        eps = np.array(list(itertools.product((1.0, -1.0), repeat=n)))
    else:
        rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
        eps = rng.choice([1.0, -1.0], size=(whole_number("draws", draws), n))
    suprema = R / n * np.sqrt((one_neuron_suprema(points, eps) ** 2) @ A)
    mean = float(suprema.mean())
    # Flipping eps_i changes the supremum by at most 2 (R/n) sqrt(A_+ + A_-) |x_i|.
    differences = 2.0 * R / n * math.sqrt(float(A.sum())) * np.linalg.norm(points, axis=1)
    width = 0.0 if exact else math.sqrt(float((differences**2).sum()) * math.log(2 / 0.01) / (2 * eps.shape[0]))
    return Complexity(value=mean, low=max(0.0, mean - width), high=mean + width, draws=eps.shape[0], exact=exact)
