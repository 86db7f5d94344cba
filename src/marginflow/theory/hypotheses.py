"""Hypotheses that statements of every paper share, each defined once: being a KKT point, and being unmet."""

import math
from collections.abc import Iterable

from marginflow.certificates import DEFAULT_TOLERANCE, NEAR_TOLERANCE, Certificate
from marginflow.theory.check import Check
from marginflow.theory.findings import UndefinedError, undefined
from marginflow.theory.instance import Instance


def is_kkt_point(judged: Instance | Certificate | Iterable[Certificate], name: str = "KKT residual") -> Check:
    """Whether a network at margin 1 is a KKT point of its max-margin problem: its certificate is asked, nobody else.

    The number is `Certificate.residual`, the largest of all residuals with Clarke weights at the kinks; the tolerance
    is that of `Certificate.holds`.

    Parameters
    ----------
    judged : Instance, Certificate or several of these
        The network and data of an instance, a certificate made elsewhere, or several, of which the worst counts.
    name : str
        What to call the number.
    """
    if isinstance(judged, Instance):
        judged = judged.certificate
    certificates = (judged,) if isinstance(judged, Certificate) else tuple(judged)
    worst = max(certificates, key=lambda certificate: certificate.residual, default=None)
    if worst is None:
        return Check(name, math.inf, "<=", DEFAULT_TOLERANCE, note="no network was given")
    note = _distance(worst)
    if len(certificates) > 1:
        note = f"worst of {len(certificates)} networks; {note}"
    return Check(name, worst.residual, "<=", DEFAULT_TOLERANCE, note=note)


def _distance(certificate: Certificate) -> str:
    """How far from a KKT point, in words, and what helps."""
    residual = certificate.residual
    if certificate.status == "does not separate":
        return "the network does not separate the data"
    if certificate.holds():
        return "at margin 1, Clarke weights at kinks"
    if certificate.holds(NEAR_TOLERANCE):  # worth polishing
        return (
            f"near a KKT point, {residual / DEFAULT_TOLERANCE:.3g} times the tolerance away: `marginflow limit` "
            "reaches the point itself, and VYS22/X.cert judges a point that is only near"
        )
    return "far from a KKT point: train longer, or let `marginflow limit` find one"


def unmet(*hypotheses: Check | Iterable[Check]) -> bool:
    """Whether some of these hypotheses is not met, so that what follows cannot be computed."""
    flat = (check for given in hypotheses for check in ((given,) if isinstance(given, Check) else given))
    return any(check.state != "met" for check in flat)


def require(
    hypotheses: Check | tuple[Check, ...], note: str = "", *constants: Check, given: bool | None = None
) -> tuple[Check, ...]:
    """These hypotheses, or the end of the judge with `undefined(hypotheses, note, constants)` unless all are met.

    Where `given` says it, that decides instead: what follows may be computable although a hypothesis fails, and the
    other way round. An open question has no claim to write down; what is known of it by then are the constants.
    """
    asked = (hypotheses,) if isinstance(hypotheses, Check) else hypotheses
    if unmet(asked) if given is None else not given:
        raise UndefinedError(undefined(asked, note, constants))
    return asked
