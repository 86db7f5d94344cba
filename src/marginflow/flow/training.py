"""`train`: a network, data and a recipe in; a run out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import whole_number
from marginflow.data.dataset import Dataset
from marginflow.display import Plotted
from marginflow.errors import InputError
from marginflow.flow.descent import AbstractRecipe, Descent
from marginflow.flow.engines import Engine, trainable
from marginflow.flow.loop import Loop, TrainingProgress
from marginflow.flow.stopping import AbstractStop
from marginflow.flow.trainable import Network
from marginflow.flow.trajectory import Recording, Trajectory
from marginflow.losses import as_power_of_ten
from marginflow.plain import Plain


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Plotted, Plain):
    """The outcome of training.

    Parameters
    ----------
    network : TwoLayer or MLP
        The network at the end, in the dimension of the data.
    status : str
        Why training ended: the sentence of a stop rule, or "interrupted", "diverged" (the parameters overflowed; the
        network is the last finite one), "stalled" (the gradient is zero, no step lowers the loss, or the
        second half of a flow's steps did not).
    steps, epochs : int
        Steps made and passes over the samples.
    log_loss : float
        ln L over all samples at the end.
    log_time : float
        ln of the flow time t, the sum of the rates on L.
    trajectory : Trajectory
        Records on the way; the last one is the end.
    engine : str
        How gradients were computed: "dense", "span", "gram", "planar" or "layers"; all are exact.
    plan : Descent
        What was carried out.
    seconds : float
        Wall time.
    """

    plain_names = (
        *("status", "separated", "steps", "epochs", "loss", "log_loss", "log_time", "least_margin"),
        *("normalised_margin", "engine", "seconds"),
    )

    network: Network
    status: str
    steps: int
    epochs: int
    log_loss: float
    log_time: float
    trajectory: Trajectory
    engine: Engine
    plan: Descent
    seconds: float

    @property
    def separated(self) -> bool:
        """Whether every sample is classified correctly, y_i N(x_i) > 0."""
        return self.least_margin > 0.0

    @property
    def least_margin(self) -> float:
        """min_i y_i N(x_i) at the end."""
        return float(self.trajectory.least_margin[-1])

    @property
    def normalised_margin(self) -> float:
        """min_i y_i N(x_i) / ||theta||^degree at the end; nan where the network is not homogeneous."""
        return float(self.trajectory.normalised_margin[-1])

    @property
    def loss(self) -> str:
        """The loss at the end, which may be smaller than any floating point number, as a power of ten."""
        return as_power_of_ten(self.log_loss)

    def __repr__(self) -> str:
        fitted = "all samples correct" if self.separated else "not all samples correct"
        return f"Run({self.status} after {self.steps} steps, loss {self.loss}, {fitted}, {self.seconds:.1f} s)"


def train(
    network: Network,
    data: Dataset,
    recipe: AbstractRecipe | Descent,
    *,
    seed: int = 0,
    stop: Sequence[AbstractStop] = (),
    recording: Recording | None = None,
    progress: Callable[[TrainingProgress], None] | None = None,
    engine: Engine = "auto",
) -> Run:
    """Train a network on data as a recipe says.

    Parameters
    ----------
    network : TwoLayer or MLP
        Where training begins; it is not changed.
    data : Dataset
        Samples with both labels and without contradictions.
    recipe : AbstractRecipe or Descent
        A published recipe such as `recipes.VYS22()`, or a plan of your own.
    seed : int
        Order of mini-batches; without them training is deterministic.
    stop : sequence of AbstractStop
        Further reasons to stop.
    recording : Recording or None
        What to keep on the way; None for the defaults.
    progress : callable or None
        Called with a `TrainingProgress` now and then.
    engine : "auto", "dense", "span", "gram" or "planar"
        How gradients are computed; "auto" takes the cheapest. All are exact.

    Returns
    -------
    Run
        Always: an interrupt (Ctrl-C) or an overflow ends the run with its status and the last consistent state.

    Examples
    --------
    >>> import marginflow as mf
    >>> from marginflow.flow import recipes, train
    >>> data = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    >>> net = mf.networks.TwoLayer.initialise(width=20, dimension=2, seed=0)
    >>> run = train(net, data, recipes.VYS22(every=20))
    >>> run.status, run.separated
    ('loss reached', True)
    """
    if network.dimension != data.dimension:
        raise InputError(f"The data have dimension {data.dimension}, but the network has {network.dimension}.")
    data.require_two_classes()
    data.require_no_contradiction()
    plan = recipe.plan(network, data.n_samples) if isinstance(recipe, AbstractRecipe) else recipe
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    batch = None if plan.batch is None or plan.batch >= data.n_samples else plan.batch
    chosen, model = trainable(
        network, data.X, data.y, batch=batch, engine=engine, needs_lengths=plan.schedule.needs_lengths
    )
    loop = Loop(model, plan, (*plan.stop, *stop), batch, rng, data.n_samples, network.degree, recording or Recording())
    status = loop.run(progress)
    log_loss = loop.recorder.records[-1].log_loss
    return Run(
        network=model.network(loop.now.theta),
        status=status,
        steps=loop.now.step,
        epochs=loop.epoch,
        log_loss=log_loss,
        log_time=loop.now.log_time,
        trajectory=loop.recorder.trajectory(),
        engine=chosen,
        plan=plan,
        seconds=loop.clock(),
    )
