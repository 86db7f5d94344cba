"""Every KKT point with biases on orthonormal samples, in fractions.

The derivation stands in theory/kys23/thm_4_3/orthonormal.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class OrthonormalKKT:
    """beta and lambda of either sign, in fractions."""

    beta_plus: Fraction
    beta_minus: Fraction
    lam_plus: Fraction
    lam_minus: Fraction


def orthonormal_kkt(q: int, k: int, a_plus: Fraction, a_minus: Fraction) -> OrthonormalKKT:
    r"""The KKT point on q positive and k negative orthonormal samples, for a_+ = sum v_j^2 over the live neurons, a_-.

    .. math:: \beta_+ = q \lambda_+ - k \min(\beta_+, \lambda_-), \quad
              a_+ (\lambda_+ + \beta_+) - a_- (\beta_- - \lambda_+)_+ = 1

    and the same with the signs exchanged.

    """
    m = q + k
    if a_minus * q > a_plus * (1 + q):  # negative samples are strictly active on the positive neurons
        lam_minus = Fraction(1 + 2 * q) / ((a_plus + a_minus) * (1 + m))
        lam_plus = (1 / a_plus + k * lam_minus) / (1 + q)
        beta_plus, beta_minus = q * lam_plus - k * lam_minus, k * lam_minus / (1 + q)
        return OrthonormalKKT(beta_plus=beta_plus, beta_minus=beta_minus, lam_plus=lam_plus, lam_minus=lam_minus)
    if a_plus * k > a_minus * (1 + k):  # the mirror image
        turned = orthonormal_kkt(k, q, a_minus, a_plus)
        return OrthonormalKKT(
            beta_plus=turned.beta_minus,
            beta_minus=turned.beta_plus,
            lam_plus=turned.lam_minus,
            lam_minus=turned.lam_plus,
        )
    return OrthonormalKKT(  # all opposite pairs are on the kink
        beta_plus=Fraction(q) / (a_plus * (1 + m)),
        beta_minus=Fraction(k) / (a_minus * (1 + m)),
        lam_plus=Fraction(1 + k) / (a_plus * (1 + m)),
        lam_minus=Fraction(1 + q) / (a_minus * (1 + m)),
    )
