r"""An exact local minimum on the line near a network in floating point, and rigorous bounds on its values.

`prove_kkt_point` encloses one exact KKT point theta* with ||theta* - theta|| <= e ||theta||, every multiplier and every
Clarke weight strictly inside. If in addition every kink sits on a sample of the other label and no neuron is zero, it
is a local minimum (`certificates.minimality`), and

.. math:: |N_{\theta^*}(x) - N_\theta(x)| \le e (2 + e) \|\theta\|^2 \sqrt{x^2 + 1} .
"""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify, prove_kkt_point
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.findings import Counterexample

# Rounding of one value of N, in units of the sum of its terms; far more than it is.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class EnclosedMinimum:
    """A network, and how far the exact local minimum may be from it.

    Parameters
    ----------
    network : TwoLayer
        In floating point, at margin 1, parallel neurons merged.
    distance : float
        Of the exact point, relative to ||theta||.
    """

    network: TwoLayer
    distance: float

    def values(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """N of the exact local minimum at given points, enclosed: lower and upper ends."""
        points = np.asarray(x, dtype=np.float64)[:, None]
        middle = self.network(points)
        terms = np.maximum(self.network.preactivations(points), 0.0) @ np.abs(self.network.v)
        e = self.distance
        reach = e * (2 + e) * self.network.norm_squared() * np.hypot(points[:, 0], 1.0)
        width = 1.001 * reach + _ROUNDING * (terms + 1.0)
        return middle - width, middle + width


def enclose_minimum(network: TwoLayer, data: Dataset) -> EnclosedMinimum | str:
    """The enclosure, or the sentence that says why there is none."""
    merged = network.at_margin_one(data.X, data.y).compact(tolerance=1e-9)
    try:
        proof = prove_kkt_point(merged, data)
    except InputError as error:  # without python-flint there is no ball arithmetic, and no proof
        return str(error)
    if not proof.proved or proof.distance is None:
        return f"no exact KKT point is enclosed: {proof.reason}"
    certificate = certify(merged, data)
    own = certificate.network.v[None, :] * data.y[:, None] > 0
    if bool((certificate.kinks & own & certificate.support[:, None]).any()):
        return "a kink sits on a sample of the neuron's own label, so that local minimality is not proved this way."
    if not bool(certificate.live.all()):
        return "a neuron is zero, so that local minimality is not proved this way."
    return EnclosedMinimum(network=certificate.network, distance=proof.distance)


def proved_of_minimum(what: str) -> Counterexample:
    """The counterexample of an enclosed local minimum: what it is, behind "is enclosed"."""
    summary = f"an exact local minimum is enclosed {what}"
    return Counterexample(summary=summary, proof="ball arithmetic of 192 bits (Krawczyk's test)")
