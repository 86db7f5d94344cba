"""What a certificate says: how far a network is from a KKT point, and by which multipliers."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.display import Brief, Plotted
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import count_wrong
from marginflow.plain import Plain

DEFAULT_TOLERANCE = 1e-8
"""Default of `Certificate.holds`."""
EXACT_TOLERANCE = 1e-9
"""What a KKT point that was computed is held to before it is called exact."""
NEAR_TOLERANCE = 1e-2
"""Residual up to which a network that is no KKT point is called near one: a hundredth of the parameters unexplained."""

Status = Literal["solved", "candidate accepted", "does not separate"]


@dataclass(frozen=True, eq=False, kw_only=True)
class KinkReport:
    """How kinks were recognised, and what depends on it.

    Attributes
    ----------
    tolerance : float
        Pairs with |pre_ij| <= tolerance ||(w_j, b_j)|| ||(x_i, 1)|| count as kinks.
    count : int
        Number of kinks among neurons that are not zero.
    largest_inside, smallest_outside : float
        Largest relative distance of a kink and smallest of any other pair: every tolerance in
        [largest_inside, smallest_outside) gives this same certificate.
    relied_on : float
        Largest relative distance of a kink whose Clarke weight differs from the hard 0/1 pattern and matters.
        The certificate speaks of the subdifferential enlarged by this much.
    hard_residual : float or None
        Stationarity with the hard pattern pre > 0 and the best multipliers for it (None if there are no kinks to
        soften).
    """

    tolerance: float
    count: int
    largest_inside: float
    smallest_outside: float
    relied_on: float
    hard_residual: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Residuals(Brief):
    """By how much each KKT condition fails, theta at margin 1.

    Attributes
    ----------
    stationarity : float
        ||theta - sum_i lambda_i y_i dN(x_i)|| / ||theta||.
    feasibility : float
        max(0, 1 - min_i y_i N(x_i)); 0 for a soft margin, where slack is allowed.
    dual_feasibility : float
        How far lambda_i >= 0 (and <= C), clarke in [0, 1] are violated; relative to max lambda.
    complementarity : float
        degree * sum_i lambda_i (y_i N(x_i) - 1) / ||theta||^2; with a soft margin plus the term (C - lambda_i)(1 -
        y_i N(x_i))_+.
    complementarity_weight : float
        Its weight in `total`.
    total_lower_bound : float
        A number below which no multipliers bring `total`.
    epsilon, delta : float
        The absolute numbers of an (epsilon, delta)-approximate KKT point: ||theta - sum ...|| and max_i lambda_i
        (y_i N(x_i) - 1).
    hidden_stationarity, output_stationarity : float
        The parts of `stationarity` in (W, b) and in v; their squares sum to its square.
    neuron_stationarity : array, shape (k,)
        The same, neuron by neuron.
    """

    stationarity: float
    feasibility: float
    dual_feasibility: float
    complementarity: float
    complementarity_weight: float
    total_lower_bound: float
    epsilon: float
    delta: float
    hidden_stationarity: float
    output_stationarity: float
    neuron_stationarity: FloatArray

    @property
    def total(self) -> float:
        """(stationarity^2 + weight^2 complementarity^2)^(1/2), which the multipliers minimise."""
        return float(np.hypot(self.stationarity, self.complementarity_weight * self.complementarity))

    @property
    def largest(self) -> float:
        """The largest of the four relative residuals."""
        return float(np.max((self.stationarity, self.feasibility, self.dual_feasibility, self.complementarity)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate(Plotted, Plain):
    r"""How far a network is from a KKT point of min ||theta||^2/2 subject to y_i N(x_i) >= 1.

    Every number is recomputed from `network`, `multipliers` and `clarke` alone.

    Attributes
    ----------
    network : TwoLayer
        The network at margin 1.
    scale : float
        The factor that took theta there.
    penalty : float or None
        C of the soft margin.
    multipliers : array, shape (n,)
        lambda at margin 1.
    clarke : array, shape (n, k)
        The derivative of the ReLU that was used for each pair, in [0, 1]; mu_ij = lambda_i clarke_ij.
    margins : array, shape (n,)
        y_i N(x_i) of the rescaled network.
    kinks : bool array, shape (n, k)
    kink_report : KinkReport
    live : bool array, shape (k,)
        Neurons with v_j != 0 that are active on at least one sample; the others are dead.
    residuals : Residuals
        The residuals in full; `stationarity`, `feasibility`, `dual_feasibility`, `complementarity`, `total` and
        `total_lower_bound` are also attributes of the certificate.
    floor : float or None
        Lower bound of the stationarity that training from a given start can ever reach (`training_floor`).
    """

    status: Status
    network: TwoLayer
    scale: float
    penalty: float | None
    multipliers: FloatArray
    clarke: FloatArray
    margins: FloatArray
    kinks: BoolArray
    kink_report: KinkReport
    live: BoolArray
    residuals: Residuals
    floor: float | None = None

    @property
    def stationarity(self) -> float:
        """||theta - sum_i lambda_i y_i dN(x_i)|| / ||theta||."""
        return self.residuals.stationarity

    @property
    def feasibility(self) -> float:
        """max(0, 1 - min_i y_i N(x_i))."""
        return self.residuals.feasibility

    @property
    def dual_feasibility(self) -> float:
        """How far the multipliers and Clarke weights leave their ranges."""
        return self.residuals.dual_feasibility

    @property
    def complementarity(self) -> float:
        """degree * sum_i lambda_i (y_i N(x_i) - 1) / ||theta||^2."""
        return self.residuals.complementarity

    @property
    def total(self) -> float:
        """Stationarity and complementarity together."""
        return self.residuals.total

    @property
    def total_lower_bound(self) -> float:
        """A number below which no multipliers bring `total`."""
        return self.residuals.total_lower_bound

    @property
    def residual(self) -> float:
        """The largest of all residuals, and the farthest kink relied on; infinite if the data are not separated."""
        if self.status == "does not separate":
            return np.inf
        return float(np.maximum(self.residuals.largest, self.kink_report.relied_on))

    def holds(self, tolerance: float = DEFAULT_TOLERANCE) -> bool:
        """Whether every KKT condition holds up to `tolerance`, and no kink farther than that was relied on."""
        return self.status != "does not separate" and self.residual <= tolerance

    @property
    def margin_set(self) -> BoolArray:
        """Samples with y_i N(x_i) <= 1 + DEFAULT_TOLERANCE."""
        return self.margins <= 1.0 + DEFAULT_TOLERANCE

    @property
    def support(self) -> BoolArray:
        """Samples with lambda_i > DEFAULT_TOLERANCE max lambda."""
        return self.multipliers > DEFAULT_TOLERANCE * float(self.multipliers.max(initial=0.0))

    @property
    def norm_identity(self) -> float:
        """|degree * sum_i lambda_i y_i N(x_i) / ||theta||^2 - 1|; zero at a KKT point."""
        norm = float(np.sqrt(self.norm_squared))
        return abs(self.network.degree * float(self.multipliers @ self.margins) / norm**2 - 1.0)

    @property
    def balance(self) -> float | None:
        """max_j | |v_j| - ||(w_j, b_j)|| | / max_j ||(w_j, b_j)||; None when outputs are frozen."""
        if self.network.outputs == "frozen":
            return None
        sizes = np.linalg.norm(self.network.augmented, axis=1)
        return float(np.abs(np.abs(self.network.v) - sizes).max() / max(sizes.max(), np.finfo(float).tiny))

    @property
    def mu(self) -> FloatArray:
        """mu_ij = lambda_i clarke_ij, shape (n, k)."""
        return self.multipliers[:, None] * self.clarke

    @property
    def norm_squared(self) -> float:
        """||theta||^2 at margin 1."""
        return self.network.norm_squared()

    def plain_values(self) -> dict[str, object]:
        """The numbers."""
        numbers = (
            "stationarity hidden_stationarity output_stationarity feasibility dual_feasibility complementarity "
            "complementarity_weight total total_lower_bound epsilon delta"
        )
        return {
            "holds": self.holds(),
            "tolerance": DEFAULT_TOLERANCE,
            "status": self.status,
            "penalty": self.penalty,
            "outputs": self.network.outputs,
            "bias": self.network.b is not None,
            "n_samples": self.margins.size,
            "width": self.network.width,
            "dimension": self.network.dimension,
            "norm_squared": self.norm_squared,
            "scale": self.scale,
            **{name: getattr(self.residuals, name) for name in numbers.split()},
            "norm_identity": self.norm_identity,
            "balance": self.balance,
            "floor": self.floor,
            "multiplier_sum": self.multipliers.sum(),
            "on_margin": self.margin_set.sum(),
            "support_size": self.support.sum(),
            "live_neurons": self.live.sum(),
            "kinks": self.kink_report,
        }

    def plain_arrays(self) -> dict[str, object]:
        """Multipliers, margins, sets as index lists, the Clarke weights of the kinks as (sample, neuron, weight)."""
        rows, columns = np.nonzero(self.kinks & (self.network.v != 0))
        return {
            "multipliers": self.multipliers,
            "margins": self.margins,
            "neuron_stationarity": self.residuals.neuron_stationarity,
            **{name: np.flatnonzero(getattr(self, name)) for name in ("margin_set", "support", "live")},
            "clarke_on_kinks": list(zip(rows, columns, self.clarke[rows, columns], strict=True)),
        }

    def __bool__(self) -> bool:
        raise InputError("A Certificate is neither true nor false; ask .holds(tolerance).")

    def __repr__(self) -> str:
        n, k = self.clarke.shape
        return (
            f"Certificate({'holds' if self.holds() else 'does not hold'} at {DEFAULT_TOLERANCE:.0e}: residual "
            f"{self.residual:.1e}, {int(self.margin_set.sum())} of {n} samples on the margin, "
            f"{int(self.live.sum())} of {k} neurons live)"
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, tolerance: float = DEFAULT_TOLERANCE) -> str:
        """The certificate in a few lines, judged at `tolerance`."""
        report = self.kink_report
        n, k = self.clarke.shape
        if self.status == "does not separate":
            return (
                f"Not a KKT point: the network does not separate the data (smallest margin {self.margins.min():.3g}, "
                f"{count_wrong(self.margins)} of {n} samples on the wrong side)."
            )
        answer = "holds" if self.holds(tolerance) else "does not hold"
        kind = "max margin" if self.penalty is None else f"soft margin, C = {self.penalty:g}"
        best = f"  no multipliers reach a total below {self.total_lower_bound:.2e} (reached: {self.total:.2e})"
        lines = [
            f"KKT certificate ({kind}) {answer} at {tolerance:.0e}",
            f"  stationarity     {self.stationarity:.2e}   "
            f"((W, b): {self.residuals.hidden_stationarity:.2e}, v: {self.residuals.output_stationarity:.2e})",
            f"  complementarity  {self.complementarity:.2e}",
            f"  feasibility      {self.feasibility:.2e}",
            f"  dual             {self.dual_feasibility:.2e}",
            *([best] if self.total_lower_bound > 0.0 else []),
            f"  ||theta||^2 = {self.norm_squared:.6g}, sum lambda = {self.multipliers.sum():.6g}, "
            f"identity off by {self.norm_identity:.1e}"
            + ("" if self.balance is None else f", balance off by {self.balance:.1e}"),
            f"  {int(self.margin_set.sum())} of {n} samples on the margin, {int(self.support.sum())} with multiplier, "
            f"{int(self.live.sum())} of {k} neurons live",
            f"  {report.count} kinks at relative tolerance {report.tolerance:.0e}; the same for every tolerance in "
            f"[{report.largest_inside:.1e}, {report.smallest_outside:.1e}); farthest relied on {report.relied_on:.1e}",
        ]
        if report.hard_residual is not None:
            lines.append(f"  with hard 0/1 patterns the stationarity would read {report.hard_residual:.2e}")
        if self.floor is not None:
            lines.append(f"  training from that start can never get below {self.floor:.2e}")
        return "\n".join(lines)
