"""The figures of the papers and those they should have had: computed, drawn and judged against their claims."""

from marginflow.doors import show_doors
from marginflow.experiments.frame import SIZES, Figure, FigureResult, Grid, Size, product
from marginflow.experiments.outcome import Finding, Mean, Outcome
from marginflow.experiments.panel import Panel
from marginflow.experiments.registry import figure, figures

__all__ = [
    "SIZES",
    "Figure",
    "FigureResult",
    "Finding",
    "Grid",
    "Mean",
    "Outcome",
    "Panel",
    "Size",
    "figure",
    "figures",
    "product",
]

show_doors(globals())
