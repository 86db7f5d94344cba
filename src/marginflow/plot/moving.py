"""The flow on the plane as a moving picture: from a network to the KKT point that it leads to."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from marginflow.arrays import real_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.measurements import moving_start, plane_flow, plane_samples
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain
from marginflow.report.plane_svg import plane_svg
from marginflow.storage import write_bytes

FRAMES: Final = 40
_PAUSE: Final = 80  # milliseconds between frames
_REST: Final = 2500  # on the KKT point
_DRAW = 0.6  # share of the work when pictures begin


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
    found = plane_flow(
        moving_start(network, data),
        data,
        frames=frames,
        ratio=1.05,
        progress=lambda share, remark: show(_DRAW * share, remark),
    )
    drawn = [*found.frames, found.point]
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


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise InputError("A .gif needs the package pillow; install it with pip install 'marginflow[gif]'.") from None
    return Image
