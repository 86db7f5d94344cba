"""One vector for many samples, said in a sentence."""

import math

# Relative gap below which the two bounds are one number to a reader.
_AGREE = 1e-6


def shortest_sentence(*, upper: float, lower: float, share: float, samples: int, does: str) -> str:
    """What is known of the shortest vector that does something to a share of the samples, without the full stop.

    Examples
    --------
    >>> from marginflow.robustness.shortest import shortest_sentence
    >>> shortest_sentence(upper=0.5, lower=0.5, share=1.0, samples=60, does="flips")
    'one vector of norm 0.5 flips all 60 samples, and none shorter does'
    """
    many = f"all {samples} samples" if share == 1.0 else f"{100 * share:g} % of {samples} samples"
    if not math.isfinite(upper):
        return f"no vector was found that {does} {many}; none shorter than {lower:.6g} does"
    exact = math.isclose(upper, lower, rel_tol=_AGREE)
    least = "and none shorter does" if exact else f"and none shorter than {lower:.6g} does"
    return f"one vector of norm {upper:.6g} {does} {many}, {least}"
