"""The global max-margin network on the line, with a proof that it is global."""

from marginflow.arrays import real_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.line.planar import NotSettledError, PlanarProgram
from marginflow.limit.line.result import LineLimit, line_samples, result, unsettled


def max_margin(data: Dataset, *, width: int | None = None, time_limit: float | None = None) -> LineLimit:
    r"""The network of least norm among all two-layer networks with margin 1 on a line.

    .. math:: \min_{\theta} \tfrac12 \|\theta\|^2 \quad\text{s.t.}\quad y_i N(x_i) \ge 1, \qquad
              = \max_{\lambda \ge 0} \sum_i \lambda_i \quad\text{s.t.}\quad \sup_{\|t\| = 1} |F_\lambda(t)| \le 1

    A sparse linear program over the kinks at samples and the peaks of the dual function found so far gives the
    structure; Newton's method on that structure gives the numbers; the supremum of the dual function over all arcs,
    evaluated in integers, proves that no other network is better. Any width of at least that of the result is optimal.

    Source: [KYS23, Def.P1 and X.GlobalLP].

    Parameters
    ----------
    data : Dataset
        Samples on a line (dimension 1), in any order; coinciding samples must agree in their label.
    width : int or None
        Number of neurons, met by splitting; None for as few as were found (at most about the number of samples).
    time_limit : float, optional
        Seconds after which the best bracket so far is returned; too few for the first linear program are an error.

    Returns
    -------
    LineLimit
        Its gap is the proof: about 1e-12 of the objective is typical, more where time ran out.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import line
    >>> data = Dataset(X=[[0.1], [0.2], [0.3], [0.4], [0.9]], y=[1, -1, 1, -1, 1])
    >>> best = line.max_margin(data)
    >>> best.gap < 1e-12
    True
    >>> round(best.objective, 3)
    108.402
    """
    budget = Budget(time_limit=None if time_limit is None else real_number("time_limit", time_limit, at_least=0.0))
    try:
        limit = max_margin_within(budget, data)
    except OutOfTimeError:
        raise InputError(f"time_limit is {time_limit:g} seconds, too few for the first linear program.") from None
    return limit if width is None else limit.widened(width)


def max_margin_within(budget: Budget, data: Dataset) -> LineLimit:
    """The same before a budget is over; an `OutOfTimeError` where there is nothing by then."""
    rows, y, owner = line_samples(data)
    try:
        solution = PlanarProgram(rows, y, budget).optimum()
    except NotSettledError:
        raise InputError(unsettled("The global optimum", rows)) from None
    return result(solution, data, owner)
