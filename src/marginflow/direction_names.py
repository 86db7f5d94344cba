"""The directions of the papers by name: one table for whoever offers, measures, sweeps or draws them."""

from typing import Final

# Every name, and what it stands for; `measurements.named_direction` makes the vector.
DIRECTIONS: Final[dict[str, str]] = {
    "label-sum": "sum of y x over all samples",
    "margin": "sum of y x over the samples on the margin",
    "support": "sum of y x over the samples with a multiplier",
    "dual": "sum of y x weighted by the multipliers",
    "means": "sum of the cluster means by their labels",
}
