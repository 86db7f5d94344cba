"""The numbers that steer the solvers of the line and of the circle, together, each with what it was measured on.

They were tried on noisy labels of 10 to 200 samples on a line (`tests/limit/test_line.py`) and on the figures of KYS23.
*Draws*: `Interval(p=0.2)` with 10 to 200 samples and `Interval(p=0.45)` with 40 to 400, eight of each, on which global
optima take 1 to 3 rounds and local minima 1 to 6; most numbers are there for what is harder, and were chosen. Where
nothing is said about other values, none were compared; what is relative to a length or to the largest of its kind
bounds rounding.
"""

# The linear program ---------------------------------------------------------------------------------------------------

# Arcs of more than this angle get a bound in their middle to begin with. Draws: the same rounds with 0.8, up to two
# more or fewer with 0.05 and without such bounds.
LONG_ARC = 0.2
# Primal and dual feasibility of HiGHS, the least that it takes; columns ten times as short are rounding.
PROGRAM_TOLERANCE = 1e-10

# Rounds of columns ----------------------------------------------------------------------------------------------------

# Rounds after which the program has not settled. Draws: the same with 20.
COLUMN_ROUNDS = 60
# From this round on, structures are also repaired one contradiction at a time, which is slow. Draws: the same
# rounds with 2 and 20.
PATIENT = 6
# Newton is tried once the dual function exceeds 1 by less than this. Draws: the same rounds with 1e-1, one more in one
# with 1e-3.
NEAR = 1e-2
# The dual function of a finished solution exceeds 1 by less than this, where lambda is not too large to tell.
PROVED = 1e-11
# Distance of u_j / ||u_j|| from its sum over the samples that a finished solution may have.
STATIONARY = 1e-8

# Newton's method ------------------------------------------------------------------------------------------------------

# Steps on one structure, and structures, each the last with a contradiction repaired. Draws: the same with 10
# steps and with 20 structures.
MAX_STEPS = 40
MAX_REPAIRS = 60
# What an equation may be missed by, beside its tolerance: this share of the longest row, for each unit of its weights.
ROUNDING = 1e-14
# Added to the diagonal of a Newton system, so that dependent equations have a solution.
PROXIMAL = 1e-12

# Seconds for each multiplication of a dense factorisation, about: with a time limit none is begun that would end after
# it. (3000, 1, 6000).
DENSE_STEP = 5e-10
# The same for each sample and breakpoint of the columns. (3000, 1, 9000), busy machine.
COLUMN_STEP = 3e-8

# The walk to a local optimum ------------------------------------------------------------------------------------------

# Moves of neurons across a border, and rounds of columns at each. Draws: the same with 50 and 20.
MAX_MOVES = 2000
WALK_ROUNDS = 60
# Peaks above 1 by more than this are cut off before a neuron is moved across a border. Draws: the same rounds with
# 1e-3 and 1e-9.
COARSE = 1e-6
# A valley of the dual function has at least this share of its change of slope on either side. Chosen, not measured.
STEEP = 1e-6

# Saddle points --------------------------------------------------------------------------------------------------------

# Points are the same when all their multipliers agree to this share of the largest. Chosen, not measured.
SAME = 1e-6

# The proof ------------------------------------------------------------------------------------------------------------

# Bounds are rounded outwards by this share, more than their last few operations can err.
OUTWARDS = 4e-15
