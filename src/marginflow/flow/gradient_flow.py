r"""Gradient flow proper, d theta / dt = -grad L, followed in log time by small second-order steps."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from marginflow.errors import InputError
from marginflow.flow.descent import AbstractRecipe, Descent, stop_rules
from marginflow.flow.schedule import AngleBounded
from marginflow.flow.stopping import AbstractStop
from marginflow.flow.trainable import Network
from marginflow.losses import AbstractLoss, Exponential


@dataclass(frozen=True, kw_only=True)
class GradientFlow(AbstractRecipe):
    r"""The path of d theta / dt = -grad L, by Heun's method on d theta / d tau = -grad ln L, d tau = L dt.

    Both equations have the same path; the second moves at a speed of order one however small L is. A step is no longer
    than angle * ||theta|| and lowers ln L by at most `decrease` to first order: the first bound keeps the direction
    accurate, the second the weights p_i, which change by a factor of about e^decrease in a step. The flow time t is
    recorded as ln t.

    Along the flow, once sum_i l(q_i) < l(0), the smoothed normalised margin q / ||theta||^degree with
    l(q) = sum_i l(q_i), which for the exponential loss is ln(1 / sum_i e^{-q_i}) / ||theta||^degree, never falls
    [Lyu and Li 2020, Thm 4.1; FVBS23 and VYS22, Thm 2.1], and v_j^2 - ||(w_j, b_j)||^2 is constant for every neuron.

    Parameters
    ----------
    angle : float
        Largest step relative to the length of theta.
    decrease : float
        Largest decrease of ln L in a step.
    loss : AbstractLoss
        The exponential sum by default.
    stop : sequence of AbstractStop
        When to stop.

    Deviations
    ----------
    The flow follows a subgradient at kinks and slides along them; here relu'(0) = 0 and a path that should slide along
    a kink crosses it back and forth within one step: second order between kinks, first order while sliding. Halving
    `angle` and `decrease` from their defaults turns theta at a loss of 1e-8 by less than 2e-3 (sphere data with n <= d,
    start with |v_j| = ||(w_j, b_j)||; tested). Where v_j changes sign while its neuron slides along a kink the flow
    itself is not unique - the neuron may leave the kink to either side - and no step size settles which way it goes;
    from |v_j| >= ||(w_j, b_j)||, as `initialisation.Balanced` gives, no v_j ever changes sign.

    Examples
    --------
    >>> import marginflow as mf
    >>> from marginflow.flow import GradientFlow, LossBelow, train
    >>> data = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    >>> net = mf.networks.TwoLayer.initialise(width=8, dimension=2, scale=0.1, seed=0)
    >>> run = train(net, data, GradientFlow(stop=[LossBelow(1e-8)]))
    >>> bool((run.trajectory.balance[-1] - run.trajectory.balance[0]).max() < 1e-4)
    True
    """

    angle: float = 0.005
    decrease: float = 0.02
    loss: AbstractLoss = field(default_factory=Exponential)
    stop: Sequence[AbstractStop]

    def __post_init__(self) -> None:
        AngleBounded(self.angle, self.decrease)
        object.__setattr__(self, "stop", stop_rules(self.stop))
        if not isinstance(self.loss, AbstractLoss):
            raise InputError(f"loss is {self.loss!r}; Exponential() or Logistic() is expected.")

    def plan(self, network: Network, n_samples: int) -> Descent:
        """Full batches, second-order steps."""
        return Descent(loss=self.loss, schedule=AngleBounded(self.angle, self.decrease), stop=self.stop, method="heun")
