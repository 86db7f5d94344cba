"""`flip`: how long a multiple of one vector flips the samples of a KKT point [VYS22, sec. 4]."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from marginflow import measurements
from marginflow.direction_names import DIRECTIONS
from marginflow.measurements import named_direction
from marginflow.sweeps.built_in.point import PointParameters, certified, point, sample
from marginflow.sweeps.registry import Row, task

if TYPE_CHECKING:
    Direction = str
else:
    Direction = Literal[*DIRECTIONS]  # a spec with another word is refused where it is read
# What a row keeps of the numbers of a direction.
KEPT = ("norm", "norm_by_sqrt_dimension", "smallest_first", "median_first", "largest_first", "never_flipped")


class FlipParameters(PointParameters, frozen=True, kw_only=True):
    """Data, network, the vector, and the share of the samples that is to be flipped at once."""

    direction: Direction = "label-sum"
    share: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0


@task("flip")
def flip(parameters: FlipParameters, seed: int) -> Row:
    """Norm of one perturbation that flips a share of the samples of a KKT point at once, and over sqrt(d)."""
    data = sample(parameters, seed)
    found = point(parameters, data, seed)
    z = named_direction(found.network, data, parameters.direction, found.certificate)
    measured = measurements.flip(found.network, data, z).summary(dimension=data.dimension, share=parameters.share)
    return {**certified(found), **{name: measured[name] for name in KEPT}}
