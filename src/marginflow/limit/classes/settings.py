"""The numbers that steer KKT points of many classes, together, each with what it was measured on.

They were tried on digits with 3, 5 and 10 classes and 100, 200 or 500 samples (`benchmarks/limit_classes.py`). Where
nothing is said about other values, none were compared.
"""

# Attempts -------------------------------------------------------------------------------------------------------------

# Scale of the random networks, relative to torch's.
SCALE = 0.3
# delta, relative to the typical size of the samples, from which the structure is read; multiples of it below which a
# pre-activation may be a kink. Digits, ten classes: with 1 a third of the kinks is missed and Newton's method diverges.
READ_FROM, NEAR = 0.011, (3.0, 10.0)
# Random networks that are tried.
ATTEMPTS = 5

# Rounded kinks --------------------------------------------------------------------------------------------------------

# delta relative to the typical pre-activation, with iterations of L-BFGS; multiplier steps at each; rho. Digits with 3
# to 10 classes: rho = 1 leaves violations of 1e-2, 3 none.
STAGES = ((0.3, 100), (0.1, 100), (0.03, 150), (0.01, 200), (3e-3, 300), (1e-3, 400), (3e-4, 600))
MULTIPLIER_STEPS, RHO = 6, 3.0
# Violations at which multipliers are good enough for the stage, relative to the root of delta.
GOOD = 1e-2
# Neurons below this share of the largest are dropped, and those with a cosine above this are merged.
VANISHED, PARALLEL = 1e-6, 1.0 - 1e-4

# Newton's method ------------------------------------------------------------------------------------------------------

# Structures, and steps on each.
ROUNDS, STEPS = 80, 15
# Eigenvalues of a neuron's Hessian below this are not inverted.
NEAR_ZERO = 0.05
# Reciprocal condition below which the shortest of the nearly equal solutions is taken, and its rank tolerance: neurons
# of one pattern may turn into each other without changing the function, so that points are not always isolated.
SINGULAR, RANK = 1e-13, 1e-11
# Length of a step relative to theta; residuals at which Newton's method has converged, and at which a stall is enough.
LONGEST, CONVERGED, STALLED = 0.3, 3e-14, 1e-11
# Rounding: of multipliers and slopes relative to the largest multiplier, of margins, and of pre-activations.
LAMBDA_ROUNDING, MARGIN_ROUNDING, SIGN_ROUNDING = 1e-11, 1e-10, 1e-11
# Rounds in which everything that is violated is changed; later the worst, or on a repetition any one, a few times.
BOLD, REPETITIONS = 4, 4
