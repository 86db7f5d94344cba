"""What the commands about left-out samples share: their options, and the points without samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.options import AsJson, Bias, Force, Label, Penalty, Seed, Width, checked, written
from marginflow.cli.output import check_target, deliver, print_rows
from marginflow.cli.progress import progress

Mode = Annotated[
    Literal["continuation", "fast"], Parameter(help="Follow the point as samples fade, or leave them out at once.")
]
StoreFile = Annotated[
    Path | None, Parameter(help="A file that keeps every finished point; name it again to go on after an interrupt.")
]


@Parameter(name="*")  # its fields are options of the command
@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Options of every command about left-out samples."""

    width: Width = 100
    bias: Bias = True
    penalty: Penalty = None
    tolerance: Annotated[
        float, checked("--tolerance", "Largest residual at which a point counts as found.", above=0.0)
    ] = 1e-8
    time_limit: Annotated[
        float | None,
        checked(
            "--time-limit",
            "Seconds for the point with all samples, and as many for the points without some.",
            above=0.0,
        ),
    ] = None
    seed: Seed = 0
    label: Label = None
    out: Annotated[Path | None, written("Write the page (.html) or everything (.json).")] = None
    force: Force = False
    as_json: AsJson = False

    def load(self, data: Path) -> mf.data.Dataset:
        """The data, once it is clear that the result can be written."""
        check_target(self.out, (".json", ".html"), force=self.force)
        loaded = mf.data.Dataset.load(data, label=self.label)
        loaded.require_signs()
        return loaded

    def record(self, limit: mf.limit.Limit, found: mf.influences.Influence, *, mode: str) -> dict[str, object]:
        """What every command says of how its points came about."""
        return {
            "limit": limit.status,
            "mode": mode,
            "penalty": self.penalty,
            "seed": self.seed,
            "holds": bool(found.residuals.max() <= self.tolerance),
        }

    def limit(self, dataset: mf.data.Dataset, **options: Any) -> mf.limit.Limit:
        """The KKT point with all samples."""
        given = {"width": self.width, "seed": self.seed, "bias": self.bias, "penalty": self.penalty}
        return mf.kkt_point(dataset, **(given | options), time_limit=self.time_limit)

    def leave_out(self, dataset: mf.data.Dataset, **options: Any) -> tuple[mf.limit.Limit, mf.influences.Influence]:
        """That point, and the exact points without some samples; `options` are those of `mf.influence`."""
        with progress("Leaving out samples") as show:
            limit = self.limit(dataset)
            found = mf.influence(
                limit,
                dataset,
                seed=self.seed,
                tolerance=self.tolerance,
                time_limit=self.time_limit,
                progress=lambda done, total: show(done / total, f"{done} of {total}"),
                **options,
            )
        return limit, found

    def deliver(
        self,
        record: Mapping[str, object],
        rows: Sequence[Mapping[str, object]],
        headings: Mapping[str, str],
        *,
        said: object,
        title: str,
        beside: str = "",
    ) -> int:
        """Write the record where that was asked for, and print it, or what is `said` above and `beside` its rows."""
        code = deliver(record, out=self.out, as_json=self.as_json, title=title, holds=bool(record["holds"]))
        if not self.as_json:
            print(said)
            if rows:
                print_rows(rows, headings=headings)
            if beside:
                print(beside)
        return code


DEFAULTS = LeftOut()
