"""The numbers that steer the bracket around the global optimum, together, each with what it was measured on.

They were tried on random labels of 8 to 20 samples in two to ten dimensions (`tests/limit/test_global_bracket.py`,
`tests/limit/starts/test_columns.py`). Where nothing is said about other values, none were compared; what is relative to
a length or to a sum bounds rounding.
"""

# The bracket ----------------------------------------------------------------------------------------------------------

# Bounds are rounded outwards by this share.
OUTWARDS = 1e-13
# The dual function may exceed 1 by this much before a direction counts as an improvement.
EXCESS, LEAST_EXCESS = 1e-6, 1e-9
# Rounds of the program before Newton's method is tried on its structure.
ROUNDS_BEFORE_NEWTON = 5
# What the dual function may exceed 1 by: Newton's multipliers are exact, those of a linear program are not.
PROVED = 1e-11
PROVED_BY_PROGRAM = 1e-8
# Multipliers of the same value, the nearest that no known direction violates, that are tried for the proof.
MAX_CENTRES = 40
# Regions of the sphere are enumerated up to this many samples in three dimensions.
MAX_REGIONS = 150

# Columns --------------------------------------------------------------------------------------------------------------

# Feasibility of HiGHS.
PROGRAM_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
# Sum of the slacks of a hard margin below which they are rounding of the program.
SLACK = 1e-7
# Directions closer than this are one.
SAME_DIRECTION = 1e-10

# Structures -----------------------------------------------------------------------------------------------------------

# Pairs whose Clarke weight is this far from 0 and 1 are on a kink.
KINK_WEIGHT = 1e-5

# Suprema of the dual function -----------------------------------------------------------------------------------------

# Relative size of rounding in a sum of pre-activations; added to every bound.
ROUNDING = 1e-14
# Times that the ranges of a node are narrowed before it is split.
TIGHTENINGS = 6
# From this dimension on the quadratic majorant is worth its price.
QUADRATIC_FROM = 4

# The quadratic majorant -----------------------------------------------------------------------------------------------

# Iterations of L-BFGS.
MAJORANT_STEPS = 80
# Least distance of gamma from the largest eigenvalue of M, relative to gamma; closer is ill-conditioned.
APART = 1e-7
