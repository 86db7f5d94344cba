r"""[FCB22, Lemmas A.1, 4.6 and 4.9] How weights grow, and why a subnetwork with a margin is enough.

The hypotheses are checked as events on the run, with the constants C1 and C2 that were measured on it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.fcb22.conditions import alignment, orthogonality
from marginflow.theory.fcb22.constants import E2, GROWTH, ORTHOGONALITY, WEIGHT_GROWTH, C3_proved
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import RUN, Path, path_of
from marginflow.theory.fcb22.recorded import figure, lost_cluster, planted, tight
from marginflow.theory.frame import Check, Findings, Forms, Instance, Statement, at_least, at_most, below, equal, value


def complete(path: Path) -> Check:
    """The run reached T = 1 + 1/(4 alpha)."""
    return equal("last recorded step against T = 1 + 1/(4 alpha)", float(path.times[-1]), path.numbers.steps)


def weight_growth(path: Path) -> tuple[Check, Check]:
    """Lemma A.1 at every recorded time t >= 1."""
    later = path.times >= 1
    t = path.times[later]
    a = np.where(path.a > 0, path.a, 1.0)
    single = path.norms[later] / (a * path.alpha * t[:, None])
    whole = np.sqrt((path.norms[later] ** 2).sum(axis=1)) / (path.alpha * t)
    return (
        at_most("|w_j| / (|a_j| alpha t)", single, WEIGHT_GROWTH),
        at_most("||W||_F / (alpha t)", whole, WEIGHT_GROWTH),
    )


def slopes(path: Path) -> Check:
    """Eqs. (17), (35): every -l' is at least e^-2 / 2 up to the end."""
    least = 1.0 / (1.0 + np.exp(np.abs(path.values).max()))
    return at_least("smallest -l'(y_i f(x_i))", float(least), E2 / 2)


def growth(path: Path) -> Check:
    """Eqs. (18), (21), (37): <w_j, mu> grows in every step from t = 1 on, in units of alpha |a_j|."""
    after = path.growth[path.times[:-1] >= 1]
    return at_least("growth of <w_j, mu> per step / (alpha |a_j|), t >= 1", after, GROWTH)


def small_start(path: Path) -> Check:
    """omd <= alpha / 3."""
    return at_most("omega sqrt(md) / alpha", path.numbers.omd / path.alpha, 1 / 3)


def _weights(instance: Instance) -> Findings:
    path = path_of(instance)
    run = GoodRun.of(path)
    single, whole = weight_growth(path)
    return Findings(
        hypotheses=(
            run.initial_norms()[1],
            at_most("|x_i|", path.sample.norms, math.sqrt(2)),
            small_start(path),
        ),
        constants=(
            value("K* = max |w_j| sqrt(m) / (alpha t)", single.observed),
            value("max |x_i - mu|", float(path.sample.distances.max()), "|x| <= sqrt(2) needs at most sqrt(2) - 1"),
            value("1 + 1/sqrt(3)", 1 + 1 / math.sqrt(3), "printed as at most sqrt(2) = 1.414"),
        ),
        conclusions=(single, whole),
    )


LEMMA_A_1: Final = Statement(
    id="FCB22/LemA.1",
    kind="lemma",
    number="Lemma A.1",
    meaning="After t steps a neuron has norm at most 2 |a_j| alpha t: a small start is soon forgotten.",
    formula=r"\|w_j^{(t)}\| \le 2 |a_j| \alpha t, \quad \|W^{(t)}\|_F \le 2 \alpha t \quad (t \ge 1)",
    needs=("data", "run", "initial"),
    parameters=RUN,
    judge=_weights,
    example=tight,
    control=figure,
    control_shows="the start of Figure 1 has norm 1/4, far above alpha / 3",
    forms=Forms(
        printed=r"\|x_i\| \le 1 + 1/\sqrt{3} \le \sqrt{2}",
        proved=r"\|x_i - \mu\| \le \sqrt{2} - 1 \implies \|x_i\| \le \sqrt{2}",
        remark="1 + 1/sqrt(3) = 1.577 is larger than sqrt(2); |x - mu|^2 <= 0.1716 is needed instead of 1/3. The bound "
        "'C1 sigma^2 d + 1/C1' is not that of Lemma 4.3(b).",
    ),
)


def _subnetwork(instance: Instance) -> Findings:
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
        conclusions=(at_least("y f(x)", whole, 1 / (2 * Cf)),),
    )


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


LEMMA_4_6: Final = Statement(
    id="FCB22/Lem4.6",
    kind="lemma",
    number="Lemma 4.6",
    meaning="If nearly all neurons together have a margin, the whole network has half of it, whatever the others do.",
    formula=r"\|W\|_F \le 1, \; \|x\| \le 2, \; y f^J(x) \ge \tfrac{1}{C_f}, \; \tfrac{|J^c|}{m} \le "
    r"\tfrac{1}{16 C_f^2} \implies y f(x) \ge \tfrac{1}{2 C_f}",
    needs=("network", "data"),
    parameters={"inside": "number of neurons in J, the first ones; all but one by default"},
    judge=_subnetwork,
    example=lambda: _planted_part(8),
    control=lambda: _planted_part(96),
    control_shows="more than a third of the neurons work against the others",
    forms=Forms(
        sharp=r"y f(x) \ge y f^J(x) - \sqrt{|J^c|/m} \, \|W_{J^c}\|_F \|x\|",
        remark="On a trained network ||W||_F is about 0.3: rescale it to 1 first, or the condition forces J = [m].",
    ),
)


def subnetwork_margin(path: Path) -> Check:
    """Lemma 4.9: clean label times f^J(x_i) at the end."""
    return at_least("clean label times f^J(x_i)", path.subnetwork_margins(), 1 / C3_proved(path.C0))


def _margin(instance: Instance) -> Findings:
    path = path_of(instance)
    s, run = path.numbers, GoodRun.of(path)
    shrink = (1 - 1 / path.C0) ** 2
    J = path.neurons
    K_end = float(path.orthogonality[-1].max(initial=0.0))
    after = path.growth[path.times[:-1] >= 1]
    g = float(after.min()) if after.size else math.nan
    m = J.a.size
    small, across = J.sizes.min() / m, max(int(J.sizes[:2].sum()), int(J.sizes[2:].sum())) / m
    semi = path.alpha * (small * g * (path.times[-1] - 1) - K_end * across)
    eq20 = E2 * shrink / 1024 - ORTHOGONALITY * path.alpha
    return Findings(
        hypotheses=(
            complete(path),
            *run.event(),
            alignment(path),
            orthogonality(path),
            at_most("alpha, Eq. (20)", path.alpha, E2 * shrink / 6144),
            at_most("C1 sd, for the samples", run.C1 * s.sd, E2 * shrink / 4096),
            at_most("alpha, for ||W||_F <= 1", path.alpha, 0.25),
        ),
        constants=(
            value("g*", g, "least growth per step in units of alpha |a_j|; the paper has 0.0021"),
            value("K at the end", K_end, "the paper allows 3"),
            at_least("right side of Eq. (20) against 0", eq20, 0.0, note="negative: the literal bound says nothing"),
            value("semi-empirical bound on f^J(mu)", semi, "alpha [ |J_mu|/m g* (T - 1) - K |J_opp|/m ]"),
            value("least clean label times f^J(x_i)", float(path.subnetwork_margins().min())),
            value("1/C3", 1 / C3_proved(path.C0)),
        ),
        conclusions=(
            at_most("||W^T||_F", float(np.linalg.norm(path.end.W)), 1.0),
            slopes(path),
            growth(path),
            subnetwork_margin(path),
        ),
    )


LEMMA_4_9: Final = Statement(
    id="FCB22/Lem4.9",
    kind="lemma",
    number="Lemma 4.9",
    meaning="Aligned and almost orthogonal neurons make a subnetwork with a margin for the clean labels.",
    formula=r"\tilde y_i f^J(x_i; W^{(T)}) \ge \tfrac{1}{C_3}, \quad C_3 = \tfrac{4096 e^2}{(1 - 1/C_0)^2}, \quad "
    r"\|W^{(T)}\|_F \le 1",
    needs=("data", "run", "initial"),
    parameters=RUN,
    judge=_margin,
    example=planted,
    control=lost_cluster,
    control_shows="a cluster whose labels are flipped for the most part is learned as they say",
    forms=Forms(
        printed=r"\text{Conditions 4.7 and 4.8 at times } 1, \dots, T - 1",
        proved=r"\text{Conditions 4.7 and 4.8 at times } 1, \dots, T",
        remark="Both conditions are used at time T. Eq. (18) bounds noisy samples of the own cluster by C1 sd although "
        "<x_i, mu> is about 1 there (Eq. (37) does it right) and has wrong signs on the sums over mu2. Eq. (20) is "
        "negative unless alpha <= 4.4e-5: then T is above 5600. For larger alpha the margin is only measured. "
        "Conditions 4.7 and 4.8 are checked at the recorded times only: record every step.",
    ),
)
