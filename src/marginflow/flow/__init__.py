"""Gradient descent, its published recipes, and gradient flow in log time."""

from marginflow.doors import check_types
from marginflow.flow import recipes
from marginflow.flow.angle import AngleFlow, angle_flow
from marginflow.flow.descent import AbstractRecipe, Descent, GradientFlow
from marginflow.flow.loop import TrainingProgress
from marginflow.flow.run_files import load_run, save_run
from marginflow.flow.schedule import AbstractSchedule, AngleBounded, Constant, Geometric, LossNormalised
from marginflow.flow.stopping import (
    AbstractStop,
    CertificateBelow,
    DirectionSettled,
    Epochs,
    Interpolated,
    LossBelow,
    Steps,
    WallTime,
)
from marginflow.flow.training import Run, train
from marginflow.flow.trajectory import Recording, Trajectory

__all__ = [
    "AbstractRecipe",
    "AbstractSchedule",
    "AbstractStop",
    "AngleBounded",
    "AngleFlow",
    "CertificateBelow",
    "Constant",
    "Descent",
    "DirectionSettled",
    "Epochs",
    "Geometric",
    "GradientFlow",
    "Interpolated",
    "LossBelow",
    "LossNormalised",
    "Recording",
    "Run",
    "Steps",
    "TrainingProgress",
    "Trajectory",
    "WallTime",
    "angle_flow",
    "load_run",
    "recipes",
    "save_run",
    "train",
]

check_types(globals())
