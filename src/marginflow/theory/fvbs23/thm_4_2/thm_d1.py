r"""[FVBS23, Theorem D.1]: one explicit vector flips fresh points at every KKT point."""

import contextlib
import math
from collections.abc import Mapping

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.robustness import minimal_step
from marginflow.robustness.explicit_vectors import ExplicitVector, fvbs23_vector, measured_cluster_vector
from marginflow.theory.frame import Check, Findings, Instance, above, at_most, undefined, value
from marginflow.theory.fvbs23 import region
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import stated_of_z
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.fvbs23.thm_3_1.thm_a1 import least_outputs, networks_of, theorem_hypotheses, without_waste
from marginflow.theory.fvbs23.thm_4_2.lem_d9 import size_checks
from marginflow.theory.vacuity import says_nothing


def explicit_vectors(instance: Instance) -> dict[str, ExplicitVector]:
    """Literal, flip-only, sharp and measured z, as far as each is defined for the instance."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    test = FreshPoints.of(instance)
    found: dict[str, ExplicitVector] = {}
    for form in ("literal", "flip", "sharp"):
        with contextlib.suppress(InputError):  # the constants of this form have no meaning here
            found[form] = fvbs23_vector(sample.means, s.y, s.sigma, form=form, ambient_dimension=s.d)
    with contextlib.suppress(InputError):
        found["measured"] = measured_cluster_vector(sample.distinct.data, test.X, test.clusters)
    return found


def moved_outputs(instance: Instance, z: FloatArray) -> FloatArray:
    """The largest y N(x - y z) over all networks for every test point, shape (t,)."""
    test = instance.the_test()
    X = test.X - test.y[:, None] * z
    outputs: FloatArray = np.max([test.y * network(X) for network in networks_of(instance)], axis=0)
    return outputs


def vector_constants(instance: Instance, vectors: Mapping[str, ExplicitVector]) -> tuple[Check, ...]:
    """How long the four vectors are, beside the exact smallest step along u."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    test = instance.the_test()
    steps = [minimal_step(network, test.X, test.y, sample.u, at_zero="negative") for network in networks_of(instance)]
    first = float(np.max([step.first for step in steps]))
    return (
        *(value(f"||z|| / sqrt(d), {form}", vector.relative_size) for form, vector in vectors.items()),
        value("||z|| / sqrt(d), exact", first * s.u_norm / math.sqrt(s.d), "all test points flip there"),
        value("k times the exact eta", first * s.k),
        value("sqrt(1 / k)", 1 / math.sqrt(s.k)),
    )


@stated_of_z(
    id="FVBS23/ThmD.1",
    meaning="With probability 1 - F over the sample, one z along u flips every KKT point on all but 4 n q_d of "
    "the points.",
    formula=r"z = (\eta_1 + \eta_2) \sum_q y^{(q)} \mu^{(q)}, \quad \Pr_{(x, y)}[\mathrm{sign}(N_\theta(x)) \ne "
    r"\mathrm{sign}(N_\theta(x - y z))] \ge 1 - 4 n q_d",
    region=region.THEOREM_4_2,
    printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
    proved=r"\|z\| \le 13.31 \sqrt{\frac{d}{c^2 k}}",
    sharp=r"\eta = \frac{\max(2X, B)}{D} + \frac{(A_t + (k-1) B) S_{max}}{D c k S_{min}}",
    remark="The literal z is longer than the data until k is in the hundreds; then what it flips shows nothing. "
    "The sharp z keeps the radii that P1 to P3 give; the measured z uses those of the sample; the exact one is "
    "the smallest multiple of u. z depends on the distribution alone.",
)
def theorem_d1(instance: Instance) -> Findings:
    """On a good draw: exact tails against 4 n q_d, the signs of all good test points before and after z, its length."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    bound, exact = s.log_test_failure(sample.n), sample.log_test_tail()
    outputs, fine = least_outputs(instance)
    vectors = explicit_vectors(instance)
    hypotheses = theorem_hypotheses(instance)
    constants = (
        value("ln F", s.log_failure(sample.n), "F < 1 or the theorem says nothing"),
        value("ln(4 n q_d)", bound),
        value("networks", float(1 + len(instance.networks))),
        *vector_constants(instance, vectors),
    )
    if "literal" not in vectors:
        return undefined(hypotheses, "z is not defined here", constants)
    moved = {form: moved_outputs(instance, vector.vector)[fine] for form, vector in vectors.items()}
    trivial = {form: says_nothing(vector.size, s.d) for form, vector in vectors.items()}
    notes = {form: f"||z|| = {vector.relative_size:.4g} sqrt(d)" for form, vector in vectors.items()}
    nothing = trivial["literal"] or s.log_failure(sample.n) >= 0
    size, steps = size_checks(s, vacuous=nothing)
    return Findings(
        hypotheses=hypotheses,
        constants=constants,
        claims=(
            at_most("ln P(sign not flipped), from exact tails", exact, bound, vacuous=nothing or bound >= 0),
            above("y N(x), the sign before", outputs[fine], 0.0, scale=1.0, vacuous=nothing),
            at_most("y N(x - y z)", moved["literal"], 0.0, scale=1.0, note=notes["literal"], vacuous=nothing),
            size,
        ),
        proof_steps=(at_most("y N(x - y z), Lemmas D.7 and D.8", moved["literal"], -1.0, scale=1.0), *steps),
        derived=(
            without_waste(s, sample.n),
            *(
                at_most(f"y N(x - y z), {form} z", moved[form], 0.0, scale=1.0, note=notes[form], vacuous=trivial[form])
                for form in moved
                if form != "literal"
            ),
        ),
    )
