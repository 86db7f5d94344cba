"""Robustness: exact radii, exact steps along rays, one perturbation for all samples; more in the modules named below.

`attacks` (upper bounds), `lower_bounds`, `baselines` (nearest neighbour) and `linear`, `constructions` (robust
networks), `directions` and `explicit_vectors` (of the theorems), `curves`.
"""

from marginflow.doors import check_types
from marginflow.robustness import baselines, curves, explicit_vectors, linear  # noqa: F401  # as the docstring says
from marginflow.robustness.constructions import one_neuron_per_sample
from marginflow.robustness.deep_bracket import RadiusBracket, radius_bracket
from marginflow.robustness.directions import label_sum
from marginflow.robustness.radius import (
    Radius,
    RadiusCertificate,
    check_certificate,
    each_radius,
    exact_radii,
    exact_radius,
)
from marginflow.robustness.rays import minimal_step
from marginflow.robustness.universal import universal_perturbation

__all__ = [
    "Radius",
    "RadiusBracket",
    "RadiusCertificate",
    "check_certificate",
    "each_radius",
    "exact_radii",
    "exact_radius",
    "label_sum",
    "minimal_step",
    "one_neuron_per_sample",
    "radius_bracket",
    "universal_perturbation",
]

check_types(globals())
