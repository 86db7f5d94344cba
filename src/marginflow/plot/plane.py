"""A network on the plane: decision regions, the line of every neuron, margins, samples, and those on the margin."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from marginflow.arrays import real_number
from marginflow.certificates import Certificate
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.measurements import plane_frame, plane_samples
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain
from marginflow.report.bundle import style_text, template_text
from marginflow.report.demo_page import plane_data
from marginflow.report.page import render_template, script_safe
from marginflow.report.plane_svg import plane_svg
from marginflow.storage import write_bytes, write_text

FORMATS: Final = (".html", ".svg", ".pdf", ".png")


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanePicture:
    """What `plane` draws: shows itself in a notebook, and is written by `save`.

    `record` holds samples, neurons and the numbers beside the picture as plain values.
    """

    record: Mapping[str, Any]
    width: float

    @property
    def svg(self) -> str:
        """The picture as the text of an SVG element, in light colours."""
        return plane_svg(self.record, width=self.width)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        point = self.record["point"]
        return (
            f"PlanePicture({len(self.record['samples'])} samples, {point['directions']} different neurons, "
            f"{len(point['on_margin'])} samples on the margin)"
        )

    def _page(self) -> str:
        """The picture as a small offline page, drawn by the script of the demo's first picture."""
        return render_template(
            "plane.html.j2",
            title="A network on the plane",
            style=style_text("demo.css"),
            script=template_text("demo.js"),
            data=script_safe({"plane": plane_data(self.record)}),
            n=len(self.record["samples"]),
            point=self.record["point"],
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture, whole or not at all: .html, .svg, .pdf or .png."""
        target = Path(path)
        match target.suffix.lower():
            case ".svg":
                return write_text(target, self.svg)
            case ".html":
                return write_text(target, self._page())
            case ".pdf" | ".png" as suffix:
                import vl_convert

                if suffix == ".pdf":
                    return write_bytes(target, bytes(vl_convert.svg_to_pdf(self.svg)))
                return write_bytes(target, bytes(vl_convert.svg_to_png(self.svg, scale=2.0)))
        raise InputError(f"{target} ends in {target.suffix!r}; {', '.join(FORMATS)} can be drawn.")


def plane(
    network: TwoLayer, data: Dataset, *, certificate: Certificate | None = None, width: float = 680.0
) -> PlanePicture:
    r"""Draw a network with two inputs: sign and size of N(x), the line on which each neuron switches on, the samples.

    Parameters
    ----------
    network : TwoLayer
        Of dimension 2.
    data : Dataset
        Of dimension 2, labels -1 and +1.
    certificate : Certificate or None
        Of this network on these data; computed if it is missing.
    width : float
        Of the picture; the height is ten seventeenths of it.

    Returns
    -------
    PlanePicture

    Examples
    --------
    >>> from marginflow import plot
    >>> from marginflow.data import Dataset
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> plot.plane(network, Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1]))
    PlanePicture(2 samples, 2 different neurons, 2 samples on the margin)
    """
    width = real_number("width", width, above=0.0)
    samples = plane_samples(data)
    frame = plane_frame(network, data, certificate=certificate)
    record = {"samples": samples, "frames": [], "point": frame}
    return PlanePicture(record=to_plain(record), width=width)
