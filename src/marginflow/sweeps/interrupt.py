"""An interrupt (Ctrl-C) counts even where the work that it met caught it and returned what was done so far."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_count() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at the end of the block if one was raised within it and did not come out.

    `kkt_point` and `train` keep what is done when they are interrupted. For a person at a terminal that is right; for
    a cell of a sweep it is half a computation, and the sweep would go on as if nobody had asked it to stop.
    """
    before = signal.getsignal(signal.SIGINT)
    # Handlers belong to the main thread; and where nothing is called (ignored, or death by the signal) nothing is lost.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[int] = []

    def handler(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt:
            caught.append(number)
            raise

    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        raise KeyboardInterrupt
