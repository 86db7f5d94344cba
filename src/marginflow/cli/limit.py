"""`marginflow limit DATA`: a certified KKT point of the max-margin problem on these data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import one_output
from marginflow.cli.options import AsJson, Bias, DataFile, Force, Label, Out, Penalty, Seed, checked, flag
from marginflow.cli.output import check_target, deliver, result_text
from marginflow.cli.progress import progress
from marginflow.storage import write_text


def limit(
    data: DataFile,
    *,
    width: Annotated[
        int | None, Parameter(help="Number of hidden neurons; by default 100, or more where a global optimum has more.")
    ] = None,
    bias: Bias = True,
    outputs: Annotated[Literal["trained", "frozen"], Parameter(help="Frozen outputs are +-1/sqrt(width).")] = "trained",
    penalty: Penalty = None,
    optimum: Annotated[
        Literal["local", "global"],
        Parameter(help="A point near the flow, or the network of least norm with its proof (on a line, in the plane)."),
    ] = "local",
    start: Annotated[
        Path | None, Parameter(help="Polish this network (.safetensors), with its own width, bias and outputs.")
    ] = None,
    scale: Annotated[float, Parameter(help="Factor on the initial parameters of the flow.")] = 0.01,
    flow_steps: Annotated[
        int | None,
        Parameter(help="Steps of flow before the polish; by default until it separates, and half as long again."),
    ] = None,
    faithful: Annotated[bool, flag("A long flow of small steps first: slower, and nearer to where it goes.")] = False,
    stay_near: Annotated[
        float, Parameter(help="How strongly the polish is held near the flow; 0 means not at all.")
    ] = 0.0,
    tolerance: Annotated[
        float, checked("--tolerance", "Largest residual at which the point counts as found.", above=0.0)
    ] = 1e-9,
    time_limit: Annotated[
        float | None, checked("--time-limit", "Return the best point found after this many seconds.", above=0.0)
    ] = None,
    compact: Annotated[bool, flag("Write the network with as few neurons as it has directions.")] = False,
    seed: Seed = 0,
    label: Label = None,
    out: Out,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if the certificate holds at the tolerance, 1 if not, 130 if interrupted (what is done is kept)."""
    check_target(out, (".safetensors",), force=force)
    beside = check_target(out.with_suffix(".certificate.json"), (".json",), force=force)
    dataset = mf.data.Dataset.load(data, label=label)
    begun = None if start is None else one_output(start)
    with progress("Looking for the KKT point") as show:
        found = mf.kkt_point(
            dataset,
            width=width,
            seed=seed,
            bias=bias,
            outputs=outputs,
            penalty=penalty,
            optimum=optimum,
            start=begun,
            scale=scale,
            flow_steps=flow_steps,
            faithful=faithful,
            stay_near=stay_near,
            tolerance=tolerance,
            time_limit=time_limit,
            progress=lambda now: show(-1.0, remark(now)),
        )
    holds = found.certificate.holds(tolerance)
    record = {"holds": holds, "tolerance": tolerance, "out": out, "certificate_file": beside, "seed": seed}
    written = found.to_dict() | record
    write_text(beside, result_text(written) + "\n")
    (found.compact if compact else found.network).save(out)
    words = f"{found.describe(tolerance)}\nNetwork      {out}\nCertificate  {beside}"
    return deliver(
        found.to_dict(arrays=False) | record,
        as_json=as_json,
        describe=lambda: print(words),
        holds=holds,
        interrupted=found.stopped_by == "interrupt",
    )


def remark(now: mf.limit.Progress) -> str:
    """One line of the live display: where the solver is."""
    return (
        f"{now.stage} {now.iteration}, {now.flips} flips, {now.live_neurons} neurons, "
        f"objective {now.objective:.6g}, gap {now.gap:.1e}"
    )
