"""The chapters in the order of the page."""

from collections.abc import Callable, Iterator
from typing import Final

from marginflow.demo.chapter import Chapter, Report
from marginflow.demo.clusters import clusters
from marginflow.demo.digits import digits
from marginflow.demo.plane import plane
from marginflow.demo.theorem import theorem
from marginflow.threads import one_thread

# Heading of the progress display, and what computes the chapter.
CHAPTERS: Final[dict[str, Callable[[int, Report], Chapter]]] = {
    "Where training goes": plane,
    "One vector flips them all": digits,
    "More clusters, less room": clusters,
    "A theorem, judged": theorem,
}


def chapters(seed: int, progress: Callable[[str], Report] | None = None) -> Iterator[Chapter]:
    """Compute one chapter after the other; stops after one that was interrupted.

    Parameters
    ----------
    seed : int
        Of all randomness.
    progress : callable or None
        Gives, for the heading of a chapter, what is called with (share done, remark).
    """
    for heading, compute in CHAPTERS.items():
        show = progress(heading) if progress is not None else _silent
        # The matrices are small: a second BLAS thread gains nothing, and on a busy machine costs a factor of ten.
        with one_thread():
            chapter = compute(seed, show)
        yield chapter
        if chapter.interrupted:
            return


def _silent(_share: float, _remark: str) -> None:
    pass
