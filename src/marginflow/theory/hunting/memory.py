"""The file that remembers a search, so that it goes on as if it had never stopped."""

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import write_text
from marginflow.theory.hunting.search import FamilySearch, Trail

_SAVED_EVERY = 5.0


class HuntMemory:
    """What a search has seen, in a file; without a path nothing is remembered."""

    def __init__(self, path: str | Path | None, search: FamilySearch) -> None:
        self.path = None if path is None else Path(path)
        hunted = [statement.id for statement in search.statements]
        self.judged = [*hunted, *(statement.id for statement in search.beside)]
        self.key = {"ids": hunted, "family": search.family.title, "seed": search.seed}
        self.saved = time.monotonic()

    def load(self) -> dict[str, Trail]:
        """What the file remembers, or new trails; an `InputError` for a file of another search."""
        try:
            if self.path is None or not self.path.exists():
                return {id: Trail() for id in self.judged}
            content = json.loads(self.path.read_text(encoding="utf-8"), object_hook=_with_infinity)
            trails = msgspec.convert(content["trails"], dict[str, Trail])
        except OSError as error:  # a folder, a name that is too long, a file of somebody else's
            raise InputError(f"{self.path} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
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


def _with_infinity(content: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: a slack that was not finite has become null."""
    unlimited = {name: math.inf for name in ("slack", "loosest") if content.get(name, 0.0) is None}
    return content | unlimited
