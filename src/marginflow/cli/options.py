"""Options that several commands share, described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print the result as one JSON object.")]
Force = Annotated[bool, Parameter(name="--force", negative="", help="Overwrite files that exist.")]
Seed = Annotated[int, Parameter(name="--seed", help="Seed of all randomness; same seed, same result.")]
Out = Annotated[Path, Parameter(name=["--out", "-o"], help="File to write.")]
DataFile = Annotated[Path, Parameter(help="Data, .npz or .csv (label in the last column, -1 or +1; see convert).")]
NetworkFile = Annotated[Path, Parameter(help="Network, .safetensors (ours or a torch state_dict).")]
Label = Annotated[str | None, Parameter(name="--label", help="Name of the label column of a .csv.")]
