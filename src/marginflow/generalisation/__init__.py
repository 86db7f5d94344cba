"""Generalisation: test error with an interval, exact on a line and where a formula exists, and kinds of overfitting."""

from marginflow.doors import check_types
from marginflow.generalisation.bias_dominance import BiasDominance, bias_dominance
from marginflow.generalisation.line import LineError, exact_error_intervals, line_error, nearest_neighbour_line_error
from marginflow.generalisation.no_bias import specialists_error, two_neuron_error
from marginflow.generalisation.overfitting import OverfittingProfile, overfitting_profile
from marginflow.generalisation.sampled import Estimate, clopper_pearson_interval, sampled_error, test_error

__all__ = [
    "BiasDominance",
    "Estimate",
    "LineError",
    "OverfittingProfile",
    "bias_dominance",
    "clopper_pearson_interval",
    "exact_error_intervals",
    "line_error",
    "nearest_neighbour_line_error",
    "overfitting_profile",
    "sampled_error",
    "specialists_error",
    "test_error",
    "two_neuron_error",
]

check_types(globals())
