"""The numbers that steer the interior point, together, each with what it was measured on.

*Spheres*: uniform samples with random labels at (d, m) = (2, 50), (5, 200), (10, 200), (10, 400), (30, 600), on which
the numbers of the rounds were compared. Where nothing is said about other values, none were compared; what follows
from rounding says so.
"""

import sys

# The whole ------------------------------------------------------------------------------------------------------------

# Multiplications of an iteration up to which all rounds are hard, and up to which there is an interior point at all.
CHEAP, AFFORDABLE = 7e7, 5e9
# Hard rounds before the pattern is softened after all.
FIRST_ROUNDS = 25
# Before the pattern is softened, (C) is solved to this relative gap, and the margins to this.
CENTRED, ROUGHLY = 0.3, 1e-2
# Relative gaps at which the structure is read, and iterations to each.
READ_AT = (1e-8, 1e-10, 1e-12)
READ_ITERATIONS = 15

# Rounds ---------------------------------------------------------------------------------------------------------------

# A soft pattern: its softness, the gap it starts from, the gap it ends at, and its most iterations. Spheres: softness 1
# and 3 leave many rounds; 10 raises the objective by 10 to 20 % and may collapse.
SOFTNESS, SOFT_START, SOFT_GAP, SOFT_ITERATIONS = 5.0, 0.03, 1e-4, 150
# An objective that has grown by this factor under the soft pattern shows that it was softer than the data bear.
COLLAPSED = 3.0
# So many steps in a row shorter than this, and the point is centred again at so many times the product; under the soft
# pattern, and at a pattern that stays. The latter chosen, not measured.
STUCK_STEPS, STUCK, CENTRED_AT = 4, 0.15, 10.0
STUCK_STEPS_HARD, STUCK_HARD = 6, 0.05
# A neuron is idle if all |z_ij| are below these shares of 1 - ||q_j||. Under the soft pattern they are looked for every
# so many iterations, once no margin is missed by more than this. The latter chosen, not measured.
IDLE_SOFT, IDLE_HARD = 0.1, 0.01
IDLE_EVERY, IDLE_SHORTFALL = 3, 0.1
# Frozen outputs: neurons with smaller pre-activations, in units of a margin, are left out.
UNFELT = 1e-5
# Multipliers start at least at this share of their mean.
LEAST_MULTIPLIER = 1e-2
# And, with a soft margin, at least at this share of the penalty from 0 and from the penalty. Chosen, not measured.
FROM_ENDS = 1e-3
# Relative gaps: at a cold start, at the start of a round, at its end; rounds with fewer flips would not be fewer.
COLD, WARM, ROUND_GAP = 100.0, 0.03, 1e-6
# Most iterations of a round, and most rounds. Spheres.
ROUND_ITERATIONS, MOST_ROUNDS = 80, 80
# The margins may be missed by this much at the end of a round.
SHORTFALL = 1e-6
# And by this much where rounding ends it.
AT_ROUNDING = 1e-3
# Separation: the first price in units of the mean multiplier, its growth, the rounds, and what counts as separated.
PRICE, DEARER, SEPARATION_ROUNDS, SEPARATED = 10.0, 4.0, 8, 0.5
# Relative gap and shortfall of the margins to which a round of the separation is solved.
SEPARATION_GAP = 1e-2
# Shares of flipping pairs below which it is the price that holds the margins back, not the pattern.
FEW_FLIPS = 0.01

# Sets of samples ------------------------------------------------------------------------------------------------------

# Raw breast cancer (569 x 30) and moons, circles, spirals with 1000 samples. Samples, and multiples of the dimension,
# from which a set is tried; the share of the samples in the first set, and at least so many to a dimension.
SET_FROM, SET_CROWD, FIRST_SHARE, TO_A_DIMENSION = 150, 5, 0.2, 6
# Sets that are tried, and the shares of the samples that fall short or are in the set above which it is given up.
SET_ROUNDS, MANY_SHORT, LARGEST_SHARE = 12, 0.4, 0.7
# How many of those that fall short join at least, and the margin below which samples join with them: one at a time,
# breast cancer took eight sets instead of three.
JOIN_AT_LEAST, NEAR_MARGIN = 30, 1.1
# What a sample outside the set may fall short by, and how many may for Newton's method on all samples to be tried.
SHORT, FEW_SHORT = 1e-12, 3
# Where the neurons of the last set do not do, those of the start join them at this share of their length.
COPIES = 0.1

# Structures -----------------------------------------------------------------------------------------------------------

# Iterates are compared whose gaps differ by these factors.
APART = (100.0, 1e4)

# Iterations -----------------------------------------------------------------------------------------------------------

# Columns of E made at once: bounds memory.
COLUMNS_AT_ONCE = 8192
# Share of the step to the boundary that is taken.
SHORT_OF_BOUNDARY = 0.99

# Cones ----------------------------------------------------------------------------------------------------------------

# Relative room in a cone below which it is rounding.
CONE_ROUNDING = 1e-15

# Newton's method on a structure ---------------------------------------------------------------------------------------

# Most steps of Newton's method on a structure.
STEPS = 15
# Steps in a row that do not halve the residual after which it is at rounding, or lost.
PATIENCE = 3
# Structures tried, each the last with its contradictions repaired.
STRUCTURES = 25
# Reciprocal condition below which a factorisation is not trusted.
SINGULAR = 1e-14
# Relative size of the diagonal of QR below which a direction counts as dependent: rounding.
RANK = 1e-12
# Relative sizes below which singular values are left out, one after the other.
CUTS = (0.0, 1e-11, 1e-9)
# What the equations may be missed by for a point to count as a solution of them.
ACCEPTED = 1e-10
# Pre-activations (relative to their neuron), weights and margins that count as zero.
ZERO = 1e-11
# And what rounding leaves of a sum of products, relative to the lengths of its factors.
SUM_ROUNDING = 4.0 * sys.float_info.epsilon
