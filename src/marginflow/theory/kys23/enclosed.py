r"""An exact local minimum on the line near a network in floating point, and rigorous bounds on its values.

`prove_kkt_point` encloses one exact KKT point theta* with ||theta* - theta|| <= e ||theta||, every multiplier and every
Clarke weight strictly inside. If in addition every kink sits on a sample of the other label and no neuron is zero, it
is a local minimum (`certificates.minimality`), and

.. math:: |N_{\theta^*}(x) - N_\theta(x)| \le e (2 + e) \|\theta\|^2 \sqrt{x^2 + 1} .
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify, prove_kkt_point
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Counterexample, Instance
from marginflow.theory.kys23.line import line_samples

# Rounding of one value of N, in units of the sum of its terms; far more than it is.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class EnclosedMinimum:
    """A network in floating point, at margin 1, parallel neurons merged; the exact minimum is within e ||theta||."""

    network: TwoLayer
    e: float

    def values(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """N of the exact local minimum at given points, enclosed: lower and upper ends."""
        points = np.asarray(x, dtype=np.float64)[:, None]
        middle = self.network(points)
        terms = np.maximum(self.network.preactivations(points), 0.0) @ np.abs(self.network.v)
        reach = self.e * (2 + self.e) * self.network.norm_squared() * np.hypot(points[:, 0], 1.0)
        width = 1.001 * reach + _ROUNDING * (terms + 1.0)
        return middle - width, middle + width


def enclose_minimum(instance: Instance) -> EnclosedMinimum | None:
    """The local minimum next to the network of an instance; None where its local minimality is not proved this way."""
    data = instance.the_data()
    merged = instance.the_network().at_margin_one(data.X, data.y).compact(tolerance=1e-9)
    try:
        proof = prove_kkt_point(merged, data)
    except InputError:  # without python-flint there is no ball arithmetic, and no proof
        return None
    if not proof.proved or proof.distance is None:
        return None
    certificate = certify(merged, data)
    own = certificate.network.v[None, :] * data.y[:, None] > 0
    if bool((certificate.kinks & own & certificate.support[:, None]).any()) or not bool(certificate.live.all()):
        return None
    return EnclosedMinimum(network=certificate.network, e=proof.distance)


def refuted_at_minimum(
    instance: Instance, contradiction: Callable[[EnclosedMinimum, FloatArray, FloatArray], str | None]
) -> Counterexample | None:
    """A proof that the exact local minimum next to a network breaks a claim; None where there is none.

    `contradiction` is asked for it with the minimum, the samples in order and their labels, and says it in words that
    go on from "is enclosed".
    """
    found = enclose_minimum(instance)
    what = None if found is None else contradiction(found, *line_samples(instance.the_data()))
    if what is None:
        return None
    summary = f"an exact local minimum is enclosed {what}"
    return Counterexample(summary=summary, proof="ball arithmetic of 192 bits (Krawczyk's test)")
