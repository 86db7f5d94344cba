"""Robustness: exact radii and steps along rays, universal perturbations, attacks, bounds, constructions, baselines."""

from marginflow.doors import check_types
from marginflow.robustness.attack_result import AttackResult
from marginflow.robustness.attacks import ATTACKS, convex_concave, ddn, deepfool, fgm, fmn, pgd
from marginflow.robustness.baselines import (
    NearestNeighbourRadii,
    nearest_neighbour_radius,
    nearest_opposite_distance,
)
from marginflow.robustness.constructions import (
    RobustNetwork,
    one_neuron_per_cluster,
    one_neuron_per_sample,
    one_neuron_per_sample_without_bias,
)
from marginflow.robustness.curves import RobustnessCurve, curves_of, curves_of_radii, robustness_curve
from marginflow.robustness.directions import (
    dual_sum,
    label_sum,
    margin_samples,
    mean_sum,
    one_sided_direction,
    support_samples,
)
from marginflow.robustness.explicit_vectors import (
    ExplicitVector,
    fvbs23_vector,
    measured_cluster_vector,
    vys22_vector,
)
from marginflow.robustness.linear import LinearClassifier, max_margin_classifier, mean_classifier
from marginflow.robustness.lower_bounds import (
    LowerBounds,
    best_lower_bound,
    chord_bound,
    interval_bound,
    lipschitz_bound,
    local_lipschitz_bound,
    quadratic_bound,
)
from marginflow.robustness.radius import (
    Judgement,
    Radius,
    RadiusCertificate,
    check_certificate,
    each_radius,
    exact_radii,
    exact_radius,
)
from marginflow.robustness.rays import RaySteps, minimal_step, minimal_step_unsigned, steps_along
from marginflow.robustness.transfer import Transfer, transfer
from marginflow.robustness.universal import (
    Universal,
    check_universal,
    universal_perturbation,
    universal_perturbation_unsigned,
)

__all__ = [
    "ATTACKS",
    "AttackResult",
    "ExplicitVector",
    "Judgement",
    "LinearClassifier",
    "LowerBounds",
    "NearestNeighbourRadii",
    "Radius",
    "RadiusCertificate",
    "RaySteps",
    "RobustNetwork",
    "RobustnessCurve",
    "Transfer",
    "Universal",
    "best_lower_bound",
    "check_certificate",
    "check_universal",
    "chord_bound",
    "convex_concave",
    "curves_of",
    "curves_of_radii",
    "ddn",
    "deepfool",
    "dual_sum",
    "each_radius",
    "exact_radii",
    "exact_radius",
    "fgm",
    "fmn",
    "fvbs23_vector",
    "interval_bound",
    "label_sum",
    "lipschitz_bound",
    "local_lipschitz_bound",
    "margin_samples",
    "max_margin_classifier",
    "mean_classifier",
    "mean_sum",
    "measured_cluster_vector",
    "minimal_step",
    "minimal_step_unsigned",
    "nearest_neighbour_radius",
    "nearest_opposite_distance",
    "one_neuron_per_cluster",
    "one_neuron_per_sample",
    "one_neuron_per_sample_without_bias",
    "one_sided_direction",
    "pgd",
    "quadratic_bound",
    "robustness_curve",
    "steps_along",
    "support_samples",
    "transfer",
    "universal_perturbation",
    "universal_perturbation_unsigned",
    "vys22_vector",
]

check_types(globals())
