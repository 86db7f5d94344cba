r"""Which kind of overfitting? Clean error against noise rate, its slope, and its trend as the problem grows.

The definitions are limits [KYS23, Def.Regimes]: the error of interpolating networks tends to 0 (benign), to 1/2
(catastrophic), or to something in between (tempered) as the number of samples or the dimension grows. A finite table
cannot prove a limit. The verdict here says what the table suggests: the error at ten times the largest size, read off
a line in the logarithm of the size with its uncertainty, beside two thresholds that are stated. One size gives none.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from marginflow.arrays import FloatArray, real_number, vector
from marginflow.display import Brief
from marginflow.errors import InputError

Regime = Literal["benign", "tempered", "catastrophic", "mixed", "undecided"]

BENIGN_SHARE: Final = 0.1
"""An error below this share of the noise rate counts as near 0: 1-nearest neighbour has a share of 1."""
NEAR_HALF: Final = 0.45
"""An error above this counts as near 1/2."""


@dataclass(frozen=True, kw_only=True)
class OverfittingCell:
    """Clean error at one size and one noise rate: mean over `runs`, and an interval for the mean."""

    size: float
    noise: float
    runs: int
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class FittedLine:
    """A least-squares line: intercept, slope, the standard error of the slope, and R^2."""

    intercept: float
    slope: float
    slope_error: float
    r_squared: float


@dataclass(frozen=True, kw_only=True)
class Trend:
    """How the error at one noise rate moves with the size, and where that leads.

    `line` is against ln(size); [lower, upper] is the error it gives at ten times the largest size, cut to [0, 1].
    """

    noise: float
    line: FittedLine
    lower: float
    upper: float
    verdict: Regime


@dataclass(frozen=True, kw_only=True)
class OverfittingProfile(Brief):
    """The table behind a verdict on overfitting, and the verdict.

    Parameters
    ----------
    cells : tuple of Cell
        By size, then noise rate.
    fits : dict of size to Line
        Error against noise rate, for every size with at least two noise rates below 1/2; slope 1 is 1-NN.
    trends : tuple of Trend
        One for every noise rate in (0, 1/2) that was seen at two sizes or more.
    verdict : "benign", "tempered", "catastrophic", "mixed" or "undecided"
        What all decided trends say; "mixed" when they disagree, "undecided" without a decided trend.
    confidence : float
        Of every interval.
    """

    cells: tuple[OverfittingCell, ...]
    fits: dict[float, FittedLine]
    trends: tuple[Trend, ...]
    verdict: Regime
    confidence: float

    @property
    def evidence(self) -> str:
        """The reason for the verdict in one sentence."""
        if not self.trends:
            return "No noise rate in (0, 1/2) was measured at two sizes, and regimes are limits."
        expected = ", ".join(
            f"p = {trend.noise:g}: [{trend.lower:.3g}, {trend.upper:.3g}] ({trend.verdict})" for trend in self.trends
        )
        return f"Error expected at ten times the largest size: {expected}."

    def __str__(self) -> str:
        return f"{self.verdict}. {self.evidence}"


def overfitting_profile(
    noise: ArrayLike,
    errors: ArrayLike,
    sizes: ArrayLike,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    confidence: float = 0.95,
) -> OverfittingProfile:
    """Tempered, benign or catastrophic? From clean errors that were measured elsewhere; nothing is trained here.

    Parameters
    ----------
    noise, errors, sizes : arrays, shape (n,)
        For every run the noise rate p, the clean test error, and the number that grows (samples m, or dimension d).
    lower, upper : arrays, shape (n,), or None
        Intervals of the single errors (`Estimate.lower`, `Estimate.upper`). They widen the interval of a cell, which
        otherwise comes from the spread of its runs; a cell of one run without them is known only to lie in [0, 1].
    confidence : float

    Examples
    --------
    >>> from marginflow.generalisation import overfitting_profile
    >>> p = [0.1, 0.1, 0.3, 0.3] * 3
    >>> m = [50] * 4 + [100] * 4 + [200] * 4
    >>> profile = overfitting_profile(p, [0.10, 0.11, 0.30, 0.29, 0.09, 0.10, 0.31, 0.30] + [0.1, 0.1, 0.3, 0.3], m)
    >>> profile.verdict
    'tempered'
    >>> round(profile.fits[200.0].slope, 6)
    1.0
    """
    p, L = vector("noise", noise), vector("errors", errors)
    s = vector("sizes", sizes)
    if not p.size == L.size == s.size or p.size == 0:
        raise InputError(f"noise, errors, sizes have {p.size}, {L.size}, {s.size} entries; equal numbers are expected.")
    for name, values in (("noise", p), ("errors", L)):
        outside = values[(values < 0) | (values > 1)]
        if outside.size:
            raise InputError(f"{name} has the value {outside[0]:g}; [0, 1] is expected.")
    if s.min() <= 0:
        raise InputError(f"sizes has the value {s.min():g}; positive sizes are expected.")
    confidence = real_number("confidence", confidence, above=0.0, below=1.0)
    if (lower is None) != (upper is None):
        raise InputError("lower and upper belong together; both or neither is expected.")
    ends = None
    if lower is not None and upper is not None:
        ends = np.column_stack([vector("lower", lower, p.size), vector("upper", upper, p.size)])
    cells = tuple(
        _cell(size, rate, L[index], None if ends is None else ends[index], confidence)
        for size in np.unique(s).tolist()
        for rate in np.unique(p[s == size]).tolist()
        for index in [(s == size) & (p == rate)]
    )
    fits = {}
    for size in np.unique(s).tolist():
        row = [cell for cell in cells if cell.size == size and cell.noise < 0.5]
        if len(row) >= 2:
            fits[size] = _line([cell.noise for cell in row], [cell.mean for cell in row])
    rates = sorted({cell.noise for cell in cells if 0 < cell.noise < 0.5})
    columns = [[cell for cell in cells if cell.noise == rate] for rate in rates]
    trends = tuple(_trend(column) for column in columns if len(column) >= 2)
    decided = {trend.verdict for trend in trends} - {"undecided"}
    verdict: Regime = "undecided" if not decided else (decided.pop() if len(decided) == 1 else "mixed")
    return OverfittingProfile(cells=cells, fits=fits, trends=trends, verdict=verdict, confidence=confidence)


def _cell(size: float, rate: float, errors: FloatArray, ends: FloatArray | None, confidence: float) -> OverfittingCell:
    mean, n = float(errors.mean()), errors.size
    if n > 1:
        quantile = float(special.stdtrit(n - 1, 0.5 + confidence / 2))  # two-sided, of Student's t
        half = quantile * float(errors.std(ddof=1)) / math.sqrt(n)
        low, high = mean - half, mean + half
    elif ends is not None:
        low = high = mean
    else:
        low, high = 0.0, 1.0
    if ends is not None:  # the intervals of the single errors, averaged: never narrower than they are
        low, high = min(low, float(ends[:, 0].mean())), max(high, float(ends[:, 1].mean()))
    return OverfittingCell(size=size, noise=rate, runs=n, mean=mean, lower=max(0.0, low), upper=min(1.0, high))


def _line(x: list[float], y: list[float]) -> FittedLine:
    X, Y = np.array(x), np.array(y)
    spread = float(((X - X.mean()) ** 2).sum())
    slope = float(((X - X.mean()) * (Y - Y.mean())).sum()) / spread
    intercept = float(Y.mean()) - slope * float(X.mean())
    rest = float(((Y - intercept - slope * X) ** 2).sum())
    total = float(((Y - Y.mean()) ** 2).sum())
    error = math.sqrt(rest / (len(x) - 2) / spread) if len(x) > 2 else math.inf
    return FittedLine(
        intercept=intercept, slope=slope, slope_error=error, r_squared=1.0 - rest / total if total > 0 else 1.0
    )


def _trend(column: list[OverfittingCell]) -> Trend:
    """The line through the means, and the worst lines through the ends of their intervals."""
    x = [math.log(cell.size) for cell in column]
    line = _line(x, [cell.mean for cell in column])
    target = x[-1] + math.log(10.0)
    # The predicted value is linear in the cell values, with these weights; each cell moves inside its interval. Errors
    # of independent cells add in squares, and the half-widths stand for the same multiple of a standard error.
    centre = np.array(x) - np.mean(x)
    weights = 1.0 / len(x) + (target - np.mean(x)) * centre / float((centre**2).sum())
    predicted = float(weights @ np.array([cell.mean for cell in column]))

    above = np.array([cell.upper - cell.mean for cell in column])
    under = np.array([cell.mean - cell.lower for cell in column])
    low = predicted - float(np.linalg.norm(weights * np.where(weights > 0, under, above)))
    high = predicted + float(np.linalg.norm(weights * np.where(weights > 0, above, under)))
    low, high = (min(1.0, max(0.0, end)) for end in (low, high))
    rate = column[0].noise
    verdict: Regime = "undecided"
    if high <= BENIGN_SHARE * rate:
        verdict = "benign"
    elif low >= NEAR_HALF:
        verdict = "catastrophic"
    elif low > BENIGN_SHARE * rate and high < NEAR_HALF:
        verdict = "tempered"
    return Trend(noise=rate, line=line, lower=low, upper=high, verdict=verdict)
