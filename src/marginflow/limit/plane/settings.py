"""The numbers that steer the global optimum in the plane, together, each with what it was measured on.

They were tried on moons, circles and spirals of 200 to 1000 samples with hard margins and penalties of 1 to 100
(`benchmarks/plane.py`). Where nothing is said about other values, none were compared; what is relative to a length or
to the largest of its kind bounds rounding.
"""

import sys

# Rounds of columns ----------------------------------------------------------------------------------------------------

# Random directions of each sign that the program begins with, and columns that join for each sign in a round.
FIRST_COLUMNS, COLUMNS_A_ROUND = 48, 150
# Rounds after which the bounds so far are returned.
MAX_ROUNDS = 500
# A peak above 1 by this much becomes a column.
EXCESS = 1e-12
# Cap of the multipliers with a hard margin at first, for rows of length 1, and the factor it grows by.
FIRST_CAP, CAP_GROWTH = 1e2, 10.0
# Cap at which slack that is left will never go: samples 1e-20 apart asked for caps beyond every number.
LARGEST_CAP = 1e60
# Caps are raised once sup |F| is at most this, or the bracket narrower than that. Chosen, not measured.
CAP_SUPREMUM, CAP_WIDTH = 1.5, 0.1
# Gap of the program below which the structure is read and Newton's method is tried, again at this share of it, and how
# many times the gap below 1 peaks are read. The latter two chosen, not measured.
FINISH_BELOW, AGAIN, READ_BELOW = 1e-2, 0.25, 30.0
# sup |F| may exceed 1 by this much at an optimum that Newton's method has found.
PROVED = 1e-10
# Relative width of the bracket above which the point is not called globally optimal: the default tolerance.
CLOSED = 1e-9
# Sum of the slacks of a hard margin below which they are rounding of the program.
SLACK = 1e-9

# The linear program ---------------------------------------------------------------------------------------------------

# Primal and dual feasibility of HiGHS, the least that it takes, and relative to the objective. 200 random labels on a
# circle with an objective of 7e5 (draw 105), CPU s in the program: 51 with 1e-10, 4.0, 2.7, 2.4 with 1e-9, 1e-8, 1e-7.
PROGRAM_TOLERANCE, PROGRAM_ROUNDING = 1e-10, 16.0 * sys.float_info.epsilon

# The arrangement of circles -------------------------------------------------------------------------------------------

# Unit rows that agree to so many decimals lie on one ray.
RAY_DECIMALS = 13
# Entries of the arrays of one block of circles: bounds memory at about 100 MB.
BLOCK_ENTRIES = 400_000
# Rows whose projection on the plane of a circle is shorter than this share of them are parallel to its normal.
PARALLEL = 1e-12
# Candidates of cells are evaluated in blocks of this many.
POINTS_AT_ONCE = 2048
# F at S / ||S|| equals ||S|| inside the cell of S; a difference of less than this share of sum |g| ||z|| is rounding.
IN_CELL = 1e-12
# Events of a circle closer than this are one crossing of more than two circles.
CROSSING = 1e-10
# Crossings of many circles that are examined one by one in a block.
MOST_CROSSINGS = 300

# Newton's method ------------------------------------------------------------------------------------------------------

# A row is on the kink of a local maximum within this share of its length.
ON_KINK = 1e-9
# Sizes of columns below this share of the largest are rounding of the program.
NOTHING = 1e-10
# What pre-activations may be wrong by, relative to their size, and the direction of a neuron at the end.
CONSISTENT, WEIGHT = 1e-11, 1e-9
# Most steps on a structure.
STEPS = 25
# Relative size of singular values below which they are left out of a step: rounding.
CUT_OFF = 1e-13

# Multipliers that are left open ---------------------------------------------------------------------------------------

# Rounds in which peaks become constraints, and the peaks of one round.
MULTIPLIER_ROUNDS = 40
PEAKS_A_ROUND = 60
# Peaks below 1 by less than this are kept as constraints as well: they may rise when x changes.
NEAR_PEAK = 1e-3
# What a multiplier may lie outside of its range by, relative to the largest.
MULTIPLIER_ROUNDING = 1e-11
