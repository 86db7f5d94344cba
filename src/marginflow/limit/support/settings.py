"""The numbers that steer `support_point`, each with what it was measured on.

*Digits*: scikit-learn's ten digits, one against the rest, four fifths for training.
"""

from __future__ import annotations

# Iterations of L-BFGS on all samples, and the width delta of the smoothed corner.
FIRST_STEPS, FIRST_CORNER = 40, 0.1
# Then on the samples with margins up to this: pairs of delta and iterations. CPU seconds of a fit, three folds in turn,
# (0.1, 100), (0.03, 200): iris 0.52, wine 0.39; 60 iterations and (0.02, 120) 0.36, 0.29, in another run 0.34, 0.28,
# where these took 0.31, 0.28. On breast cancer 60 and (0.02, 120) end at points that are less accurate by 0.6 %.
WORKING_MARGIN, CORNERS = 1.6, ((0.02, 70),)
# C where the margin is hard.
HARD_PENALTY = 100.0
# Samples with margins up to this are in the first set, and at least so many of each label; rounds of growth, and by
# how much a round may grow.
NEAR_MARGIN, LEAST_SUPPORT, SUPPORT_ROUNDS, SUPPORT_GROWTH = 1.3, 10, 12, 40
# What a sample outside the set may lack of its margin before it is taken in.
SUPPORT_SLACK = 1e-10
# Where the support does not settle: what takes seconds rather than minutes on labels that are noise.
OTHERWISE = ("line", "working set", "flow", "long flow", "rising")
# An interior point takes about so many iterations; it is left out where fewer are allowed.
INTERIOR_FROM = 100
# Of a point that is exact: a multiplier is at its cap, and a pre-activation on its kink, up to rounding.
AT_CAP, ON_KINK = 1e-9, 1e-10
