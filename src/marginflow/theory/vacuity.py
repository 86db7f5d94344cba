"""When a bound on a perturbation says nothing: one threshold for every theorem, with its reason."""

import math


def says_nothing(size: float, d: int) -> bool:
    r"""Whether a perturbation is so long that flipping with it is not news: ||z|| >= sqrt(d).

    The points of the theorems have norm sqrt(d) (samples in [VYS22], means in [FVBS23]), so a step of length sqrt(d)
    takes any of them to the origin, where a network has one sign for all. Every network whatever is flipped there on
    all points of one label. Only a shorter vector tells KKT points from other networks, and sqrt(d) is also the order
    that both papers compare with.

    Parameters
    ----------
    size : float
        ||z||; not a number says nothing.
    d : int
        Ambient dimension.
    """
    return not size < math.sqrt(d)
