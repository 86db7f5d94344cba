"""Wrong-typed calls of every public function: how many end in something else than an `InputError`?

    python benchmarks/attack_api.py --calls 100000 --seed 0

Each callable of each room gets arguments that fit its signature, tiny ones; then one or two of them are replaced by
something that no annotation allows. A call may succeed (some parameters take anything), or end in an `InputError`.
Anything else is counted and listed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import decimal
import fractions
import importlib
import inspect
import io
import os
import random
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import marginflow as mf

DATA = mf.data.Dataset(X=[[1.0, 0.2], [0.1, 1.0], [-1.0, 0.3]], y=[1, -1, 1])
NETWORK = mf.networks.TwoLayer.initialise(width=4, dimension=2, seed=0)
BAD: list[Any] = [
    None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**400, 1j, "word", "", b"bytes", [], [[]], [["a"]], [[1.0]],
    [1, [2]], {}, {"a": 1}, set(), (), (None,), object(), object, len, lambda: None, iter([1]), range(3), Ellipsis,
    decimal.Decimal("NaN"), fractions.Fraction(1, 3), np.float32(0.5), np.array([]), np.array("x"), np.zeros((2, 2, 2)),
    np.array([None, object()]), np.array([1j]), np.zeros(3, dtype="datetime64[s]"), np.ma.masked, Path("nowhere"), DATA,
    NETWORK, mf, NotImplemented, slice(3), memoryview(b"ab"), bytearray(3), "\ud800", -(10**30), np.nan * np.ones(3),
]  # fmt: skip
ROOMS = ("certificates", "data", "flow", "generalisation", "limit", "losses", "networks", "robustness", "theory")
SLOW = 3  # seconds after which a call is given up, and counted apart


def good(name: str, annotation: object) -> Any:
    """An argument that fits, by its name or else by its annotation; raises KeyError where none is known."""
    known: dict[str, Any] = {
        "network": NETWORK, "data": DATA, "dataset": DATA, "train": DATA, "X": DATA.X, "y": DATA.y, "x": DATA.X[0],
        "point": DATA.X[0], "points": DATA.X, "start": NETWORK, "trained": NETWORK, "width": 4,
        "dimension": 2, "n_samples": 3, "seed": 0, "direction": np.array([1.0, 0.0]), "label": 1.0, "W": NETWORK.W,
        "v": NETWORK.v, "b": NETWORK.b, "rate": 0.1, "scale": 1.0, "weights": np.ones(3), "time_limit": 1.0,
        "perturbation": np.array([1.0, 0.0]), "q": np.ones(3), "margins": np.ones(3), "index": [0, 1], "kink": 0.0,
        "G": np.eye(2), "gram": np.eye(2), "path": "file.npz", "epsilon": 0.1, "radius": 1.0, "n_clusters": 2,
        "recipe": None, "loss": mf.losses.Exponential(), "successes": 1, "trials": 3, "neuron": 0, "shares": [0.5, 0.5],
        "order": [0, 1, 2, 3], "U": NETWORK.augmented, "signs": NETWORK.signs, "bias": True, "factor": 2.0,
        "means": np.eye(2), "mean_labels": [1, -1], "max_steps": 2, "log_value": -1.0, "n": 3, "d": 2, "k": 2, "rng":
        np.random.default_rng(0), "layers": NETWORK.layers, "state": NETWORK.state_dict(), "sigma": 0.5, "limit": 1.0,
        "id": "VYS22/Thm4.1",
    }  # fmt: skip
    if name in known:
        return known[name]
    text = str(annotation)
    for word, value in (("float", 0.5), ("int", 2), ("bool", False), ("str", "word"), ("ArrayLike", np.ones(2))):
        if word in text:
            return value
    raise KeyError(name)


def doors() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, class and method of the rooms, with its name."""
    for room_name in ROOMS:
        room = getattr(mf, room_name)
        for name in room.__all__:
            thing = getattr(room, name)
            if inspect.isclass(thing):
                if not inspect.isabstract(thing) and not issubclass(thing, BaseException):
                    yield f"{room_name}.{name}", thing
            elif inspect.isfunction(thing):
                yield f"{room_name}.{name}", thing
    for owner in (NETWORK, DATA, mf.data.Sphere(dimension=2), mf.losses.Logistic()):
        for name, method in inspect.getmembers(owner, inspect.ismethod):
            # An alarm in the middle of importing torch would leave half of it behind.
            if not name.startswith(("_", "to_")) and "unchecked" not in (method.__doc__ or ""):
                yield f"{type(owner).__name__}.{name}", method
    for name in ("certify", "kkt_point", "train"):
        yield name, getattr(mf, name)


def fitting(call: Callable[..., Any]) -> dict[str, Any]:
    """Arguments for every parameter that must be given."""
    return {
        name: good(name, parameter.annotation)
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.default is inspect.Parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


class TooSlow(BaseException):
    """A call that takes longer than `SLOW`."""


@contextlib.contextmanager
def alarm(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclasses.dataclass
class Tally:
    """What became of the calls."""

    calls: int = 0
    refused: int = 0
    answered: int = 0
    slow: Counter[str] = dataclasses.field(default_factory=Counter)
    wrong: Counter[tuple[str, str, str]] = dataclasses.field(default_factory=Counter)


def attack(calls: int, *, seed: int = 0, seconds: float = float("inf"), only: str = "") -> Tally:
    """Call public doors with wrong arguments, `calls` times, in a folder of its own."""
    rng = random.Random(seed)
    targets = []
    for name, call in doors():
        if only in name:
            with contextlib.suppress(KeyError, ValueError):
                targets.append((name, call, fitting(call), list(inspect.signature(call).parameters.values())))
    tally = Tally()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while tally.calls < calls and time.monotonic() - began < seconds:
            name, call, arguments, parameters = rng.choice(targets)
            named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
            if not named:
                continue
            chosen = rng.sample(named, min(len(named), rng.choice((1, 1, 1, 2))))
            changed = arguments | {parameter: rng.choice(BAD) for parameter in chosen}
            tally.calls += 1
            try:
                with alarm(SLOW), contextlib.redirect_stdout(io.StringIO()):
                    call(**changed)
                tally.answered += 1
            except mf.InputError:
                tally.refused += 1
            except TooSlow:
                tally.slow[f"{name}({', '.join(chosen)})"] += 1
            except Exception as error:
                if any(callable(changed[parameter]) for parameter in chosen):
                    tally.answered += 1  # a function was taken for one, as it should, and failed by itself
                    continue
                what = ", ".join(f"{parameter}={type(changed[parameter]).__name__}" for parameter in chosen)
                tally.wrong[(name, what, f"{type(error).__name__}: {str(error)[:80]}")] += 1
    return tally


def import_first() -> None:
    """Bring in what calls would import on their own: an alarm in the middle of an import leaves half of it behind."""
    for module in ("pandas", "sklearn.datasets", "scipy.ndimage", "scipy.stats"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def main() -> None:
    import_first()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", default="", help="Doors whose name contains this.")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    tally = attack(options.calls, seed=options.seed, seconds=options.seconds, only=options.only)
    wrong = sum(tally.wrong.values())
    print(
        f"{tally.calls} calls: {tally.refused} InputError, {tally.answered} answered, "
        f"{sum(tally.slow.values())} given up after {SLOW} s, {wrong} ended otherwise."
    )
    by_door: Counter[tuple[str, str]] = Counter()
    for (name, what, error), count in tally.wrong.items():
        by_door[(name, f"{what}: {error}")] += count
    for (name, what), count in sorted(by_door.items()):
        print(f"{count:6}  {name}  {what}")
    for name, count in tally.slow.most_common(10):
        print(f"slow {count:6}  {name}")


if __name__ == "__main__":
    main()
