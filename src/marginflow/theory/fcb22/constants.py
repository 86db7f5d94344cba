r"""The explicit constants of the proofs of [FCB22], each written down once.

C is the constant of (A1)-(A7), C0 the threshold of the neuron sets, C1 the geometry of the samples, C2 the edge of the
activations at initialisation, C3 the margin of the subnetwork; gamma is the margin of the whole network.
"""

import math
from typing import Final

E2: Final = math.exp(-2.0)
"""e^-2: while |f| <= 2, every -l' is at least e^-2 / 2, Eq. (17)."""
C0_PAPER: Final = 4.0**5 * 1024.0**2 * math.exp(4.0)
"""The C0 of a good run, Definition 4.5: 5.86e10."""
C0_MEASURED: Final = 2.0
"""The C0 at which neuron sets are reported where none is given: most neurons belong to J, and all of them amplify."""
C1_PAPER: Final = 2.0
"""Lemma 4.3 asks for C1 >= 2; the constant of Paouris' inequality behind it is not explicit."""
GAMMA: Final = E2 / (16 * 1024)
"""The margin of Theorem 3.1, Eq. (45), and the constant of Proposition 3.2: 8.26e-6."""
GROWTH: Final = E2 / 64
"""Least growth of <w_j, mu> in one step, in units of alpha |a_j|, Eqs. (18), (21), (37): 0.0021."""
ORTHOGONALITY: Final = 3.0
"""Condition 4.8: |<w_j, mu_opposite>| <= 3 alpha |a_j|."""
WEIGHT_GROWTH: Final = 2.0
"""Lemma A.1: |w_j| <= 2 |a_j| alpha t."""
CORRELATION_LATER: Final = E2 / 256
"""Normalised correlation with the own mean after the first step, Eq. (38)."""
HOEFFDING: Final = math.sqrt(0.5)
"""The c of Hoeffding's inequality for means of variables in [0, 1]: P(mean - p >= u) <= exp(-2 n u^2)."""


def C2_proved(C0: float) -> float:
    """The C2 that the proof of Lemma 4.4 gives, 12 C0 sqrt(2 pi e), Eq. (12)."""
    return 12.0 * C0 * math.sqrt(2.0 * math.pi * math.e)


def C3_proved(C0: float) -> float:
    """C3 = 4096 e^2 / (1 - 1/C0)^2, Lemma 4.9."""
    return 4096.0 / E2 / (1.0 - 1.0 / C0) ** 2 if C0 != 1 else math.inf
