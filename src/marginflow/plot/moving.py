"""The flow on the plane as a moving picture: from a network to the KKT point that it leads to."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from marginflow import flow
from marginflow.arrays import real_number
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.demo.plane import evenly_spaced
from marginflow.errors import InputError
from marginflow.limit import kkt_point
from marginflow.measurements import plane_frame, plane_samples
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain
from marginflow.report.plane_svg import plane_svg
from marginflow.storage import write_bytes

FRAMES: Final = 40
_STOP_LOSS: Final = 1e-20
_MOST_STEPS: Final = 20_000
_PAUSE: Final = 80  # milliseconds between frames
_REST: Final = 2500  # on the KKT point
_FEWEST, _SCALE = 60, 0.01  # neurons and scale of a random start
_FLOW, _DRAW = 0.4, 0.6  # shares of the work when the flow ends and when pictures begin


def moving_plane(
    network: TwoLayer,
    data: Dataset,
    path: str | Path,
    *,
    width: float = 680.0,
    frames: int = FRAMES,
    progress: Callable[[float, str], None] | None = None,
) -> Path:
    """Write a .gif of gradient flow from `network` to loss 1e-20, and of the KKT point that is polished from its end.

    Parameters
    ----------
    network : TwoLayer
        Where the flow begins; of dimension 2. A random network of small scale shows neurons gather. From a KKT point
        nothing moves: then the flow begins at a random network with as many neurons, at least 60.
    data : Dataset
        Of dimension 2, labels -1 and +1.
    path : path that ends in .gif
    width : float
        In pixels.
    frames : int
        Of the flow; the last frame, which rests, is the KKT point.
    progress : callable or None
        Receives the share that is done and what is being done.

    Returns
    -------
    Path
    """
    target, width = Path(path), real_number("width", width, above=0.0)
    if target.suffix.lower() != ".gif":
        raise InputError(f"{target} ends in {target.suffix!r}; .gif is expected.")
    image = _pillow()
    import vl_convert

    show = progress or (lambda share, remark: None)
    samples = plane_samples(data)
    begun = moving_start(network, data)
    rules = [flow.LossBelow(_STOP_LOSS), flow.Steps(_MOST_STEPS)]
    recording = flow.Recording(ratio=1.05, networks=True)
    run = flow.train(
        begun,
        data,
        flow.GradientFlow(stop=rules),
        recording=recording,
        progress=lambda now: show(_FLOW * now.share, f"flow, step {now.step}"),
    )
    assert isinstance(run.network, TwoLayer)
    show(_FLOW, "the KKT point")
    limit = kkt_point(data, start=run.network, flow_steps=0)
    records = run.trajectory
    chosen = evenly_spaced(records.log_loss, records.step, frames)
    drawn = [
        plane_frame(recorded, data)
        for index in chosen
        if isinstance(recorded := (records.networks or ())[index], TwoLayer)
    ]
    drawn.append(plane_frame(limit.network, data, certificate=limit.certificate, pictured=limit.compact))
    pictures = []
    for number, frame in enumerate(drawn):
        show(_DRAW + (1.0 - _DRAW) * number / len(drawn), f"picture {number + 1} of {len(drawn)}")
        text = plane_svg(to_plain({"samples": samples, "frames": [], "point": frame}), width=width)
        pictures.append(image.open(io.BytesIO(bytes(vl_convert.svg_to_png(text)))).convert("RGB").quantize(128))
    content = io.BytesIO()
    pauses = [_PAUSE] * (len(pictures) - 1) + [_REST]
    pictures[0].save(
        content, format="GIF", save_all=True, append_images=pictures[1:], duration=pauses, loop=0, optimize=False
    )
    written = write_bytes(target, content.getvalue())
    show(1.0, "written")
    return written


def moving_start(network: TwoLayer, data: Dataset) -> TwoLayer:
    """The network itself or, at a KKT point, a random one of small scale."""
    if not certify(network, data).holds():
        return network
    return TwoLayer.initialise(max(network.width, _FEWEST), data.dimension, scale=_SCALE, seed=0)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise InputError("A .gif needs the package pillow; install it with pip install 'marginflow[gif]'.") from None
    return Image
