"""A recorded run as files: words and the plan in JSON, every array beside it in safetensors, bit for bit."""

import json
from collections.abc import Mapping
from dataclasses import fields
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from marginflow import losses
from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.flow import schedule, stopping
from marginflow.flow.descent import Descent
from marginflow.flow.trainable import Network
from marginflow.flow.training import Run
from marginflow.flow.trajectory import Trajectory
from marginflow.networks import MLP, TwoLayer
from marginflow.plain import to_plain
from marginflow.storage import load_tensors, save_tensors, write_text

FORMAT: Final = "marginflow run 1"
_COUNTS: Final = ("step", "epoch")
_WORDS: Final = ("status", "steps", "epochs", "engine", "seconds")


def tensors_beside(path: str | Path) -> Path:
    """Where the arrays of a run are: the same name, ending in .safetensors."""
    return Path(path).with_suffix(".safetensors")


def save_run(run: Run, path: str | Path) -> Path:
    """Write a run to `path` (.json) and its arrays beside it; `load_run` gives the same run again.

    Keep the networks on the way (`Recording(networks=True)`) where statements about training are to be checked.
    """
    target = Path(path)
    if target.suffix != ".json":
        raise InputError(f"{target} does not end in .json.")
    arrays: dict[str, FloatArray] = {"log_loss_and_log_time": np.array([run.log_loss, run.log_time])}
    for field in fields(Trajectory):
        value = getattr(run.trajectory, field.name)
        if field.name != "networks" and value is not None:
            arrays[field.name] = np.asarray(value, dtype=np.float64)
    networks = [run.network, *(run.trajectory.networks or ())]
    for number, network in enumerate(networks):
        for layer, (W, b) in enumerate(network.layers):
            arrays[f"network.{number}.{layer}.weight"] = W
            if b is not None:
                arrays[f"network.{number}.{layer}.bias"] = b
    record = {
        "format": FORMAT,
        "network": type(run.network).__name__,
        "outputs": run.network.outputs,
        "networks": len(networks) - 1,
        "layers": len(run.network.layers),
        "plan": to_plain(run.plan, named=True),
        **{name: getattr(run, name) for name in _WORDS},
    }
    save_tensors(tensors_beside(target), arrays, {"format": FORMAT})
    return write_text(target, json.dumps(record, indent=1, allow_nan=False) + "\n")


def load_run(path: str | Path) -> Run:
    """A run from the files that `save_run` wrote; an `InputError` says what is wrong with them."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read as a recorded run: {error}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(f"{path} is not a recorded run; `marginflow train --run FILE.json` writes them.")
    arrays, _ = load_tensors(tensors_beside(path))
    try:
        networks = [_network(record, arrays, number) for number in range(int(record["networks"]) + 1)]
        given = {
            field.name: arrays[field.name].astype(np.int64) if field.name in _COUNTS else arrays[field.name]
            for field in fields(Trajectory)
            if field.name in arrays
        }
        optional: dict[str, Any] = {"balance": None, "margins": None, "networks": tuple(networks[1:]) or None}
        log_loss, log_time = (float(value) for value in arrays["log_loss_and_log_time"])
        return Run(
            network=networks[0],
            log_loss=log_loss,
            log_time=log_time,
            trajectory=Trajectory(**{**optional, **given}),
            plan=_plan(record["plan"]),
            **{name: record[name] for name in _WORDS},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is not a whole recorded run: {error!r}.") from None


def _network(record: Mapping[str, Any], arrays: Mapping[str, FloatArray], number: int) -> Network:
    kinds: dict[str, type[TwoLayer] | type[MLP]] = {"TwoLayer": TwoLayer, "MLP": MLP}
    layers = [
        (arrays[f"network.{number}.{layer}.weight"], arrays.get(f"network.{number}.{layer}.bias"))
        for layer in range(int(record["layers"]))
    ]
    return kinds[record["network"]].from_layers(layers, outputs=record["outputs"])


def _plan(plan: Mapping[str, Any]) -> Descent:
    return Descent(
        loss=_made(plan["loss"], losses, losses.AbstractLoss),
        schedule=_made(plan["schedule"], schedule, schedule.AbstractSchedule),
        stop=[_made(stop, stopping, stopping.AbstractStop) for stop in plan["stop"]],
        batch=plan["batch"],
        method=plan["method"],
    )


def _made(record: Mapping[str, Any], module: ModuleType, base: type) -> Any:
    """An object of one of the kinds of a module from its plain form; nothing else is ever made."""
    kinds = {
        name: thing
        for name, thing in vars(module).items()
        if isinstance(thing, type) and issubclass(thing, base) and not isabstract(thing)
    }
    if record["name"] not in kinds:
        raise ValueError(f"{record['name']!r} is not one of {', '.join(kinds)}")
    given = {key: value for key, value in record.items() if key != "name" and value is not None}
    if "value" in given:
        given.pop("log_value", None)  # a bound on the loss, beside which its logarithm is kept
    return kinds[record["name"]](**given)
