"""What every judge and every picture rests on: rows in one order, runs that we lost left out, counted and named."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from marginflow.errors import InputError
from marginflow.experiments.outcome import Outcome
from marginflow.experiments.panel import Panel, Row
from marginflow.sweeps.status import is_lost

_NAMED: Final = 5  # so many lost runs are named one by one


def ordered(rows: Sequence[Row], names: Sequence[str], words: Mapping[str, Sequence[object]]) -> list[Row]:
    """The rows by their parameters, numbers by size and words in the order of the grid, then by seed."""

    def rank(name: str, value: object) -> tuple[int, float, str]:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return (1, float(value), "")
        known = list(words.get(name, ()))
        return (0, float(known.index(value) if value in known else len(known)), str(value))

    return sorted(rows, key=lambda row: [rank(name, row.get(name)) for name in (*names, "seed")])


def sound_judge(
    judge: Callable[[Sequence[Row]], Outcome], names: Sequence[str], words: Mapping[str, Sequence[object]]
) -> Callable[[Sequence[Row]], Outcome]:
    """The judge on ordered rows without lost runs; its outcome says how many there were and whether there are gaps."""

    def judged(rows: Sequence[Row]) -> Outcome:
        kept = [row for row in ordered(rows, names, words) if not is_lost(row)]
        lost = [row for row in ordered(rows, names, words) if is_lost(row)]
        if not lost:
            return judge(kept)
        gaps = not {_point(row, names) for row in lost} <= {_point(row, names) for row in kept}
        sentence = lost_runs(lost, len(rows), names)
        try:
            return replace(judge(kept), lost=sentence, gaps=gaps)
        except (InputError, ValueError, IndexError, ZeroDivisionError):
            if not gaps:
                raise
            return Outcome(findings=(), lost=sentence, gaps=True)  # too little is left to judge by

    return judged


def sound_panels(
    panels: Callable[[Sequence[Row]], tuple[Panel, ...]], names: Sequence[str], words: Mapping[str, Sequence[object]]
) -> Callable[[Sequence[Row]], tuple[Panel, ...]]:
    """What is drawn of ordered rows without lost runs; the description of each panel says how many there were."""

    def drawn(rows: Sequence[Row]) -> tuple[Panel, ...]:
        kept = [row for row in ordered(rows, names, words) if not is_lost(row)]
        lost = [row for row in rows if is_lost(row)]
        if not lost:
            return panels(kept)
        sentence = lost_runs(ordered(lost, names, words), len(rows), names)
        made = panels(kept) if kept else ()
        return tuple(replace(panel, description=f"{panel.description} {sentence}") for panel in made)

    return drawn


def lost_runs(lost: Sequence[Row], total: int, names: Sequence[str]) -> str:
    """How many runs were lost, how, and which.

    Examples
    --------
    >>> from marginflow.experiments.soundness import lost_runs
    >>> lost_runs([{"d": 3, "seed": 1, "run_status": "diverged"}], 8, ("d",))
    '1 of 8 runs was lost and is left out: 1 diverged (d=3, seed=1).'
    """
    counts = Counter(str(row["run_status"]) for row in lost)
    said = [f"{', '.join(f'{name}={row[name]}' for name in (*names, 'seed') if name in row)}" for row in lost[:_NAMED]]
    more = f"; and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    verb = "was lost and is" if len(lost) == 1 else "were lost and are"
    kinds = ", ".join(f"{count} {word}" for word, count in counts.items())
    return f"{len(lost)} of {total} runs {verb} left out: {kinds} ({'; '.join(said)}{more})."


def _point(row: Row, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(row.get(name) for name in names)
