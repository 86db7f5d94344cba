"""Which figures exist: found by walking the rooms of the papers, one in a module, under the name `FIGURE`."""

import difflib
import importlib
import pkgutil
from functools import cache

from marginflow.errors import InputError
from marginflow.experiments.frame import Figure
from marginflow.theory.bibliography import PAPERS


@cache
def _every() -> dict[str, Figure]:
    """The `FIGURE` of every module below `marginflow.experiments`, and in the rooms of papers that others add."""
    rooms = ["marginflow.experiments"]
    rooms += [paper.room for paper in PAPERS.values() if not paper.room.startswith("marginflow.theory.")]
    found: dict[str, Figure] = {}
    modules = [
        module
        for room in rooms
        for module in pkgutil.walk_packages(importlib.import_module(room).__path__, prefix=f"{room}.")
    ]
    for module in modules:
        thing = vars(importlib.import_module(module.name)).get("FIGURE")
        if isinstance(thing, Figure):
            if thing.id in found:
                raise InputError(f"Two figures have the id {thing.id}.")
            found[thing.id] = thing
    # By paper; what it published first, then ours.
    order = sorted(found, key=lambda id: (id.partition("/")[0], id.endswith(".ours"), id))
    return {name: found[name] for name in order}


def figures() -> tuple[Figure, ...]:
    """All figures, those of the papers and ours.

    Examples
    --------
    >>> from marginflow import experiments
    >>> "VYS22/Fig1a" in [figure.id for figure in experiments.figures()]
    True
    """
    return tuple(_every().values())


def figure(id: str) -> Figure:
    """The figure with this id, such as "VYS22/Fig1a"; an `InputError` names the nearest ones.

    Examples
    --------
    >>> from marginflow import experiments
    >>> experiments.figure("VYS22/Fig1a").published
    True
    """
    known = _every()
    if id in known:
        return known[id]
    near = difflib.get_close_matches(id, known, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "see `marginflow figure`."
    raise InputError(f"There is no figure {id!r}; {hint}")
