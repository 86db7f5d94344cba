r"""How far the feature maps of the samples of a run have moved from their start [FCB22, sec. 3]."""

import math

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.fcb22.path import Path


def features(path: Path) -> tuple[FloatArray, FloatArray]:
    """||phi(W^T x_i) - phi(W^0 x_i)|| and ||phi(W^0 x_i)||, each of shape (n,)."""
    X = path.sample.X
    start = np.maximum(X @ path.networks[0].W.T, 0.0)
    end = np.maximum(X @ path.end.W.T, 0.0)
    return np.linalg.norm(end - start, axis=1), np.linalg.norm(start, axis=1)


def feature_change(path: Path) -> FloatArray:
    """The relative change of the feature map of every sample; infinite where no neuron was active at the start."""
    moved, before = features(path)
    return np.divide(moved, before, out=np.full_like(moved, math.inf), where=before > 0)
