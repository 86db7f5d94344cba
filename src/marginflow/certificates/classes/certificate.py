"""What is known about a classifier and the KKT conditions of its max-margin problem."""

from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, real_number
from marginflow.certificates.certificate import DEFAULT_TOLERANCE
from marginflow.display import Plotted
from marginflow.networks import Classifier
from marginflow.networks.evaluation import count_wrong
from marginflow.plain import Plain


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierKKT(Plotted, Plain):
    r"""How far a classifier is from a KKT point of min ||theta||^2/2 s.t. f_{y_i}(x_i) - f_t(x_i) >= 1 for t != y_i.

    Attributes
    ----------
    stationarity : float
        ||theta - sum_it lambda_it d(f_{y_i} - f_t)(x_i)|| / ||theta||, theta at margin 1.
    feasibility : float
        max(0, 1 - least margin).
    dual_feasibility : float
        How far lambda >= 0 and the bounds on mu are violated, relative to the largest lambda.
    complementarity : float
        2 sum_it lambda_it (margin_it - 1) / ||theta||^2.
    total : float
        (stationarity^2 + weight^2 complementarity^2)^(1/2), which the multipliers minimise.
    norm_identity : float
        |2 sum_it lambda_it / ||theta||^2 - 1|; zero at a KKT point.
    multipliers : array, shape (n, K)
        lambda_it at margin 1; zero for t = y_i.
    mu : array, shape (n, k)
        What the kinks contribute: sum_t lambda_it (v_{j, y_i} - v_{j, t}) sigma_ijt with sigma in [0, 1].
    shared_weights : bool
        Whether one Clarke weight per sample and neuron, the same for all rivals, gives this mu: the stricter condition
        that backpropagation obeys.
    kinks : bool array, shape (n, k)
    margins : array, shape (n, K)
        f_{y_i} - f_t at margin 1; infinite for t = y_i.
    network : Classifier
        The network at margin 1.
    scale : float
        The factor that took theta there.
    """

    status: Literal["solved", "does not separate"]
    stationarity: float
    feasibility: float
    dual_feasibility: float
    complementarity: float
    total: float
    norm_identity: float
    multipliers: FloatArray
    mu: FloatArray
    shared_weights: bool
    kinks: BoolArray
    margins: FloatArray
    network: Classifier
    scale: float

    @property
    def residual(self) -> float:
        """The largest of all residuals; infinite if the data are not separated."""
        if self.status == "does not separate":
            return np.inf
        return float(max(self.stationarity, self.feasibility, self.dual_feasibility, self.complementarity))

    def holds(self, tolerance: float = DEFAULT_TOLERANCE) -> bool:
        """Whether every residual is at most the tolerance."""
        return self.residual <= real_number("tolerance", tolerance, at_least=0.0)

    def plain_values(self) -> dict[str, object]:
        """The numbers."""
        numbers = "stationarity feasibility dual_feasibility complementarity total norm_identity scale shared_weights"
        return {
            "holds": self.holds(),
            "tolerance": DEFAULT_TOLERANCE,
            "status": self.status,
            "bias": self.network.b is not None,
            "n_samples": self.margins.shape[0],
            "n_classes": self.network.n_classes,
            "width": self.network.width,
            "dimension": self.network.dimension,
            "norm_squared": self.network.norm_squared(),
            **{name: getattr(self, name) for name in numbers.split()},
            "multiplier_sum": self.multipliers.sum(),
            "active_pairs": (self.multipliers > 0).sum(),
            "kink_count": self.kinks.sum(),
        }

    def plain_arrays(self) -> dict[str, object]:
        """Multipliers, margins (None for t = y_i), mu on the kinks as (sample, neuron, number)."""
        rows, columns = np.nonzero(self.kinks)
        on_kinks = list(zip(rows, columns, self.mu[rows, columns], strict=True))
        return {"multipliers": self.multipliers, "margins": self.margins, "mu": on_kinks}

    def summary(self, tolerance: float = DEFAULT_TOLERANCE) -> str:
        """The certificate in a few lines, judged at `tolerance`."""
        n, K = self.margins.shape
        if self.status == "does not separate":
            wrong = count_wrong(self.margins.min(axis=1))
            return f"Not a KKT point: the network does not separate the classes ({wrong} of {n} samples are wrong)."
        answer = "holds" if self.holds(tolerance) else "does not hold"
        active = self.multipliers > 0
        return "\n".join(
            [
                f"KKT certificate (max margin, {K} classes) {answer} at {tolerance:.0e}",
                f"  stationarity     {self.stationarity:.2e}",
                f"  complementarity  {self.complementarity:.2e}",
                f"  feasibility      {self.feasibility:.2e}",
                f"  dual             {self.dual_feasibility:.2e}",
                f"  ||theta||^2 = {self.network.norm_squared():.6g}, sum lambda = {self.multipliers.sum():.6g}, "
                f"identity off by {self.norm_identity:.1e}",
                f"  {int(active.sum())} pairs of a sample and a rival class with multiplier, of "
                f"{int(active.any(axis=1).sum())} of {n} samples; {int(self.kinks.sum())} kinks"
                + ("" if self.shared_weights else ", whose Clarke weights depend on the rival"),
            ]
        )

    def __bool__(self) -> NoReturn:
        raise TypeError("A certificate is neither true nor false: ask certificate.holds() or certificate.residual.")

    def __repr__(self) -> str:
        if self.status == "does not separate":
            return "ClassifierKKT(does not separate the data)"
        active, kinks = int((self.multipliers > 0).sum()), int(self.kinks.sum())
        return f"ClassifierKKT(residual {self.residual:.2g}, {active} active pairs, {kinks} kinks)"
