r"""How margins and parameters move each other, with the patterns of one point.

With J the derivative of the margins by all hidden parameters at outputs |v_j| = sqrt(t_j), t_j = ||u_j||,

.. math:: (J J^\top)_{il} = \sum_j t_j\, \sigma_{ij} A_{ij}\, \sigma_{lj} A_{lj}\; x_i \cdot x_l ,

and J^T alpha moves neuron j by t_j sum_i sigma_ij A_ij alpha_i x_i. The matrix is applied and never formed: two
products m x r x k each time, in single precision, as all that is made of it is a guess or is judged afterwards. What
it is on average, were neurons independent of each other (as in `solver/conjugate_gradients.py`), preconditions it.
"""

import time

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from marginflow.arrays import FloatArray
from marginflow.limit.products import times_transpose, without_flags


class Tangent:
    """J of one point: rows U (k, r), signs s (k,), samples X (m, r) in single precision with their labels y (m,)."""

    @without_flags
    def __init__(self, X: NDArray[np.float32], y: FloatArray, U: FloatArray, s: FloatArray) -> None:
        self.X, self.y, self.s = X, y, s
        self.active = X @ U.T.astype(np.float32) > 0
        self.signs = np.where(self.active, (y[:, None] * s).astype(np.float32), np.float32(0.0))
        self.t: FloatArray = np.linalg.norm(U, axis=1).astype(np.float32)
        self._pairs = np.empty_like(self.signs)
        self.diagonal: FloatArray = (np.vecdot(X, X) * (self.active @ self.t)).astype(np.float64)

    @without_flags
    def pull(self, alpha: FloatArray) -> FloatArray:
        """J^T alpha: the change of every neuron, shape (k, r)."""
        np.multiply(self.signs, alpha.astype(np.float32)[:, None], out=self._pairs)
        return self.t[:, None] * (self._pairs.T @ self.X)

    @without_flags
    def times(self, alpha: FloatArray) -> FloatArray:
        """J J^T alpha, shape (m,)."""
        np.matmul(self.X, self.pull(alpha).T, out=self._pairs)
        product: FloatArray = np.vecdot(self._pairs, self.signs).astype(np.float64)
        return product

    def solve(self, f: FloatArray, *, steps: int, tolerance: float, deadline: float) -> FloatArray:
        """alpha with (J J^T + 1e-3 of its average diagonal) alpha = f, by conjugate gradients, one step at least."""
        shift = 1e-3 * float(self.diagonal.mean()) + 1e-300
        mean = _Average(self, shift)
        alpha, rest = np.zeros_like(f), f.copy()
        direction = mean.solve(rest)
        first = size = float(rest @ direction)
        for count in range(steps):
            if not size > tolerance**2 * first or (count > 0 and time.monotonic() > deadline):
                break
            image = self.times(direction) + shift * direction
            length = size / max(float(direction @ image), 1e-300)
            alpha += length * direction
            rest -= length * image
            step = mean.solve(rest)
            before, size = size, float(rest @ step)
            direction = step + (size / before) * direction
        return alpha


class _Average:
    """diag + sum over both signs T p_i y_i x_i . x_l y_l p_l, p_i the share of the neurons' T that sees sample i."""

    @without_flags
    def __init__(self, tangent: Tangent, shift: float) -> None:
        (m, r), X = tangent.X.shape, tangent.X
        own = [(tangent.s == sign) * tangent.t for sign in (1.0, -1.0)]
        shares = [np.sqrt(1.0 / float(t.sum())) * (tangent.active @ t) for t in own if t.any()]
        inside = sum((share.astype(np.float64) ** 2 for share in shares), np.zeros(m)) * np.vecdot(X, X)
        low_rank = len(shares) * r < m
        rest = tangent.diagonal - inside if low_rank else tangent.diagonal
        # A sample that one neuron alone sees has nothing outside the average.
        self._diagonal = np.maximum(rest, 1e-2 * float(tangent.diagonal.mean())) + shift
        self._B: FloatArray | None = None
        if low_rank:
            root = np.sqrt(self._diagonal).astype(np.float32)
            self._B = np.concatenate([(share * tangent.y / root)[:, None] * X for share in shares], axis=1, dtype="f4")
            inner = times_transpose(self._B.T).astype(np.float64)
            inner[np.diag_indices(len(inner))] += 1.0
            self._inner = scipy.linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    @without_flags
    def solve(self, f: FloatArray) -> FloatArray:
        """The inverse times f (Woodbury's formula)."""
        if self._B is None:
            return f / self._diagonal
        root = np.sqrt(self._diagonal)
        scaled = f / root
        size = float(np.abs(scaled).max(initial=0.0)) or 1.0  # single precision holds numbers of ordinary size
        inside = scipy.linalg.cho_solve(self._inner, (scaled / size).astype(np.float32) @ self._B, check_finite=False)
        solution: FloatArray = (scaled - size * (self._B @ inside.astype(np.float32))) / root
        return solution
