r"""[VYS22, after Theorem 2.1] A KKT point need not be a local optimum: one in closed form, with its descent.

Two samples x = 1 and x = -1, both positive. With a_i = (x_i, 1) of length r = sqrt(2), which are orthogonal, neuron i
looks along a_i alone:

.. math:: u_i = \frac{a_i}{r \sqrt r}, \quad v_i = \frac{1}{\sqrt r}, \quad N(x_i) = 1, \quad
          \|\theta\|^2 = \frac{4}{r}, \quad \lambda_i = \frac{1}{r}.

For 0 < s < 1 let the first neuron lean over, u_1(s) = (a_1 + (1 - s^2) a_2) / (r sqrt r), and scale u_2 and v_2 by s.
Then N(x_1) = N(x_2) = 1 still, and ||theta(s)||^2 = (3 + s^4) / r < 4 / r, while theta(s) tends to theta as s tends
to 1: the point is not a local minimum. All of it but the factor 1/r is rational in s.
"""

from fractions import Fraction

import numpy as np

from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, below, equal, is_kkt_point, stated, true, value


def leaning(s: float) -> TwoLayer:
    """theta(s); s = 1 is the KKT point."""
    r = np.sqrt(2.0)
    a = np.array([[1.0, 1.0], [-1.0, 1.0]])
    U = np.vstack([a[0] + (1 - s**2) * a[1], s * a[1]]) / r**1.5
    return TwoLayer(W=U[:, :1], b=U[:, 1], v=np.array([1.0, s]) / np.sqrt(r))


@stated(
    id="VYS22/Rem.notlocal",
    number="Section 2, after Theorem 2.1",
    meaning="A KKT point of the max-margin problem need not be a local optimum: arbitrarily near is a shorter network.",
    formula=r"y_i N_{\theta(s)}(x_i) = 1, \quad \|\theta(s)\|^2 = \frac{3 + s^4}{4} \|\theta\|^2 < \|\theta\|^2, \quad "
    r"\theta(s) \to \theta \ (s \to 1)",
    needs=("parameters",),
    parameters={"s": "how near, between 0 and 1; 0.999 by default"},
    example=lambda: Instance(name="two positive samples on the line"),
    control=lambda: Instance(name="the point itself", parameters={"s": 1.0}),
    control_shows="at s = 1 the network is the KKT point itself, and not shorter",
    control_outcome="violated",
    known="Quoted in the paper without an example; this one is exact, on two samples.",
)
def rem_notlocal(instance: Instance) -> Findings:
    """The certificate of theta(1), and theta(s) in rational arithmetic: feasible, shorter, and near."""
    s = Fraction(instance.number("s", 0.999, at_least=0.0, at_most=1.0))
    data = Dataset(X=np.array([[1.0], [-1.0]]), y=np.array([1.0, 1.0]))
    point, moved = leaning(1.0), leaning(float(s))
    # r^(1/2) u_j in the orthonormal coordinates a_i / r; r^(1/2) v_j is 1 and s, and `size` is r ||theta(s)||^2.
    first, second = (Fraction(1), 1 - s**2), (Fraction(0), s)
    margins = [first[i] + second[i] * s for i in (0, 1)]
    size = sum(c**2 for c in (*first, *second)) + 1 + s**2
    gap = float(np.sqrt(((moved.augmented - point.augmented) ** 2).sum() + ((moved.v - point.v) ** 2).sum()))
    return Findings(
        value("||theta||^2", point.norm_squared()),
        value("||theta(s)||^2", moved.norm_squared()),
        value("||theta(s) - theta||", gap),
        claims=(
            is_kkt_point(certify(point, data), "KKT residual of theta"),
            true("y_i N(x_i) = 1 at theta(s), in rational arithmetic", margins == [1, 1]),
            true("||theta(s)|| < ||theta||, in rational arithmetic", size < 4),
        ),
        arithmetic=(
            true("r ||theta(s)||^2 = 3 + s^4", size == 3 + s**4),
            equal("||theta(s)||^2 in floating point", moved.norm_squared(), float(size) / np.sqrt(2.0)),
            below("||theta(s) - theta|| / ||theta||", gap / np.sqrt(point.norm_squared()), 1.0),
        ),
    )
