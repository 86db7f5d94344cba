"""A network trained by scnn (convex training of ReLU networks) as `.safetensors`, to be certified here.

    pip install pyscnn safetensors
    python benchmarks/beside_scnn.py data.npz scnn.safetensors --penalty 1e-5
    marginflow certify scnn.safetensors data.npz

It needs no marginflow: scnn brings its own torch, and may live in an environment of its own.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import safetensors.numpy
import scnn.optimize
from scnn.regularizers import NeuronGL1


def main() -> None:
    """Train, say how it went, write the network."""
    line = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    line.add_argument("data")
    line.add_argument("out")
    line.add_argument("--penalty", type=float, default=1e-5)
    line.add_argument("--gates", type=int, default=500, help="most neurons, that is activation patterns drawn")
    given = line.parse_args()
    held = np.load(given.data)
    X, y = held["X"], held["y"]
    began = time.process_time()
    model, _ = scnn.optimize.optimize(
        "relu", given.gates, X, y[:, None], regularizer=NeuronGL1(given.penalty), unitize_data=False, dtype="float32"
    )
    W, v = (np.asarray(part, dtype=np.float64) for part in model.parameters[:2])
    v = v.reshape(-1)
    live = np.linalg.norm(W, axis=1) * np.abs(v) > 0
    W, v = W[live], v[live]
    margins = y * (np.maximum(X @ W.T, 0.0) @ v)
    print(
        f"{time.process_time() - began:.1f} s of processor time, {live.sum()} neurons, margins {margins.min():.4f} to "
        f"{margins.max():.4f}"
    )
    safetensors.numpy.save_file({"0.weight": W, "2.weight": v[None]}, given.out)  # the names of torch


if __name__ == "__main__":
    main()
