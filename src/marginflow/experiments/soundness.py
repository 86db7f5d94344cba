"""What every judge and every picture rests on: rows in one order, runs that we lost left out, counted and named."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from marginflow.errors import InputError
from marginflow.experiments.outcome import Judge, Outcome
from marginflow.experiments.panel import Drawing, Panel, Row, Rows
from marginflow.sweeps.status import is_lost

_NAMED: Final = 5  # lost runs that are named one by one
# The parameters of the cells, each with its words in the order of the grid.
Words = Mapping[str, Sequence[object]]


def ordered(rows: Rows, words: Words) -> list[Row]:
    """The rows by their parameters, numbers by size and words in the order of the grid, then by seed."""

    def rank(name: str, value: object) -> tuple[int, float, str]:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return (1, float(value), "")
        known = list(words.get(name, ()))
        return (0, float(known.index(value) if value in known else len(known)), str(value))

    return sorted(rows, key=lambda row: [rank(name, row.get(name)) for name in (*words, "seed")])


def sound_judge(judge: Judge, words: Words) -> Judge:
    """The judge on ordered rows without lost runs; its outcome says how many there were and whether there are gaps."""

    def judged(rows: Rows) -> Outcome:
        kept, lost, sentence = _parted(rows, words)
        if not lost:
            return judge(kept)
        points, known = ({tuple(row.get(name) for name in words) for row in some} for some in (lost, kept))
        return judged_without(judge, kept, sentence, gaps=not points <= known)

    return judged


def judged_without(judge: Judge, rows: Rows, sentence: str, *, gaps: bool) -> Outcome:
    """The outcome of the rows that are left, and a sentence about the others; with gaps too few may be left."""
    try:
        outcome = judge(rows)
    except (InputError, ValueError, IndexError, ZeroDivisionError):
        if not gaps:
            raise
        return Outcome(findings=(), lost=sentence, gaps=True)
    return replace(outcome, lost=f"{outcome.lost} {sentence}".strip(), gaps=outcome.gaps or gaps)


def sound_panels(panels: Drawing, words: Words) -> Drawing:
    """What is drawn of ordered rows without lost runs; the description of each panel says how many there were."""

    def drawn(rows: Rows) -> tuple[Panel, ...]:
        kept, lost, sentence = _parted(rows, words)
        if not lost:
            return panels(kept)
        made = panels(kept) if kept else ()
        return tuple(replace(panel, description=f"{panel.description} {sentence}") for panel in made)

    return drawn


def _parted(rows: Rows, words: Words) -> tuple[list[Row], list[Row], str]:
    """Ordered rows of the runs that we have, those of the runs that we lost, and a sentence about these."""
    kept: list[Row] = []
    lost: list[Row] = []
    for row in ordered(rows, words):
        (lost if is_lost(row) else kept).append(row)
    return kept, lost, lost_runs(lost, len(rows), words)


def lost_runs(lost: Rows, total: int, names: Iterable[str]) -> str:
    """How many runs were lost, how, and which.

    Examples
    --------
    >>> from marginflow.experiments.soundness import lost_runs
    >>> lost_runs([{"d": 3, "seed": 1, "run_status": "diverged"}], 8, ("d",))
    '1 of 8 runs was lost and is left out: 1 diverged (d=3, seed=1).'
    """
    counts = Counter(str(row["run_status"]) for row in lost)
    said = [", ".join(f"{name}={row[name]}" for name in (*names, "seed") if name in row) for row in lost[:_NAMED]]
    more = f"; and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    verb = "was lost and is" if len(lost) == 1 else "were lost and are"
    kinds = ", ".join(f"{count} {word}" for word, count in counts.items())
    return f"{len(lost)} of {total} runs {verb} left out: {kinds} ({'; '.join(said)}{more})."
