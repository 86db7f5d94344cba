r"""X.cert: Theorem 4.1 for networks that are only nearly KKT points; deterministic and sound.

Write wt_j = (w_j, b_j) = v_j sum_i y_i mu_ij xt_i + e_j with mu >= 0, and mu_ij = 0 where pre_ij < -tau_j; let the
margins lie in [1, Q], D = d - (m - 1) p, E+- = sqrt(d + 1) sum_{J+-} |v_j| ||e_j||. The proofs of Lemmas C.2 to C.8
carry every e_j along and use nothing else: neither sigma' <= 1, nor a multiplier shared by the neurons, nor the
equation for v.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
from scipy.optimize import nnls

from marginflow.arrays import BoolArray, FloatArray
from marginflow.data import Dataset
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.theory.frame import Check, Findings, Instance, above, at_least, at_most, require, stated, value
from marginflow.theory.instances import at_point
from marginflow.theory.vys22.presets import orthogonal_preset
from marginflow.theory.vys22.setting import Setting

# Widths of the band below zero in which a sample may still carry a weight, relative to ||wt_j|| sqrt(d + 1).
_BANDS: Final = (0.0, 1e-6, 1e-4, 1e-3, 1e-2, 3e-2)


@dataclass(frozen=True, eq=False, kw_only=True)
class NearKKT:
    """What the samples explain of every neuron, and the rest: v, ||e_j||, tau and sum_i mu_ij, shapes (k,), and Q."""

    setting: Setting
    v: FloatArray
    rest: FloatArray
    tau: FloatArray
    Lam: FloatArray
    Q: float

    def side(self, sign: int) -> BoolArray:
        """J+ or J-."""
        return self.v >= 0 if sign > 0 else self.v < 0

    def E(self, sign: int) -> float:
        """sqrt(d + 1) sum over J+ or J- of |v_j| ||e_j||."""
        return float(np.sqrt(self.setting.d + 1) * (np.abs(self.v) * self.rest)[self.side(sign)].sum())

    def S(self, sign: int) -> float:
        """sum over J+ or J- of v_j^2 Lambda_j, from the weights themselves."""
        return float((self.v**2 * self.Lam)[self.side(sign)].sum())

    def S_bound(self, sign: int) -> float:
        """n (1 - E) / ((n - 1)(p + 1) + d + 1), which S cannot be below."""
        n = self.setting.n_plus if sign > 0 else self.setting.n_minus
        return n * (1 - self.E(sign)) / ((n - 1) * (self.setting.p + 1) + self.setting.d + 1)

    def bound(self, eta: float) -> float:
        """No sample has y_i N(x_i - y_i eta u) above this; needs eta >= (p + 1) / D."""
        D = self.setting.D_sharp
        eta_2 = eta - (self.setting.p + 1) / D
        length = eta * self.setting.u_norm
        root = float(np.sqrt(self.setting.d + 1))
        sizes = np.abs(self.v) * self.rest
        totals = [
            self.Q
            - eta_2 * D * self.S(-label)
            + (root + length) * sizes[self.side(-label)].sum()
            + length * sizes[self.side(label)].sum()
            + (np.abs(self.v) * self.tau)[self.side(-label)].sum()
            for label in (1, -1)
        ]
        return float(max(totals))


def nearest_kkt(network: TwoLayer, setting: Setting, eta: float) -> NearKKT:
    """Non-negative least squares for every neuron, with the band that makes the bound at eta smallest.

    Any mu >= 0 is allowed, so every choice of band is sound; the network must have smallest margin 1.
    """
    pre = network.preactivations(setting.X)
    Xt = augmented_samples(setting.X, bias=True)
    wt = network.augmented if network.b is not None else np.column_stack([network.W, np.zeros(network.width)])
    reach = float(np.sqrt(setting.d + 1))
    length = eta * setting.u_norm
    eta_2_D = eta * setting.D_sharp - (setting.p + 1)
    # Only the part of a neuron in the span of the samples can be explained; the rest is carried along as a number.
    basis, triangle = np.linalg.qr(Xt.T)
    inside = wt @ basis
    outside = np.linalg.norm(wt - inside @ basis.T, axis=1)
    k = network.width
    rest, tau, Lam = np.empty(k), np.zeros(k), np.zeros(k)
    for j in range(k):
        v = float(network.v[j])
        size = float(np.linalg.norm(wt[j]))
        best = (abs(v) * (reach + length) * size, size, 0.0, 0.0)
        for band in _BANDS if v != 0 else ():
            chosen = np.flatnonzero(pre[:, j] >= -band * size * reach)
            if chosen.size == 0:
                continue
            mu, inner = nnls(v * triangle[:, chosen] * setting.y[chosen], inside[j], maxiter=50 * chosen.size)
            e = float(np.hypot(inner, outside[j])) * (1 + 1e-12)
            used = chosen[mu > 0]
            t = max(0.0, -float(pre[used, j].min(initial=0.0)))
            total = float(mu.sum())
            cost = abs(v) * ((reach + length) * e + t) - eta_2_D * v**2 * total
            if cost < best[0]:
                best = (cost, e, t, total)
        rest[j], tau[j], Lam[j] = best[1:]
    Q = float((setting.y * network(setting.X)).max())
    return NearKKT(setting=setting, v=network.v, rest=rest, tau=tau, Lam=Lam, Q=Q)


@cache
def disturbed() -> Instance:
    """The orthogonal preset, width 6, with Gaussian noise of half a per cent on its parameters."""
    point = orthogonal_preset(width=6)
    network = point.the_network()
    assert network.b is not None
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(network.augmented.shape)
    noise *= 0.005 * np.linalg.norm(network.augmented) / np.linalg.norm(noise)
    moved = replace(network, W=network.W + noise[:, :-1], b=network.b + noise[:, -1])
    return point.only("data", name="the orthogonal preset with 0.5 % noise", network=moved)


@cache
def short_samples() -> Instance:
    """The exact pair on the orthogonal preset with one sample of each label a tenth as long."""
    data = orthogonal_preset().the_data()
    X = data.X.copy()
    for label in (1.0, -1.0):
        X[np.flatnonzero(data.y == label)[0]] *= 0.1
    return at_point(convex_pair(Dataset(X=X, y=data.y)), "the exact pair on samples of unequal length")


@stated(
    id="VYS22/X.cert",
    kind="theorem",
    number="from Lemmas C.2 to C.8",
    meaning="Theorem 4.1 for networks near a KKT point: a certified bound on y N(x - y z), with every error counted.",
    formula=r"N(x_i - \eta u) \le Q - \eta_2 D S_- + (\sqrt{d+1} + \eta \|u\|) \sum_{J^-} |v_j| \|e_j\| "
    r"+ \eta \|u\| \sum_{J^+} v_j \|e_j\| + \sum_{J^-} |v_j| \tau_j",
    example=disturbed,
    control=short_samples,
    control_shows="two samples are a tenth as long as the others: u hardly moves them, and the bound is too low",
)
def approximate_kkt(instance: Instance) -> Findings:
    """For the flip-only, literal and sharp steps: the certified bound, and what the network really does there."""
    setting = Setting.of(instance.the_data())
    network = instance.certificate.network
    fitted = instance.certificate.status != "does not separate"
    hypotheses = (
        setting.equal_norms(),
        setting.balanced(),
        above("d - (m - 1) p", setting.D_sharp, 0.0),
        at_least("margins after rescaling", float(instance.certificate.margins.min()) if fitted else -np.inf, 1.0),
    )
    given = fitted and setting.n_least > 0 and setting.D_sharp > 0 and setting.u_norm > 0
    require(hypotheses, "no bound for these data", given=given)
    constants: list[Check] = []
    conclusions: list[Check] = []
    for form in ("sharp", "flip", "literal") if setting.D > 0 else ("sharp",):  # the printed z needs d - m p > 0
        eta = sum(setting.steps(form))
        near = nearest_kkt(network, setting, eta)
        bound = near.bound(eta)
        note = f"||z|| = {eta * setting.u_norm:.4g}"
        moved = setting.moved(network, eta)
        conclusions.append(
            at_most(f"y_i N(x_i - y_i z), {form} z", moved, bound, scale=1.0, note=note, vacuous=bound >= 0)
        )
        constants.append(value(f"certified bound, {form} z", bound, note))
        if form == "sharp":
            constants += [
                value("Q", near.Q),
                value("E+", near.E(1)),
                value("E-", near.E(-1)),
                at_least("S+ against its bound", near.S(1), near.S_bound(1)),
                at_least("S- against its bound", near.S(-1), near.S_bound(-1)),
            ]
    residual = instance.certificate.residuals.hidden_stationarity
    return Findings(
        value("stationarity in (W, b)", residual), *constants, hypotheses=hypotheses, claims=tuple(conclusions)
    )
