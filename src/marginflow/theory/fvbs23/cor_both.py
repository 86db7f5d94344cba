r"""[FVBS23, Theorems 4.1 and 4.2 together]: where a robust network exists, every KKT point is less robust."""

import math

from marginflow.robustness import minimal_step
from marginflow.robustness.constructions import one_neuron_per_cluster
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.theory.frame import Findings, Instance, above, at_least, below, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import many_clusters, robust_of_many, stated_of_clusters
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import deterministic
from marginflow.theory.fvbs23.thm_4_2.thm_d1 import explicit_vectors


@stated_of_clusters(
    id="FVBS23/Cor-Both",
    number="Section 4, after Theorem 4.2",
    meaning="Gradient flow finds networks that generalise and are not robust, although robust ones exist.",
    formula=r"y N_\theta(x) > 0, \quad \mathrm{sign}(N_\theta(x - y z)) \ne y, \quad \|z\| < \tfrac{1}{8} \sqrt{d}, "
    r"\quad \mathrm{sign}(N_{robust}(x')) = y \text{ for } \|x' - x\| \le \tfrac{1}{8} \sqrt{d}",
    example=many_clusters,
    control=lambda: robust_of_many(1092, 100),
    control_shows="the robust network itself is not a KKT point, and no short vector along u flips it",
    remark="With the literal z the contrast ||z|| < sqrt(d)/8 needs k > 20000; with the exact one and the pair k > 64 "
    "is enough, and k >= 5 against the true radius 0.45 sqrt(d) of the robust network.",
)
def cor_both(instance: Instance) -> Findings:
    """One sample: the KKT point is right and is flipped by a short vector that the robust network withstands."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    test = FreshPoints.of(instance)
    fine = test.are_nice(sample)
    network = instance.certificate.network
    robust = one_neuron_per_cluster(sample.means, s.y, ambient_dimension=s.d)
    root = math.sqrt(s.d)
    steps = minimal_step(network, test.X[fine], test.y[fine], sample.u, at_zero="negative")
    z = steps.all_at_once * s.u_norm / root
    radius = interval_bound(robust.network, test.X[fine], test.y[fine]).radii / root
    vectors = explicit_vectors(instance)
    shortest = min((vector.relative_size for vector in vectors.values()), default=math.nan)
    return Findings(
        value("||z|| / sqrt(d), exact", z),
        *(value(f"||z|| / sqrt(d), {form}", vector.relative_size) for form, vector in vectors.items()),
        value("least certified radius / sqrt(d)", radius.min()),
        hypotheses=(
            above("k", s.k, 64, note="z of length sqrt(d/k) is below sqrt(d)/8 from 65 clusters on"),
            *deterministic(instance),
        ),
        claims=(
            above("y N(x) at the KKT point", (test.y * network(test.X))[fine], 0.0, tolerance=0.0),
            below("||z|| / sqrt(d), exact, against the radius of Theorem 4.1", z, 1 / 8),
            above("certified radius of the robust network / sqrt(d)", radius, 1 / 8),
        ),
        derived=(
            below("||z|| / sqrt(d), explicit, against 0.45", shortest, 0.45),
            at_least("certified radius against the sharp one / sqrt(d)", radius, 0.45),
        ),
    )
