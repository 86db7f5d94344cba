r"""Every KKT point with biases on orthonormal samples, in closed form: B = (q - k)/(1 + m), whatever the width.

Derived here; what [KYS23] leaves open after Theorems 4.1 and 4.3 (is p = O(1/n^2) needed? is near-max-margin?) is
answered by it in the orthonormal limit.

Let beta_j = b_j / v_j = sum_i lambda_i y_i sigma'_ij for a neuron with v_j > 0. On a negative sample its pre-activation
is v_j (beta_j - lambda_r sigma'_rj), on a positive one v_j (beta_j + lambda_i sigma'_ij).

1. beta_j >= 0: if beta_j < 0 no negative sample is active, so beta_j is a sum of non-negative terms.
2. beta_j = 0 makes the neuron zero: a negative sample with weight would be inactive, so only positive ones are left,
   and their weights sum to 0.
3. beta_j > 0: every positive sample is active, and a negative one is active or on the kink, so that
   lambda_r sigma'_rj = min(beta_j, lambda_r). Hence beta_j = sum_{I_+} lambda_i - sum_{I_-} min(beta_j, lambda_r),
   which has one solution: all non-zero neurons of one sign share beta and are parallel.
4. With a_+ = sum v_j^2 over them and a_- for the other sign, the margin of a positive sample is
   a_+ (lambda_i + beta_+) - a_- (beta_- - lambda_i)_+, increasing in lambda_i; so all multipliers of a class are equal
   and positive.
5. What is left are two equations for (lambda_+, lambda_-), solved case by case; both samples active on both
   neurons is impossible, for then beta_+ = -beta_-. In each other case B = a_+ beta_+ - a_- beta_- = (q - k)/(1 + m).
6. With trained outputs each neuron has ||(w_j, b_j)|| = |v_j| as well. Where a sample is strictly active on a neuron of
   the other sign this forces a_+ or a_- to be infinite; so only kinks are left, and the KKT point is unique up to
   splitting neurons: the pair, which is the global optimum (see `max_margin`).
"""


def closed_form_B(q: int, k: int) -> float:
    """(q - k)/(1 + q + k), the B of every KKT point with biases on orthonormal samples."""
    return (q - k) / (1 + q + k)
