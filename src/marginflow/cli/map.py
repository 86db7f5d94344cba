"""`marginflow map ID --grid ...`: where a theorem does not apply, says nothing or says something."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.exit_codes import DONE
from marginflow.cli.options import AsJson, Force
from marginflow.cli.output import check_target, result_text
from marginflow.cli.provenance import command, versions


def map(
    id: Annotated[str, Parameter(help="The theorem, such as VYS22/Thm4.1.")],
    /,
    *,
    grid: Annotated[
        list[str],
        Parameter(consume_multiple=True, help="LETTER=1,2,5 or LETTER=LOW:HIGH:COUNT or LETTER=LOW:HIGH:COUNTlog."),
    ],
    out: Annotated[
        Path | None, Parameter(name=["--out", "-o"], help="A page or picture: .html, .svg, .png, .pdf.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Hypotheses and constants alone, no network: ten thousand cells take seconds. Exit code 0."""
    from marginflow.theory.atlas import grid_of

    if out is not None:
        check_target(out, (".html", ".svg", ".png", ".pdf"), force=force)
    atlas = mf.theory.map(id, grid_of(grid))
    if out is not None:
        from marginflow.report.atlas_chart import atlas_chart, atlas_page
        from marginflow.report.page import write
        from marginflow.report.static import draw

        if out.suffix == ".html":
            write(atlas_page(atlas, command=command(), versions=versions()), out)
        else:
            draw(atlas_chart(atlas), out)
    if as_json:
        print(result_text({**atlas.to_dict(), "out": out}))
    else:
        print(atlas.sentence())
        if out is not None:
            print(f"Written to  {out}")
    return DONE
