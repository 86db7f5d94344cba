"""The numbers that steer `kkt_point`, together, each with what it was measured on.

*Spheres*: uniform samples with random labels at (d, m, width) = (100, 100, 1000), (300, 300, 1000), (1000, 1000, 1000)
and (100, 1000, 1000). *The papers' sizes*: the 31 cases of `benchmarks/limit.py reach`. Where nothing is said about
other values, none were compared. Tolerances stand for rounding. The numbers of the interior point, the plane, the
line, the bracket, the closed forms, many classes and supports stand in `settings.py` of their folders.
"""

# Starts ---------------------------------------------------------------------------------------------------------------

# Length of a step of the flow relative to ||theta||, where it is long.
FLOW_LARGE_ANGLE = 0.05
# Where a step is dear (hard margins): its length with at most so many samples to a dimension. Cosine of the outputs to
# the polish of a flow in steps of 0.0125 until separated and twice as long again, (300, 300, 1000), seeds 0 to 4:
# 0.05 until separated and half as long again .986 .988 .987 .987 .990; 0.1, half of the time, .985 .988 .989 .985 .989;
# 0.15 (seeds 3, 4) .992 .989; 0.2 .989 .987. Without the half as long again .978 to .980 (seeds 0 to 2), with that half
# on bundles of neurons .978 to .981. Steps that separate the samples, of 0.05, 0.1, 0.15: (100, 1000, 1000) 91, 63,
# none; (30, 450, 500) 155, 178, none.
FLOW_DEAR_ANGLES = ((2.0, 0.15), (5.0, 0.1))
# Angle and momentum where a path of `FLOW_PATH` has not separated the samples. Labels +1 with 30 % noise, width 500,
# one seed, steps that separate them with 0.05 and with these: (200, 400) 668, 196; (400, 800) 1189, 250. Cosine of the
# outputs on fresh points to those after steps of 0.0125 from there on: (200, 400), two seeds, 0.952, 0.981 with 0.05
# and 0.967, 0.979 with these; (100, 500) 0.974, 0.959 and 0.962, 0.949.
FLOW_DAMPED = (0.15, 0.95)
# Steps of the flow between two looks at the margins; it ends after half as many steps again as it took to separate the
# data, at least and at most so many. Spheres, the papers' sizes.
FLOW_BLOCK, FLOW_LEAST, FLOW_MOST = 20, 60, 3000
# Coordinates up to which the flow keeps samples in single precision, whose numbers end at 3e38: squares are summed.
SINGLE_HOLDS = 1e15
# A flow is cheap beside the rest up to so many multiplications (m d k times steps). Where a path of this length (steps
# times angle) costs no more, it takes steps of a smaller angle, at least this one, and goes on to this ln of the loss
# (1e-300) on a path of at most twice that length. Spheres d = m = width = 50, three seeds and initial scales 0.01, 0.1,
# 1: cosine of the outputs to the polish of a flow to 1e-300 in steps of 0.002 (without bundles): median 0.9995, worst
# 0.992 (steps of 0.05 until separated: 0.994, 0.977) for 0.03 s more; 0.004: 0.9996, 0.991; 0.016: 0.9965, 0.990.
FLOW_CHEAP, FLOW_PATH, FLOW_ANGLE, FLOW_LOSS = 1e9, 10.0, 0.008, -690.8
# Multiplications in a step of the flow, or in an iteration of ADMM, above which the clock is looked at more often.
FLOW_LARGE_STEP = 1e9
# Multiplications (m r k times steps) that a flow with a hard margin may take; where a path of `FLOW_PATH` in large
# steps would take more, steps have this angle. (1000, 31622, 1000): 63 steps of about 2.5 s.
FLOW_DEAREST, FLOW_DEAREST_ANGLE = 2e12, 0.1
# Where such a flow leaves samples on the wrong side, and where time ends a polish of that size, the margins that are
# missed are made good in rounds of so many conjugate gradients, which end at this relative residual;
# at the end until all margins reach this, and time for so many iterations of ADMM is kept for it. (100, 1600, 300),
# after 60 steps of 0.1: 136 samples on the wrong side, then 1, then none, with margins of at least 0.63, 0.89, 0.995;
# seven gradients a round (with their diagonal alone as preconditioner 19). (100, 3162, 1000): from there ADMM has all
# margins positive after 60 iterations, without it not after 160; with so many times the natural weight, kept for so
# many iterations, after 20 (12 times) or 40 (4 times), and none falls below 0 again, where residuals swing otherwise.
RESTORING_STEPS, RESTORING_TOLERANCE, RESTORED_TO, RESTORING_KEPT = 20, 3e-2, 0.9, 25
# Rounds at least and at most, multiplications in all of them, and the shortest part of a round's change. Labels +1 with
# 30 % noise, (50, 2000, 1000): after the flow 483 samples are on the wrong side, whole changes lead nowhere, parts of
# 1/16 to 1/4 have all margins positive after 35 rounds and above 0.5 after 51 (13 CPU s).
RESTORING_ROUNDS, RESTORING_WORK, SHORTEST_RESTORING = (8, 100), 2e11, 1e-3
# What such a part must save of the squares of what is missed, for each unit of its length. Chosen, not measured.
RESTORING_GAIN = 0.2
RESTORED_WEIGHT, STEADY = 8.0, 200
# Steps and their angle for kkt_point(faithful=True). Spheres d = m = width = 50, three seeds and two initial scales,
# cosine of the outputs to the polish (without bundles) of 20,000 steps of 0.002: median 0.9977 (default 0.9926), worst
# 0.951 (0.944), for 0.29 s instead of 0.06.
FAITHFUL_STEPS, FAITHFUL_ANGLE = 5000, 0.004
# Cosine above which neurons are added up even then, and otherwise (the latter chosen, not measured).
PARALLEL, NEARLY_PARALLEL = 0.9999, 0.95
# Steps of the long flow, and the share of them that a flow on all samples must afford for it. The papers' sizes: what
# had not settled after the first. 30,000 images afford 170, and 2000 took more than ten minutes.
LONG_FLOW, LEAST_LONG = 2000, 0.25
# Bundles of neurons that a polish starts from, times this power of the samples to a dimension; and how many times as
# many where the first polish did not end. Spheres with m <= d: ten times cheaper than all neurons, and no farther from
# the flow. Power 0.7 and 1, CPU s: (100, 1000, 1000) 9.7 and 14.3 (480 and 950 bundles, 234 and 276 neurons left,
# ||theta||^2 / 2 7.96 and 7.91, cosine to the flow .876 and .883). (50, 500, 1000), seeds 1 and 2: cosine to the polish
# of all neurons after steps of 0.02, until separated and four times as long, .966 and .971; all neurons .975 and .981.
BUNDLES, BUNDLE_POWER, FINER = 96, 0.7, 4
# Samples, and multiples of the rank, from which a working set of samples is tried; how many are in the first set;
# rounds; the margin beyond which samples are left out again; and the shares of wrongly classified samples and of
# samples in the set above which it is given up. Measured on images 784 x 5000 and 784 x 30,000 and Gaussian
# mixtures 50 x 30,000.
WORKING_SET_FROM, WORKING_SET_RATIO, FIRST_SET, SET_ROUNDS = 1000, 2, 400, 40
FAR_BEYOND, SET_WRONG, SET_SHARE = 1.2, 0.3, 0.5
# While ADMM looks for the set: iterations between looks at all samples, most looks at one set, the share of the set
# that violated samples must reach before the set changes, and by how much samples fall short before they count.
LOOK_EVERY, MOST_LOOKS, ENOUGH_SHORT, ROUGHLY_SHORT = 50, 40, 0.1, 2e-2
# Residuals and share of flipping pairs from which Newton's method takes over, with all samples up to so far beyond the
# margin, and how it holds multipliers and scales. Images 784 x 5000, seed 1, from one state with 102 samples missing:
# 13 steps, with (1e-2, 10) 19, (1e-2, 1) 15, (1e-3, 10) 22, (1e-3, 0.1) 12, (1e-4, 1) 16. From residuals of 0.05 it
# takes as many steps as from 0.001, from 0.15 eight more; each costs as much as forty iterations.
# Residuals of 0.3 and flips of 5e-3 in place of 0.1 and 2.5e-3, seeds 2 and 1: 0.4 and 0.8 s less of ADMM, 11 and 5
# steps more, 9.9 and 9.8 instead of 8.6 and 9.6 CPU s. 784 x 30,000 from 0.18: 5,079 pairs and samples on the wrong
# side after a step, 12,504 after two; from 0.06, 16 steps in one run and given up after 64 CPU s in another, which
# differed by rounding. So where a step is dear (`LARGE_STEP`, or many samples) a share of them is asked for. Where that
# was too early ADMM goes on to the next of these residuals, and after the last of them with a schedule of its own.
SET_RESIDUALS, DEAR_RESIDUAL = (0.1, 1e-2, 1e-3), 0.1
SET_FLIPS, NEAR, SET_MANNER = 2.5e-3, 0.1, (1e-3, 1.0)
# Weight of ADMM's penalty term there, relative to the natural one; neurons at zero are dropped at once, as one that
# comes back changes a thousand pairs. Images 784 x 5000, seed 1, ADMM's CPU s: 4.5 instead of 12.8 with 1 and patience
# (objective 9.50 against 9.40); 0.2 with a shorter flow gains nothing more and ends at 10.1.
# At 784 x 30,000 it oscillates: after so many looks at one set, or so many sets, the natural weight takes over, and on
# more samples than so many to a dimension the heavy one below.
# Residuals of sets that have just changed say nothing about the weight: it is balanced only after so many looks.
# All this where the largest square of a singular value is so many times their mean (images: 450): on ten smooth images
# with noise (60) ADMM took 2.6 s with 0.4 and 0.6 s with 1.
SET_WEIGHT, LIGHT_LOOKS, STEEP, LIGHT_SET = 0.4, 8, 200.0, 4.0
# The weight where samples that decide are many, which is not balanced; the share of the set that violated samples must
# reach there before an unsettled set changes; and the share that may be left to Newton's method. 784 x 30,000, seed 1,
# a set of 4,130, dual residual after 100, 200, 300, 400 iterations: 0.5 times the natural weight 0.15, 0.16, 0.36,
# 0.28; once 0.41, 0.18, 0.064, 0.014; twice 0.25, 0.040, 0.0030. Balanced from 400 on, single pairs that flip let the
# weight fall to a tenth until iteration 800, where 300 flip at each look and the objective is 16 instead of 20. From
# residuals of 0.1, with 397 samples violated, Newton's method had 5,489 pairs on the wrong side and gave up.
SET_HEAVY, MANY_SHORT, FEW_SHORT, NEVER = 2.0, 0.25, 0.03, 1 << 40
# Multiplications in a step of the flow (m r k) above which it runs on a random part of the samples, and in all of it.
FLOW_PART, FLOW_WORK = 3e8, 4e10
# Steps after which nearly parallel neurons of that flow go on as one, and the most of these bundles. Images 784 x 5000:
# that saves a third of the flow's time; the objective is 9.78, without bundles 9.72, with 96 of them 10.9 (seed 1).
FLOW_TURNS, FLOW_BUNDLES = 60, 192
# Polishes of one call before the best point so far is returned as not exact.
MOST_POLISHES = 3
# Iterations of ADMM after which the interior point takes over, where it is cheap; and where there are more than so many
# samples to a dimension. Spheres with random labels: from 14 on ADMM settles on nothing.
BEFORE_INTERIOR, BEFORE_INTERIOR_IN_A_CROWD, CROWDED = 2000, 120, 12
# Sets of neurons other than the flow's that the interior point begins from before it gives up; and with trained outputs
# and at most so many samples, where one costs 1 to 2 CPU s. Ten pairs of opposite labels 1e-3 apart, 13 draws: one
# needed a second set. Sphere (3, 200), ten draws: one needed a fifth, 12 CPU s in all.
ELSEWHERE, ELSEWHERE_OF_FEW, ELSEWHERE_FEW = 3, 8, 250
# Samples in the plane (with a hard margin), the share of them that the flow has on the wrong side, and the penalty (for
# samples of length 1) from which the global optimum comes before the interior point: nothing near such a flow is worth
# minutes. Spirals n = 1000, penalty 100: no end after 58 s before, 5 s now; with penalty 0.1 8 s by the interior point,
# 30 s globally. On 200 random labels on a circle the global optimum takes 6 to 10 CPU s, a point near the flow, where
# there is one, 3. With a soft margin points near such a flow leave many samples on the wrong side: 200 moons, noise
# 0.2, penalty 10: 19 % of them and 4.0 times the least objective; 400 spirals, penalty 100: 27 % and 80 times.
PLANE_FIRST, NOT_FOUND, DEAR = 500, 0.1, 1.0
# Dimensions (with the bias) and samples up to which columns are generated. Random labels on a circle: ten
# draws of 12 and of 20 points.
COLUMN_DIMENSIONS, COLUMN_SAMPLES = 6, 100
# Random directions offered to the linear program of a feasible start, and the largest matrix worth solving.
RANDOM_DIRECTIONS, LARGEST_PROGRAM = 2000, 4_000_000
# Ascents for a rising start from given and from random directions. XOR labels, 40 points, d = 4, penalties just above
# the one at which the zero function stops being the best network.
ASCENTS = 24

# Samples up to which their inner products are kept (0.5 GB); steps of conjugate gradients for first multipliers above,
# and the relative residual at which they end.
GRAM_KEPT, RIDGE_STEPS, RIDGE_TOLERANCE = 8000, 30, 1e-3
# Seconds for each multiplication of their elimination, about: with a time limit none is begun that would end after it.
# (4000, 10, 3000).
RIDGE_SECONDS = 5e-11

# ADMM -----------------------------------------------------------------------------------------------------------------

# Spheres: 1.0 and 1.8 gain nothing.
RELAXATION = 1.6
# Iterations between refreshes of the pattern (spheres: 5 and 20 gain nothing); the least margin at which patterns are
# read, as (C) of an infeasible pattern has no solution; and the iterations after which they are read anyway, unless the
# run began with a pattern that was made to satisfy the margins. (50, 2000, 1000), labels +1 with 30 % noise, restored:
# read anyway, two neurons are left after 800 iterations; otherwise 162 are, all margins reach 0.5 after 1,200.
REFRESH_EVERY, REFRESH_MARGIN, REFRESH_ANYWAY = 10, 0.5, 100
# Iterations that a neuron stays zero before it is dropped. Spheres.
IDLE_BEFORE_DROP = 20
# Newton sweeps of the scalar equations, warm-started. (1000, 1000, 1000): two instead of three save time.
SWEEPS = 2
# Bytes of a block of rows that is worked on at once, so that it stays in the cache.
BLOCK_BYTES = 1 << 18
# Pairs (m times k) up to which the projection works on all of them at once. Microseconds in blocks and at once, single
# precision: 130 x 10 144, 56; 260 x 10 165, 77; 600 x 10 239, 141.
FEW_PAIRS = 8000
# Share of flipping pairs from which on the weight rho balances the residuals, the factor by which they may be off, and
# primal over dual residual that is aimed at while few pairs flip back and forth. (100, 2000, 1000): 3e-5 at 5,750
# iterations, where the weight of the first version stood at 0.02 to 0.04 from 4,600 to 6,000 and 0.3 of it let most
# neurons die. Iterations to residuals of 1e-4, before and now: (100, 100) 470, 340 and 560, 430; (300, 300) 430, 460
# and 630, 400; (100, 1000) 1250, 1280 (two seeds, two seeds, one).
BALANCED_FROM, OFF_BALANCE, FLIPPING_AIM = 0.05, 1.2, 0.7
# The first iteration after which it is balanced, by how much later each time, and the most that it changes by at once.
# Chosen, not measured.
BALANCED_AFTER, BALANCED_LATER, BALANCED_BY = 20, 1.5, (0.2, 5.0)
# A weight rho is left as it is while it should be between these times as large. Chosen, not measured.
WEIGHT_KEPT = (0.8, 1.25)
# Samples to a dimension up to which a neuron that is zero keeps its pattern. Iterations to residuals of 1e-4 with it
# and without: (100, 100) 240, 340 and 260, 430; (300, 300) 310, 460 and 400, 400 (two seeds each). CPU s of a call:
# (300, 420) 2.3, 2.3 and 2.2, 1.9; (300, 590) 3.2, 2.7 and 2.9, 2.9; (300, 1170) 18.9, 13.5 and 18.5, 14.1.
ASLEEP_UP_TO = 1.5
# Samples to a dimension from which on neurons have weights of their own, the share of flipping pairs from which on, how
# often they are set, and by how much they differ from the average at most. (100, 2000, 1000): 1,200 of 50,000 kinks
# misread at residuals of 1e-5, from where Newton's method takes nine steps; without, 6,500 of 46,000 at 3e-5, from
# where it leads nowhere. (100, 100), (300, 300): 20 to 60 % more iterations.
UNEVEN_FROM, UNEVEN_FLIPS, UNEVEN_EVERY, UNEVEN_MOST = 12.0, 0.01, 50, 5.0
# Multipliers above so many times the objective show that the pattern cannot satisfy the margins.
LARGEST_MULTIPLIER = 1e3
# Residuals below which single precision is no longer enough.
SINGLE = 1e-5

# The schedule of ADMM and Newton's method -----------------------------------------------------------------------------

# Iterations of the first round; rounds grow by a quarter, as a failed Newton try costs little. Spheres.
FIRST_ROUND, ROUND_GROWTH, LONGEST_ROUND = 60, 1.25, 2000
# The start is let go by half after every round, and entirely at this share of its weight. Chosen, not measured.
ANCHOR_GONE = 1e-3
# Shares of flipping pairs at which Newton's method is tried first, and then always; in between after each halving.
# (100, 1000, 1000), seeds 0 to 2: the first or second serious try succeeds after 650 to 870 iterations.
FEW_FLIPS, VERY_FEW_FLIPS = 0.025, 1e-3
# Residuals of ADMM at which Newton's method is tried, and iterations after which it is tried anyway. CPU seconds
# without this bound and with 0.1, 0.01, 0.003: (100, 500, 500) 2.8, 1.8, 1.6, 1.6; (50, 400, 300) 2.3, 1.0, 0.9, 0.9.
NEWTON_RESIDUAL, NEWTON_ANYWAY = 1e-2, 2000
# Multiplications (m r k) from which a step of Newton's method costs as much as fifty iterations, and the residuals at
# which it is tried there. (1000, 3981, 1000), seed 1: from 5e-3, with 20 same pairs that still flip, it takes 25 steps.
LARGE_STEP, LARGE_RESIDUAL = 1e8, 3e-3
# A round ends early, and Newton's method is tried again, once the residuals are this share of what they were at its
# last try. (100, 2000, 1000): rounds are 500 iterations long by then, in which ADMM gains a hundredfold.
SOONER = 0.2
# (C) of a pattern that cannot satisfy the margins has an unbounded dual: multipliers at their cap show it by then.
HOPELESS_AFTER = 600
# A run has collapsed when its multipliers sum to more than so many times the objective and at most this share of the
# neurons of the last sound round live; it begins there again with a weight rho so many times as large, so many times.
# Sphere 10 x 200 without multipliers at first: two of 150 neurons were left after 60 iterations.
UNPAYABLE, COLLAPSED, UNDONE_WEIGHT, MOST_UNDONE = 2.0, 0.25, 4.0, 2
# A run whose objective has grown by this factor has diverged.
DIVERGED = 1e3
# Multiplications for Newton's method allowed for each of ADMM (they are larger products, hence faster).
NEWTON_SHARE = 3.0
# How strongly tries of Newton's method hold multipliers and scales, in turn: weak is quick, strong is steady. Spheres.
MANNERS = ((1e-2, 10.0), (1e-1, 100.0))

# Newton's method ------------------------------------------------------------------------------------------------------

# Steps without a new least number of violations after which the structure is given back to ADMM, and the shares of
# pairs and samples on the wrong side above which it is given back at once and after two steps. (100, 1000, 1000).
PATIENCE, WRONG_AT_FIRST, WRONG = 12, 0.08, 0.02
# How strongly a call that says nothing else holds multipliers and scales; then the residual from which multipliers are
# held less, and the factor by which each time, down to that share of the first. Chosen, not measured.
DAMPING, INERTIA, DAMPED_BELOW, UNDAMPED = 1e-2, 10.0, 1e-3, 1e-3
# Rounds in which the opposite pairs follow a step of the multipliers. (100, 1000, 1000).
SETTLE_ROUNDS = 8
# A neuron of which more pairs change in a round than in the one before, and more than so many, has run away.
# (100, 2000, 1000): three of 537 neurons at residuals of 1e-4, which ended every try.
RUNS_AWAY = 5
# Steps of a projection on a box, its relative tolerance and the ridge of its least squares: rounding.
BOX_STEPS, BOX_TOLERANCE, BOX_RIDGE = 60, 1e-12, 1e-13
# Relative residual at which conjugate gradients end, and their most steps.
GRADIENT_TOLERANCE, GRADIENT_STEPS = 1e-2, 60
# Products after which the mean field is too poor a preconditioner, and a Hessian is formed and kept; the products that
# it is kept for, its tolerance, the shares of its diagonal that are added for its rounding until it is positive, and
# the share of it that its damping may be larger by. Images from one structure, CPU s and steps with the mean field,
# with a Hessian for every step in double precision, and with this: 784 x 5000 (1,290 samples on the margin, 29 neurons)
# 12.2, 29; 3.4, 11; 1.9, 11. 784 x 30,000 (3,470, 38) 45, 14 with the Hessian; 19.8, 13 with one that was kept longer.
MEAN_FIELD_STEPS, KEPT_STEPS, KEPT_TOLERANCE = 15, 20, 1e-3
KEPT_SHIFTS, KEPT_DAMPING = (1e-7, 3e-6, 1e-4, 3e-3), 1e-3
# Multiplications for a Hessian above which a step of Newton's method does without it, if that is less work, and the
# products m x r x k that it then takes. (300, 1500, 1000), from the same structure, busy machine: 16 s against 120 s.
# CPU s of Newton's method with and without the Hessian, two seeds: (500, 500, 1000) 1.6, 0.8 and 1.1, 0.7; (300, 300)
# 0.38, 0.28 and 0.30, 0.29; (100, 300) 0.32, 0.26 and 0.31, 0.23; (200, 200), 1e8 multiplications, equal. From one
# structure of (300, 300) with 2.9e8 multiplications 0.27 and 0.20.
LARGE_HESSIAN, PRODUCTS = 2e8, 40
# Columns of projected samples gathered before a symmetric update of the Hessian: bounds its memory.
COLUMNS_AT_ONCE = 4096
# Cholesky factors of kink samples whose diagonal falls by more than this are replaced by QR factors.
STEEPEST = 1e-3

# The certificate ------------------------------------------------------------------------------------------------------

# Samples times neurons up to which it also says what hard patterns would give. In the plane with 1000 samples and 189
# neurons, penalty 100, that takes two thirds of all time; of 200 random labels on a circle with 200 neurons 21 of 42
# CPU s (seed 700, under a profiler).
HARD_PATTERNS = 30_000
# The share of its work that is products, which threads of BLAS may take: most of it are passes over pairs.
CERTIFICATE_PRODUCTS = 0.03
# Seconds for each sample and neuron that the last judgement takes: kept for it where there is a time limit. (3000, 1,
# 6000), busy machine.
JUDGEMENT = 1e-7
# Beside it, seconds for each coordinate of a sample and neuron: its matrix products. 5000 images of 784 pixels, 500
# neurons, one thread: 0.7 s.
JUDGEMENT_PRODUCTS = 4e-10
# Seconds for each sample and neuron that the margins of a network take: asked of a time limit before all samples are
# looked at. 4000 samples in dimension 10, 3000 neurons, one thread, busy machine: 0.2 to 0.3 s.
MARGINS = 2e-8

# Samples and their units ----------------------------------------------------------------------------------------------

# Singular values below this fraction of the largest are rounding noise of the data, not directions of it.
RANK_TOLERANCE = 1e-13
# Multiplications above which tall samples are rotated by the eigenvectors of X^T X, several times cheaper than
# singular vectors, and the share of the largest eigenvalue below which singular vectors follow (squares lose digits).
# So are those that are not taller than wide, but nearly: 1000 x 1001 takes 0.4 instead of 0.6 CPU s.
LARGE_ROTATION, WELL_CONDITIONED, NEARLY_SQUARE = 1e8, 1e-7, 0.9
# Distance of unit rows below which they are one direction: rounding.
SAME_DIRECTION = 1e-14
# Samples up to so long (and not shorter than the inverse) are of ordinary size: nothing overflows.
ORDINARY = 1e4
# Random points on which the outputs before and after the polish are compared, and the most samples they are drawn from.
FRESH_POINTS, FRESH_FROM = 500, 2500

# Advice ---------------------------------------------------------------------------------------------------------------

# Ratio of the singular values of the rows (x, 1) above which standardising is what helps.
ILL_CONDITIONED = 1e5
# Distance of opposite labels, relative to the largest from the mean, below which nothing else helps, and samples up to
# which all pairs are compared.
TOO_CLOSE, FEW_ENOUGH = 1e-5, 3000

# Tolerances of starts ------------------------------------------------------------------------------------------------

# Columns: what the dual function may exceed 1 by, at first and at last, the rounds of the program for each, and all.
FIRST_EXCESS, LAST_EXCESS, COLUMN_ROUNDS = 1e-4, 1e-8, 40
MOST_COLUMN_ROUNDS = 200
# Value of the dual function from which a direction makes the zero network better.
WORTH = 1.0 + 1e-9
# A sample outside the set may fall short of margin 1 by this much.
SET_SLACK = 1e-12

# Tolerances of the solver --------------------------------------------------------------------------------------------

# A sample outside the margin set may fall short of margin 1 by this much before it enters the set.
MARGIN_SLACK = 1e-12
# A consistent structure is accepted as a solution when its equations hold to this.
ACCEPTED_RESIDUAL = 1e-10
# ADMM that has come this far by itself needs no Newton step.
ADMM_ROUNDING = 1e-13
# Steepness of a factor below which refinement does not repair its rounding, and above which single precision is enough.
DEPENDENT, GENTLE = 1e-6, 0.03
# Dimensions up to which inner products of kink samples are computed rather than gathered from those of all samples. CPU
# microseconds for 60 of 1000 samples in 101 dimensions 38 against 92, 180 of 2400 in 301 400 against 520, 558 of 3981
# in 1001 15,000 against 5,100. And samples for each kink of a neuron from which on they are computed as well: all inner
# products of 4,800 images took 2.7 s, those of the 70 kinks of each of 727 neurons that Newton's method met 0.2 s.
QUICK_PRODUCTS, FEW_OF_ALL = 400, 8
# Samples up to which a pseudo-inverse is made, and the relative size of the eigenvalues that count as zero in it.
FEW_KINKS, KINK_RANK = 400, 1e-11
# Inner products of a projection with kink samples, relative to those before it, above which it is repeated.
REFINED = 1e-14
