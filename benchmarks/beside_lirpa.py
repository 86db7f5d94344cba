"""The largest l2 radius that auto_LiRPA verifies around each point, beside the exact radius.

    python3.10 -m venv lirpa
    lirpa/bin/pip install auto_LiRPA tqdm safetensors "numpy<2"
    lirpa/bin/python benchmarks/beside_lirpa.py kkt.safetensors data.npz radii.json

where radii.json is what `marginflow radius kkt.safetensors data.npz --first 10 --json` prints. It needs no marginflow:
auto_LiRPA 0.3 asks for torch below 1.13, which Python 3.11 and later do not have. A verifier answers yes or no at a
radius; twenty bisections between 0 and the exact radius give the largest yes. A yes above it would be an error of one
of the two, so the last line looks just above it as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch
from auto_LiRPA import BoundedModule, BoundedTensor, PerturbationLpNorm

METHODS = ("IBP", "CROWN", "alpha-CROWN")
BISECTIONS, ABOVE = 20, 1.0001


def margin_of(path: str, label: float) -> torch.nn.Module:
    """x -> y N(x) for the network of a file with the names of torch, in single precision, which alpha-CROWN needs."""
    held = {name: torch.from_numpy(array).float() for name, array in safetensors.numpy.load_file(path).items()}
    width, dimension = held["0.weight"].shape
    layers = torch.nn.Linear(dimension, width, bias="0.bias" in held), torch.nn.ReLU(), torch.nn.Linear(width, 1, False)
    network = torch.nn.Sequential(*layers)
    network.load_state_dict(held | {"2.weight": label * held["2.weight"]})
    return network


def verified(margin: BoundedModule, x: torch.Tensor, radius: float, method: str) -> bool:
    """Whether the bound keeps the margin positive on the whole ball."""
    around = BoundedTensor(x, PerturbationLpNorm(norm=2.0, eps=radius))
    least, _ = margin.compute_bounds(x=(around,), method=method)
    return bool(least.item() > 0)


def main() -> None:
    """Bisect for every point and method, and say the shares of the exact radius."""
    line = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("network")
    line.add_argument("data")
    line.add_argument("radii")
    given = line.parse_args()
    torch.set_num_threads(1)
    X = np.load(given.data)["X"]
    radii = json.loads(Path(given.radii).read_text(encoding="utf-8"))["radii"]
    for method in METHODS:
        shares, seconds, above = [], [], 0
        for entry in radii:
            x = torch.from_numpy(X[[entry["sample"]]]).float()
            margin = BoundedModule(margin_of(given.network, entry["label"]), x)
            low, high = 0.0, float(entry["upper"])
            above += verified(margin, x, ABOVE * high, method)
            began = time.process_time()
            for _ in range(BISECTIONS):
                middle = (low + high) / 2
                low, high = (middle, high) if verified(margin, x, middle, method) else (low, middle)
            seconds.append(time.process_time() - began)
            shares.append(low / float(entry["upper"]))
        print(
            f"{method}: {statistics.median(shares):.3f} of the exact radius in the median, {min(shares):.3f} at worst, "
            f"{max(shares):.3f} at best; {1000 * statistics.median(seconds) / BISECTIONS:.1f} ms of CPU a question; "
            f"{above} of {len(radii)} verified above the exact radius"
        )


if __name__ == "__main__":
    main()
