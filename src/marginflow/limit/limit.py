"""What `kkt_point` returns: the point, its certificate, and how far the polish moved from the flow."""

from dataclasses import dataclass

from marginflow.certificates import DEFAULT_TOLERANCE, Certificate
from marginflow.display import Plotted
from marginflow.limit.budget import Progress, Stop
from marginflow.networks import TwoLayer
from marginflow.plain import Plain


@dataclass(frozen=True)
class Moved:
    """What changed since the network that the caller gave or, from a random one, since the end of the flow.

    Never call a polished point the limit of the flow without these numbers.

    Attributes
    ----------
    cosine : float
        Cosine between the outputs before and after on fresh points (Gaussian, mean and covariance of the samples).
    norm_squared_before, norm_squared_after : float
        ||theta||^2 at margin 1; infinite before if the flow had not separated the data yet.
    patterns_changed : float
        Share of (sample, surviving neuron) pairs whose activation changed; of many samples some stand for all.
    neurons_vanished : float
        Share of the flow's neurons that the polish set to zero.
    separated_by_flow : bool
        Whether every margin was positive before the polish.
    """

    cosine: float
    norm_squared_before: float
    norm_squared_after: float
    patterns_changed: float
    neurons_vanished: float
    separated_by_flow: bool


@dataclass(frozen=True, eq=False)
class Limit(Plotted, Plain):
    """A KKT point of the max-margin problem, with the evidence.

    Attributes
    ----------
    network : TwoLayer
        At margin 1, with the requested width.
    compact : TwoLayer
        The same function with as few neurons as it has directions.
    certificate : Certificate
        Of `network`, from the certificates room, which knows no solver.
    gap : float
        Relative duality gap of the last convex problem (C), recomputed from the multipliers.
    moved : Moved or None
        What the polish changed; None where the point comes from no flow and from no network of the caller.
    history : tuple of Progress
        One entry for every round.
    status : str
        A sentence.
    exact : bool
        Whether the structure was identified and the equations solved to rounding error.
    stopped_by : "interrupt", "time limit" or None
        What ended the work before it was done; None if nothing did.
    seconds, flow_seconds : float
        Wall time of everything, and of the flow alone.
    """

    plain_names = (
        *("status", "exact", "stopped_by", "gap", "network.width", "live_neurons", "moved"),
        *("seconds", "flow_seconds", "history", "certificate"),
    )

    network: TwoLayer
    compact: TwoLayer
    certificate: Certificate
    gap: float
    moved: Moved | None
    history: tuple[Progress, ...]
    status: str
    exact: bool
    seconds: float
    flow_seconds: float
    stopped_by: Stop | None = None

    @property
    def live_neurons(self) -> int:
        """Neurons of different directions."""
        return self.compact.width

    def __repr__(self) -> str:
        kind = "KKT point" if self.certificate.holds() else "not a KKT point"
        return (
            f"Limit({kind}, residual {self.certificate.residual:.1e}, {self.compact.width} different neurons of "
            f"{self.network.width}, {int(self.certificate.margin_set.sum())} of {self.certificate.margins.size} "
            f"samples on the margin, {self.seconds:.2g} s)"
        )

    def __str__(self) -> str:
        return self.describe()

    def describe(self, tolerance: float = DEFAULT_TOLERANCE) -> str:
        """The point in a few lines, its certificate judged at `tolerance`."""
        lines = [
            self.status,
            self.certificate.summary(tolerance),
            f"  relative duality gap of the convex problem: {self.gap:.1e}",
        ]
        if self.moved is not None:
            m = self.moved
            filled = m.neurons_vanished > 0.0 and self.certificate.live.all()
            lines.append(
                f"  the polish moved the outputs by cosine {m.cosine:.4f}, ||theta||^2 {m.norm_squared_before:.5g} -> "
                f"{m.norm_squared_after:.5g}, {100 * m.patterns_changed:.1f} % of patterns changed, "
                f"{100 * m.neurons_vanished:.0f} % of the flow's neurons vanished"
                + (" (those that remain were split to fill the width)" if filled else "")
            )
        lines.append(f"  {self.seconds:.2f} s, of which flow {self.flow_seconds:.2f} s")
        return "\n".join(lines)
