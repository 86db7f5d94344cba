"""How a network on the line faces its samples, written out neuron by neuron."""

from __future__ import annotations

import numpy as np

from marginflow.networks import TwoLayer

SAME_KINK = 1e-9


def facing(network: TwoLayer, x: np.ndarray) -> str:
    """ "right", "left", "mixed" or "neither": how the neurons face that bend N between the first and the last sample.

    Neurons that are awake on all samples, or on none, bend nothing there and may face either way.
    """
    w = network.W[:, 0]
    b = np.zeros_like(w) if network.b is None else network.b
    bending = (w != 0) & (network.v != 0)
    kinks = -b[bending] / w[bending]
    margin = SAME_KINK * max(1.0, float(np.abs(x).max()))
    right = w[bending] > 0
    # a kink at the first sample leaves a left-facing neuron asleep on all, and so the other way round
    first, last = np.where(right, x[0] - margin, x[0] + margin), np.where(right, x[-1] - margin, x[-1] + margin)
    seen = (kinks > first) & (kinks < last)
    if not seen.any():
        return "neither"
    return "right" if right[seen].all() else ("mixed" if right[seen].any() else "left")
