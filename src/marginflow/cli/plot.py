"""`marginflow plot NETWORK DATA`: a network on the plane as a page or a picture."""

from pathlib import Path
from typing import Annotated

import marginflow as mf
from marginflow.cli.classes import one_output
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile, written
from marginflow.cli.output import check_target, tell
from marginflow.cli.progress import progress


def plot(
    network: NetworkFile,
    data: DataFile,
    *,
    label: Label = None,
    out: Annotated[Path, written("A page, .html; a picture, .svg, .pdf, .png; the way to the KKT point as .gif.")],
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """The ending of --out decides: .html, .svg, .pdf, .png, or .gif (the flow from NETWORK to the KKT point).

    From a KKT point nothing moves: then the .gif begins at a random network.
    """
    from marginflow.plot import moving_plane
    from marginflow.plot.plane import FORMATS, plane

    check_target(out, (*FORMATS, ".gif"), force=force)
    drawn, dataset = one_output(network), mf.data.Dataset.load(data, label=label)
    picture = plane(drawn, dataset)
    if out.suffix.lower() == ".gif":
        with progress("Drawing the flow") as show:
            moving_plane(drawn, dataset, out, progress=show)
    else:
        picture.save(out)
    point = picture.record["point"]
    record = {
        "out": out,
        "samples": len(picture.record["samples"]),
        "right": point["right"],
        "residual": point["residual"],
        "directions": point["directions"],
        "on_margin": len(point["on_margin"]),
    }
    headings = {"residual": "KKT residual", "directions": "Neurons that differ", "on_margin": "On the margin"}
    return tell(record, as_json=as_json, headings=headings | {"out": "Written to"})
