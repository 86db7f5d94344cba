"""`marginflow train DATA`: train a network by a paper's recipe or by gradient flow, and keep it with its trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import one_output
from marginflow.cli.options import AsJson, DataFile, Force, Label, Out, Seed, Width, any_case, checked
from marginflow.cli.output import check_target, result_text, tell
from marginflow.cli.progress import progress
from marginflow.errors import InputError
from marginflow.storage import write_text

if TYPE_CHECKING:
    from marginflow.flow.recipes import FCB22, KYS23, VYS22
    from marginflow.networks import TwoLayer

    Published = VYS22 | KYS23 | FCB22

RecipeName = Literal["vys22", "kys23", "fcb22", "flow"]
HEADINGS = {
    "status": "Ended because",
    "steps": "Steps",
    "loss": "Loss",
    "least_margin": "Smallest margin",
    "normalised_margin": "Normalised margin",
    "separated": "All samples correct",
    "seconds": "Seconds",
    "out": "Network",
    "trajectory": "Trajectory",
    "run": "Run",
}


def train(
    data: DataFile,
    *,
    recipe: Annotated[
        RecipeName,
        Parameter(
            converter=any_case,
            help="The training of a paper, exactly as published, or gradient flow in log time (upper or lower case).",
        ),
    ] = "flow",
    width: Width = 200,
    scale: Annotated[
        float, checked("scale", "Factor on the initial parameters; small ones end nearer to a limit.", above=0.0)
    ] = 1.0,
    start: Annotated[Path | None, Parameter(help="Begin with this network (.safetensors) instead.")] = None,
    stop_loss: Annotated[float | None, Parameter(help="Stop at this loss (flow: 1e-8 if not given).")] = None,
    max_steps: Annotated[int | None, Parameter(help="Stop after this many steps (flow: 20000 if not given).")] = None,
    time_limit: Annotated[float | None, checked("--time-limit", "Stop after this many seconds.", above=0.0)] = None,
    run_file: Annotated[
        Path | None,
        Parameter(
            name="--run", help="Also keep the whole run, networks on the way included (.json), for `check --run`."
        ),
    ] = None,
    seed: Seed = 0,
    label: Label = None,
    out: Out,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every sample is classified correctly, 1 if not, 130 if interrupted (what is done is kept)."""
    check_target(out, (".safetensors",), force=force)
    beside = check_target(out.with_suffix(".trajectory.json"), (".json",), force=force)
    if run_file is not None:
        check_target(run_file, (".json",), force=force)
        if check_target(run_file.with_suffix(".safetensors"), (".safetensors",), force=force) == out:
            raise InputError(f"--run {run_file} keeps its arrays in {out}, which is --out; give them different names.")
    dataset = mf.data.Dataset.load(data, label=label)
    rules = _stop_rules(recipe, stop_loss, max_steps, time_limit)
    published = _published(recipe)
    chosen = mf.flow.GradientFlow(stop=rules) if published is None else published
    begun = _start(published, dataset.dimension, width, scale, start, seed)
    with progress("Training") as show:
        run = mf.flow.train(
            begun,
            dataset,
            chosen,
            seed=seed,
            stop=rules,
            recording=mf.flow.Recording(networks=run_file is not None),
            progress=lambda now: show(now.share, f"step {now.step}, loss {mf.losses.as_power_of_ten(now.log_loss)}"),
        )
    record = run.to_dict() | {"out": out, "trajectory": beside, "seed": seed, "recipe": recipe}
    write_text(beside, result_text(record | {"records": run.trajectory.to_dict()}) + "\n")
    run.network.save(out)
    if run_file is not None:
        record["run"] = mf.flow.save_run(run, run_file)
    holds = run.separated and run.status != "diverged"
    return tell(record, as_json=as_json, headings=HEADINGS, holds=holds, interrupted=run.status == "interrupted")


def _stop_rules(
    recipe: RecipeName, stop_loss: float | None, max_steps: int | None, time_limit: float | None
) -> list[mf.flow.AbstractStop]:
    if recipe == "flow":
        # A sample on which no neuron is active never gets one: without a bound the flow would go on for ever.
        stop_loss = 1e-8 if stop_loss is None else stop_loss
        max_steps = 20_000 if max_steps is None else max_steps
    rules: list[mf.flow.AbstractStop] = []
    if stop_loss is not None:
        rules.append(mf.flow.LossBelow(stop_loss))
    if max_steps is not None:
        rules.append(mf.flow.Steps(max_steps))
    if time_limit is not None:
        rules.append(mf.flow.WallTime(time_limit))
    return rules


def _published(name: RecipeName) -> Published | None:
    """The training of a paper; None for gradient flow."""
    published = {"vys22": mf.flow.recipes.VYS22, "kys23": mf.flow.recipes.KYS23, "fcb22": mf.flow.recipes.FCB22}
    return published[name]() if name in published else None


def _start(
    published: Published | None, dimension: int, width: int, scale: float, given: Path | None, seed: int
) -> TwoLayer:
    """The network that training begins with: a file, or the paper's own law times `scale`."""
    if given is not None:
        start = one_output(given)
        if start.dimension != dimension:
            raise InputError(f"{given} has dimension {start.dimension}, but the data have dimension {dimension}.")
    elif published is None:
        start = mf.networks.TwoLayer.initialise(width, dimension, seed=seed)
    else:
        start = published.network(width, dimension, seed=seed)
    return start if scale == 1.0 else start.scaled(scale)
