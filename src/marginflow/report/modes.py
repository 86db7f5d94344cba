"""One SVG for light and dark: a picture in the light colours of ours that follows the mode of its reader."""

from functools import cache

from marginflow.report.bundle import with_style
from marginflow.report.plane_svg import DARK_TWINS
from marginflow.report.style import colours


def follow_reader(svg: str) -> str:
    """The picture with a style that turns its colours dark where the reader asks for that.

    Nothing that is drawn changes: a viewer that knows no styles shows the light picture. In a page the mode is that of
    the page (its `color-scheme`), in a file of its own that of the system.

    Parameters
    ----------
    svg : str
        In light colours, as `svg_text`, `plane_svg` and the files that `draw` writes have them.

    Examples
    --------
    >>> from marginflow.report.modes import follow_reader
    >>> 'stroke="#1c2024"' in follow_reader('<svg><path stroke="#1c2024"/></svg>')
    True
    """
    return with_style(svg, _dark_rules())


@cache
def _dark_rules() -> str:
    """Every light colour as an attribute, and what it becomes."""
    dark = colours("dark")
    twins = {light: dark[name] for name, light in colours("light").items()} | DARK_TWINS
    rules = "".join(
        f'[{part}="{light}"]{{{part}:{other}}}'
        for light, other in twins.items()
        for part in ("fill", "stroke", "stop-color")
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
