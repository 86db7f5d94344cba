r"""[FCB22, Lemma 4.6] A subnetwork with a margin is enough."""

import math
from functools import cache

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, at_least, at_most, below, equal, stated, value


@cache
def _planted_part(outside: int) -> Instance:
    """256 neurons along one direction, of which the last `outside` carry as much against it as the norm allows."""
    m, share = 256, 0.3
    W = np.zeros((m, 3))
    W[:, 0] = math.sqrt(1 - share) / math.sqrt(m)
    W[m - outside :, 0] = math.sqrt(share) / math.sqrt(outside)
    signs = np.where(np.arange(m) < m - outside, 1.0, -1.0)
    network = TwoLayer(W=W, v=signs / math.sqrt(m), outputs="frozen")
    data = Dataset(X=np.array([[1.0, 0.0, 0.0], [1.2, 0.5, 0.0]]), y=np.ones(2))
    return Instance(
        name=f"{m} neurons, {outside} of them against the rest",
        network=network.scaled(0.999),
        data=data,
        parameters={"inside": m - outside},
    )


@stated(
    id="FCB22/Lem4.6",
    meaning="If nearly all neurons together have a margin, the whole network has half of it, whatever the others do.",
    formula=r"\|W\|_F \le 1, \; \|x\| \le 2, \; y f^J(x) \ge \tfrac{1}{C_f}, \; \tfrac{|J^c|}{m} \le "
    r"\tfrac{1}{16 C_f^2} \implies y f(x) \ge \tfrac{1}{2 C_f}",
    parameters={"inside": "number of neurons in J, the first ones; all but one by default"},
    example=lambda: _planted_part(8),
    control=lambda: _planted_part(96),
    control_shows="more than a third of the neurons work against the others",
    sharp=r"y f(x) \ge y f^J(x) - \sqrt{|J^c|/m} \, \|W_{J^c}\|_F \|x\|",
    remark="On a trained network ||W||_F is about 0.3: rescale it to 1 first, or the condition forces J = [m].",
)
def lemma_4_6(instance: Instance) -> Findings:
    """The lemma for the first neurons of a network: at the given point (x, y), J the first `inside` neurons."""
    network, data = instance.the_network(), instance.the_data()
    m = network.width
    inside = instance.whole("inside", m - 1)
    part = network.neurons(np.arange(inside))
    rest = network.W[inside:]
    margins = part.margins(data.X, data.y)
    norms = np.linalg.norm(data.X, axis=1)
    Cf = 1 / float(margins.min()) if margins.min() > 0 else math.inf
    share = (m - inside) / m
    whole = network.margins(data.X, data.y)
    sharp = margins - math.sqrt(share) * float(np.linalg.norm(rest)) * norms
    return Findings(
        hypotheses=(
            at_most("||W||_F", float(np.linalg.norm(network.W)), 1.0),
            at_most("|x|", norms, 2.0),
            below("1 against C_f = 1 / least y f^J(x)", 1.0, Cf),
            at_most("|J^c| / m", share, 1 / (16 * Cf**2)),
            equal("|a_j| sqrt(m)", np.abs(network.v) * math.sqrt(m), 1.0),
        ),
        constants=(
            value("C_f", Cf),
            value("least y f^J(x)", float(margins.min())),
            value("least y f(x)", float(whole.min())),
            value("sharper bound on it", float(sharp.min()), "y f^J - sqrt(|J^c|/m) ||W_{J^c}||_F |x|"),
            at_least("y f(x) against the sharper bound", whole, sharp),
        ),
        claims=(at_least("y f(x)", whole, 1 / (2 * Cf)),),
    )
