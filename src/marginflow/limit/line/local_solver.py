"""Local minima of the max-margin problem on the line: every neuron keeps to its own territory."""

import numpy as np

from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.line.planar import NotSettledError, PlanarProgram
from marginflow.limit.line.result import LineLimit, line_samples, result, unsettled
from marginflow.limit.line.walk import Walk
from marginflow.networks import TwoLayer


def local_minimum(
    data: Dataset, *, start: TwoLayer | None = None, seed: int = 0, neurons: int | None = None
) -> LineLimit:
    r"""A local minimum of the max-margin problem that is reached by walking down from a start.

    The circle of directions is cut by the samples that have a neuron's own label; between two such cuts, in its
    *territory*, a neuron of sign s sees a concave function :math:`s F_\lambda`. With every neuron confined to its
    territory the problem is convex, and is solved exactly. A neuron that ends on the border of its territory would
    gain by crossing it, so it is moved across and the problem solved again: the objective falls, and the walk ends
    where every neuron is at a peak inside its territory. There the point is a local minimum: each term of
    :math:`\sum_j [\tfrac12 (v_j^2 + \|u_j\|^2) - v_j F_\lambda(u_j)]` is minimal, and no neuron is zero.

    Source: [KYS23, Def.LocMin]; the restricted version of [KYS23, X.GlobalLP].

    Parameters
    ----------
    data : Dataset
        Samples on a line (dimension 1).
    start : TwoLayer or None
        A network of dimension 1 with bias that classifies every sample correctly; its neurons' signs and territories
        are the start. None for random neurons.
    seed : int
        For random neurons: kinks uniform over the range of the samples, both ways of facing, both signs.
    neurons : int or None
        Number of random neurons (default: as many as samples); doubled until the samples can be separated.

    Returns
    -------
    LineLimit
        With `gap` > 0 and `dual_supremum` > 1 where the minimum is not global.

    Examples
    --------
    >>> from marginflow.limit import line
    >>> from marginflow.limit.closed_forms import closed_form
    >>> known = closed_form.five_points()
    >>> found = line.local_minimum(known.data, start=known.network)
    >>> round(2 * found.objective, 3), round(found.dual_supremum, 3)
    (290.028, 2.009)
    """
    rows, y, owner = line_samples(data)
    walk = Walk(PlanarProgram(rows, y))
    if start is not None:
        if start.dimension != 1 or start.b is None:
            raise InputError(f"start is {start!r}; a network of dimension 1 with bias is expected.")
        margins = start.margins(data.X, data.y)
        if margins.min() <= 0:
            raise InputError(
                f"start does not classify sample {int(np.argmin(margins))} correctly; "
                "a network that separates the data is expected."
            )
    try:
        if start is None:
            solution = walk.from_random(seed, neurons)
        else:
            solution = walk.down(walk.territories_of(start.augmented, start.v))
    except NotSettledError:
        raise InputError(unsettled("The local minimum", rows)) from None
    return result(solution, data, owner)
