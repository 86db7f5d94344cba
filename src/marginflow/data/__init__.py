"""Samples with labels: one file per distribution.

A law or a kind of noise in a file of its own is offered without being named here, as `distributions` and `noises` find
it. What `__all__` names is for those who read this file and do not run it: type checkers, editors, the documentation.
"""

from marginflow.data import isotropic
from marginflow.data.ball import Ball
from marginflow.data.cluster_constants import ClusterConstants, most_clusters, smallest_dimension
from marginflow.data.clusters import Clusters
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import AbstractDistribution
from marginflow.data.gaussian import Gaussian
from marginflow.data.gram import GramReduction
from marginflow.data.hadamard import hadamard
from marginflow.data.interval import Interval
from marginflow.data.laws import distribution_of, distributions, noises, redraw
from marginflow.data.noise import (
    AbstractLabelNoise,
    BoundaryNoise,
    ClusterNoise,
    DirectionNoise,
    ExactCountNoise,
    GivenNoise,
    SmoothNoise,
    UniformNoise,
)
from marginflow.data.noisy_sphere import NoisySphere
from marginflow.data.orthogonal import Orthogonal
from marginflow.data.preparation import Column, Preparation
from marginflow.data.raw_table import RawTable, read_table
from marginflow.data.reduction import bartlett, from_gram, in_span, random_frame
from marginflow.data.small_sets import breast_cancer, circles, digits, iris, moons, spirals, standardised, wine
from marginflow.data.sphere import Sphere
from marginflow.data.table import Converted, convert
from marginflow.data.xor import XorClusters
from marginflow.doors import check_types

__all__ = [
    "AbstractDistribution",
    "AbstractLabelNoise",
    "Ball",
    "BoundaryNoise",
    "ClusterConstants",
    "ClusterNoise",
    "Clusters",
    "Column",
    "Converted",
    "Dataset",
    "DirectionNoise",
    "ExactCountNoise",
    "Gaussian",
    "GivenNoise",
    "GramReduction",
    "Interval",
    "NoisySphere",
    "Orthogonal",
    "Preparation",
    "RawTable",
    "SmoothNoise",
    "Sphere",
    "UniformNoise",
    "XorClusters",
    "bartlett",
    "breast_cancer",
    "circles",
    "convert",
    "digits",
    "distribution_of",
    "distributions",
    "from_gram",
    "hadamard",
    "in_span",
    "iris",
    "isotropic",
    "moons",
    "most_clusters",
    "noises",
    "random_frame",
    "read_table",
    "redraw",
    "smallest_dimension",
    "spirals",
    "standardised",
    "wine",
]


def __getattr__(name: str) -> object:
    found = distributions().get(name) or noises().get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


check_types(globals())


def __dir__() -> list[str]:
    return sorted({*__all__, *distributions(), *noises()})
