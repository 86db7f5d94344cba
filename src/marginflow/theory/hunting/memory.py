"""The file that remembers a search, so that it goes on as if it had never stopped."""

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import write_text
from marginflow.theory.hunting.search import Pursuit, Step, Trail

_SAVED_EVERY = 5.0
_COUNTS = ("tries", "built", "applied", "telling")


class HuntMemory:
    """What a search has seen, in a file; without a path nothing is remembered.

    Parameters
    ----------
    path : Path or None
    hunted, judged : tuple of str
        The statements whose claims take turns, and all that are judged.
    family : str
        The title of the family.
    seed : int
    """

    def __init__(
        self, path: Path | None, *, hunted: tuple[str, ...], judged: tuple[str, ...], family: str, seed: int
    ) -> None:
        self.path, self.judged = path, judged
        self.key = {"ids": list(hunted), "family": family, "seed": seed}
        self.saved = time.monotonic()

    def load(self) -> dict[str, Trail]:
        """What the file remembers, or new trails; an `InputError` for a file of another search."""
        try:
            if self.path is None or not self.path.exists():
                return {id: Trail() for id in self.judged}
            content = json.loads(self.path.read_text(encoding="utf-8"))
            trails = {id: _trail(trail) for id, trail in content["trails"].items()}
        except OSError as error:  # a folder, a name that is too long, a file of somebody else's
            raise InputError(f"{self.path} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{self.path} does not hold the state of a hunt: {error}.") from None
        if {name: content.get(name) for name in self.key} != self.key:
            found = ", ".join(f"{name} {content.get(name)!r}" for name in self.key)
            raise InputError(f"{self.path} remembers another hunt ({found}); {self.key} is expected.")
        return {id: trails.get(id, Trail()) for id in self.judged}

    def save(self, trails: Mapping[str, Trail]) -> None:
        """Write what a later hunt needs."""
        if self.path is not None:
            write_text(self.path, json.dumps(to_plain({**self.key, "trails": trails}), allow_nan=False) + "\n")
            self.saved = time.monotonic()

    def keeper(self, trails: Mapping[str, Trail], progress: Callable[[Trail], None] | None) -> Callable[[Trail], None]:
        """Call `progress`, and save from time to time."""

        def after(now: Trail) -> None:
            if progress is not None:
                progress(now)
            if self.path is not None and time.monotonic() - self.saved > _SAVED_EVERY:
                self.save(trails)

        return after


def _trail(content: Mapping[str, Any]) -> Trail:
    return Trail(
        **{name: int(content[name]) for name in _COUNTS},
        history=[step for step in map(_step, content["history"]) if step is not None],
        step=_step(content["step"]),
        nearest=str(content["nearest"]),
        pursuits={
            name: Pursuit(
                current=_step(pursuit["current"]),
                idle=int(pursuit["idle"]),
                tightest=_step(pursuit["tightest"]),
                loosest=math.inf if pursuit["loosest"] is None else float(pursuit["loosest"]),
            )
            for name, pursuit in content["pursuits"].items()
        },
    )


def _step(content: Mapping[str, Any] | None) -> Step | None:
    """A step; a slack that was not finite has become null."""
    if content is None:
        return None
    slack = math.inf if content["slack"] is None else float(content["slack"])
    return Step(number=int(content["number"]), slack=slack, candidate=content["candidate"])
