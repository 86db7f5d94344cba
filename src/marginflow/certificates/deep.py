r"""KKT certificates of deeper homogeneous networks: the best multipliers at a fixed derivative of the ReLU at 0.

For depth above two the Clarke weights of several layers multiply and the problem of finding them is not convex. Here
relu'(0) is fixed (0 unless said otherwise) and only lambda is sought; the number of pairs near a kink says how much
that may cost.
"""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, read_only, real_number
from marginflow.certificates.certificate import DEFAULT_TOLERANCE
from marginflow.certificates.multipliers.box_quadratic import minimise_in_box, solve_ridged
from marginflow.certificates.pattern import KINK_TOLERANCE
from marginflow.certificates.sizes import check_sizes, of_ordinary_size
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import MLP
from marginflow.networks.evaluation import augmented_samples
from marginflow.plain import Plain

_REFINEMENTS = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class DeepCertificate(Brief, Plain):
    """How far a homogeneous network of any depth is from a KKT point, with relu'(0) fixed.

    Attributes
    ----------
    stationarity : float
        ||theta - sum_i lambda_i y_i grad N(x_i)|| / ||theta|| at margin 1; `layer_stationarity` are its parts.
    complementarity : float
        degree * sum_i lambda_i (y_i N(x_i) - 1) / ||theta||^2.
    total, total_lower_bound : float
        (stationarity^2 + complementarity^2)^(1/2), minimised, and a bound that no lambda >= 0 beats at this relu'(0).
    near_kinks : int
        Pairs of sample and hidden neuron with |pre| <= KINK_TOLERANCE times the norms of their factors. If it is not 0,
        other derivatives at these kinks may explain the network better: then `holds` may say False at a KKT point.
    norm_identity : float
        |degree * sum_i lambda_i y_i N(x_i) / ||theta||^2 - 1|.
    """

    plain_names = (
        *("holds", "separates", "stationarity", "layer_stationarity", "feasibility", "complementarity", "total"),
        *("total_lower_bound", "norm_identity", "near_kinks", "kink", "multipliers", "margins"),
    )

    separates: bool
    stationarity: float
    layer_stationarity: tuple[float, ...]
    feasibility: float
    complementarity: float
    total: float
    total_lower_bound: float
    norm_identity: float
    near_kinks: int
    kink: float
    multipliers: FloatArray
    margins: FloatArray
    margin_set: BoolArray
    network: MLP
    scale: float

    def holds(self, tolerance: float = DEFAULT_TOLERANCE) -> bool:
        """Whether every KKT condition holds up to `tolerance` with the fixed derivative at the kinks."""
        return self.separates and max(self.stationarity, self.feasibility, self.complementarity) <= tolerance

    def __bool__(self) -> bool:
        raise InputError("A DeepCertificate is neither true nor false; ask .holds(tolerance).")

    def __str__(self) -> str:
        if not self.separates:
            return (
                f"Not a KKT point: the network does not separate the data (smallest margin {self.margins.min():.3g})."
            )
        layers = ", ".join(f"{value:.2e}" for value in self.layer_stationarity)
        return "\n".join(
            [
                f"KKT certificate (depth {self.network.depth}, relu'(0) = {self.kink:g}) "
                f"{'holds' if self.holds() else 'does not hold'} at {DEFAULT_TOLERANCE:.0e}",
                f"  stationarity     {self.stationarity:.2e}   (layers: {layers})",
                f"  complementarity  {self.complementarity:.2e}",
                f"  no multipliers reach a total below {self.total_lower_bound:.2e} (reached: {self.total:.2e})",
                f"  {self.near_kinks} pairs near a kink; their derivative is fixed, not fitted",
            ]
        )


def certify_deep(network: MLP, data: Dataset, *, kink: float = 0.0) -> DeepCertificate:
    """Measure how far a homogeneous `MLP` is from a KKT point of the max-margin problem, relu'(0) = `kink`.

    Parameters
    ----------
    network : MLP
        Homogeneous: no bias after the first layer.
    data : Dataset
    kink : float in [0, 1]
        relu'(0) in every layer.

    Returns
    -------
    DeepCertificate
    """
    kink = real_number("kink", kink, at_least=0.0, at_most=1.0)
    data.require_signs()
    degree = network.degree
    if degree is None:
        raise InputError(
            "The network has a bias after its first layer; KKT points are defined for homogeneous networks."
        )
    if network.dimension != data.dimension:
        raise InputError(f"The network has dimension {network.dimension}, but the samples {data.dimension} columns.")
    network, power = of_ordinary_size(network)
    check_sizes(network, data.X)
    if network.norm_squared() == 0.0:
        raise InputError("Every trained parameter of the network is zero; there is nothing to certify.")
    least = float(network.margins(data.X, data.y).min())
    if least <= 0:
        return _Features(network, data, kink).certificate(np.zeros(data.n_samples), scale=power, separates=False)
    scale = least ** (-1.0 / degree)
    features = _Features(network.scaled(scale), data, kink)
    return features.certificate(features.best(), scale=scale * power, separates=True)


class _Features:
    """The gradients y_i grad N(x_i) as products: D_l[i] H_{l-1}[i]' by W_l, H the activations (1 added for a bias)."""

    def __init__(self, network: MLP, data: Dataset, kink: float) -> None:
        self.network, self.data, self.kink = network, data, kink
        assert network.degree is not None
        self.degree = network.degree
        trained = network.depth if network.outputs == "trained" else network.depth - 1
        Z = network.preactivations(data.X)
        inputs = [data.X, *(np.maximum(z, 0.0) for z in Z)]
        D: FloatArray = data.y[:, None]
        back = [D]
        for index in reversed(range(1, network.depth)):
            D = (D @ network.weights[index]) * np.heaviside(Z[index - 1], kink)
            back.append(D)
        back.reverse()
        every: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for (W, b), D, H in zip(network.layers, back, inputs, strict=True):
            theta = W if b is None else np.column_stack([W, b])
            every.append((theta, D, augmented_samples(H, bias=b is not None)))
        self.layers = every[:trained]
        self.near_kinks = 0
        for z, (theta, _, H) in zip(Z, every, strict=False):
            bound = np.outer(np.linalg.norm(H, axis=1), np.linalg.norm(theta, axis=1))
            self.near_kinks += int((np.abs(z) <= KINK_TOLERANCE * bound).sum())
        self.norm = float(np.sqrt(network.norm_squared()))
        self.margins = network.margins(data.X, data.y)
        self.omega = self.degree * np.maximum(self.margins - 1.0, 0.0) / self.norm

    def residual(self, lam: FloatArray) -> tuple[list[FloatArray], float]:
        """theta - sum_i lambda_i y_i grad N(x_i), layer by layer, and the complementarity row."""
        return [theta - (lam[:, None] * D).T @ H for theta, D, H in self.layers], -float(self.omega @ lam)

    def scores(self, residual: tuple[list[FloatArray], float]) -> FloatArray:
        """Inner products of the residual with the gradients."""
        s = self.omega * residual[1]
        for R, (_, D, H) in zip(residual[0], self.layers, strict=True):
            s = s + np.einsum("ij,ij->i", D @ R, H)
        return np.asarray(s)

    def best(self) -> FloatArray:
        """lambda >= 0 with the smallest residual, refined against the residual itself."""
        K: FloatArray = np.outer(self.omega, self.omega)
        for _, D, H in self.layers:
            K = K + (D @ D.T) * (H @ H.T)
        lam = minimise_in_box(K, self.scores(self.residual(np.zeros(self.data.n_samples))), np.inf, self.omega * 0.0)
        free = np.flatnonzero(lam > 0)
        for _ in range(_REFINEMENTS if free.size else 0):
            better = lam.copy()
            better[free] += solve_ridged(K[np.ix_(free, free)], self.scores(self.residual(lam))[free], 1e-15)
            better = np.maximum(better, 0.0)
            if self._size(self.residual(better)) >= self._size(self.residual(lam)):
                break
            lam = better
        return lam

    @staticmethod
    def _size(residual: tuple[list[FloatArray], float]) -> float:
        return float(np.sqrt(sum(float(np.vdot(R, R)) for R in residual[0]) + residual[1] ** 2))

    def _lower_bound(self, lam: FloatArray) -> float:
        """As `least_squares.lower_bound`, rounding charged alike: the residual, shifted along theta into the polar."""
        residual = self.residual(lam)
        s = self.scores(residual)
        size = self._size(residual)
        if size == 0.0:
            return 0.0
        operations = self.data.n_samples + 2 * sum(sum(theta.shape) for theta, _, _ in self.layers) + 8
        gamma = operations * float(np.finfo(np.float64).eps)
        generator = sum((np.linalg.norm(D, axis=1) * np.linalg.norm(H, axis=1) for _, D, H in self.layers), self.omega)
        h = np.maximum(s + gamma * generator * size, 0.0)
        least = self.degree * self.margins - gamma * generator * self.norm
        if least.min() <= 0.0:
            return 0.0
        t = float(np.max(h / least))
        shifted = ([R - t * theta for R, (theta, _, _) in zip(residual[0], self.layers, strict=True)], residual[1])
        reached = size**2 + float(lam @ s) - gamma * size * (size + self.norm + 2.0 * float(lam @ generator))
        return max(0.0, (reached - (1.0 + gamma) * t * self.norm**2) / ((1.0 + gamma) * self._size(shifted)))

    def certificate(self, lam: FloatArray, *, scale: float, separates: bool) -> DeepCertificate:
        """Every number, from lambda alone."""
        # The residual once more through the network's own backpropagation, which shares no code with `residual`.
        gradient = self.network.gradient(self.data.X, self.data.y * lam, kink=self.kink)
        parts = []
        trained = self.network.layers[: len(self.layers)]
        for (W, b), dW, db in zip(trained, gradient.weights, gradient.biases, strict=False):
            square = float(np.linalg.norm(W - dW)) ** 2
            if b is not None and db is not None:
                square += float(np.linalg.norm(b - db)) ** 2
            parts.append(float(np.sqrt(square)) / self.norm)
        stationarity = float(np.linalg.norm(parts))
        complementarity = self.degree * float(lam @ np.abs(self.margins - 1.0)) / self.norm**2
        return DeepCertificate(
            separates=separates,
            stationarity=stationarity,
            layer_stationarity=tuple(parts),
            feasibility=max(0.0, 1.0 - float(self.margins.min())),
            complementarity=complementarity,
            total=float(np.hypot(stationarity, complementarity)),
            total_lower_bound=self._lower_bound(lam) / self.norm if separates else 0.0,
            norm_identity=abs(self.degree * float(lam @ self.margins) / self.norm**2 - 1.0),
            near_kinks=self.near_kinks,
            kink=self.kink,
            multipliers=read_only(lam),
            margins=read_only(self.margins),
            margin_set=read_only(self.margins <= 1.0 + DEFAULT_TOLERANCE),
            network=self.network,
            scale=scale,
        )
