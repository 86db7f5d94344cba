"""The numbers of the closed forms, together. All bound rounding, which tests on random data of every form have met."""

# Orthogonal samples ---------------------------------------------------------------------------------------------------

# How far from zero (relative to the norms) an inner product may be and still count as rounding.
ORTHOGONAL = 1e-12

# One neuron of each sign ----------------------------------------------------------------------------------------------

# The logarithm of s_+ / s_- has settled when it moves by less than this.
SETTLED = 1e-15
# Rounds of the search for it.
MAX_ROUNDS = 100
# Its steps: so many times the secant's, and at most this. Chosen, not measured.
BEYOND_SECANT, LONGEST_STEP = 1.5, 5.0
# Exchanges of the active set at fixed scales.
MAX_PIVOTS = 60
# Stationarity that a point must reach to be handed out as exact.
EXACT = 1e-9
# Relative size below which a multiplier counts as zero.
ZERO = 1e-11
# A constraint whose distance from the span of the active ones is below this share of its norm counts as dependent.
DEPENDENT = 1e-9
