"""Worker processes for plain work: what a piece of work does to its process costs that piece and nothing else.

A worker is a fresh interpreter that is handed one piece of work after the other through a pipe. It ends when the pipe
does, so it never outlives the process that started it, not even after `kill -9`. A piece that ends its process (a
crash, the memory, `os._exit`) is tried once more alone; one that takes too long is ended. Both come back with a reason
and with what they had printed.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pkgutil
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final, final

# For processes that have not loaded a BLAS yet.
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from marginflow.processes import serve; serve()"
)
_HEAD: Final = struct.Struct("<BQ")  # kind of message, length of what follows
_RESULT, _RAISED, _BEGUN = 0, 1, 2
_LOOK: Final = 0.5  # seconds between two looks at the processes themselves
_LOG_LIMIT: Final = 16_384  # bytes of what a piece of work printed that are kept: the last ones


@final
@dataclass(frozen=True, kw_only=True)
class Answer:
    """What became of one piece of work.

    Parameters
    ----------
    index : int
        Which piece it is.
    content : bytes or None
        What the function returned; None if there is nothing.
    reason : str or None
        Why there is nothing: a traceback, or a sentence about the process.
    log : str
        What was printed meanwhile, the end of it.
    seconds : float
        Wall time.
    """

    index: int
    content: bytes | None
    reason: str | None
    log: str
    seconds: float


def work(
    target: str, payloads: Sequence[bytes], *, workers: int = 1, time_limit: float | None = None
) -> Generator[Answer, None, None]:
    """Call a function on every payload, in this many processes; answers come as they are ready, one for each payload.

    Parameters
    ----------
    target : str
        "package.module:function", bytes to bytes; it must be importable with the path of this process.
    payloads : sequence of bytes
    workers : int
        Processes; each has one BLAS thread.
    time_limit : float or None
        Seconds after which a piece of work is ended; those that a process takes to start do not count.

    Notes
    -----
    Closing the generator ends the workers. Ctrl-C does not reach them, who have sessions of their own; an interrupt
    that the work raises or sends itself is what the work ended in, as any other exception.
    """
    waiting, died = deque(range(len(payloads))), deque[int]()
    answers: queue.SimpleQueue[tuple[_Worker, int, bytes] | None] = queue.SimpleQueue()
    crew: list[_Worker] = []
    try:
        # Those whose process died are tried again at the end, one at a time: two may have been too much for the memory.
        for line, most in ((waiting, min(workers, len(payloads))), (died, 1)):
            while line or any(worker.index is not None for worker in crew):
                for worker in [worker for worker in crew if worker.index is None][: len(line)]:
                    worker.begin(line.popleft(), payloads)
                while line and len(crew) < most:
                    crew.append(_Worker(target, answers))
                    crew[-1].begin(line.popleft(), payloads)
                for worker, answer in _finished(crew, answers, time_limit):
                    if answer is not None:
                        yield answer
                        continue
                    crew.remove(worker)
                    lost = None if worker.index is None else worker.answer(None, worker.death())
                    worker.end()
                    if lost is not None and line is waiting:
                        died.append(lost.index)
                    elif lost is not None:
                        yield lost
            while crew:
                crew.pop().end()
    finally:
        for worker in crew:
            worker.end()


def _finished(
    crew: list[_Worker], answers: queue.SimpleQueue[Any], time_limit: float | None
) -> Generator[tuple[_Worker, Answer | None], None, None]:
    """What happened by the next look: answers, and workers that are gone (with None, or with why they were ended)."""
    now = time.monotonic()
    left = (
        [] if time_limit is None else [worker.called + time_limit - now for worker in crew if worker.index is not None]
    )
    with contextlib.suppress(queue.Empty):
        worker, kind, content = answers.get(timeout=max(0.0, min([_LOOK, *left])))
        if kind == _BEGUN:
            worker.called = time.monotonic()
        elif worker in crew and worker.index is not None:
            answer = worker.answer(*((content, None) if kind == _RESULT else (None, content.decode())))
            worker.index = None
            yield worker, answer
        return
    for worker in list(crew):
        if time_limit is not None and worker.index is not None and time.monotonic() - worker.called >= time_limit:
            crew.remove(worker)
            worker.kill()
            answer = worker.answer(None, f"Timeout: ended after {time_limit:g} s, the limit for one piece of work.")
            worker.end()
            yield worker, answer
        elif worker.process.poll() is not None:
            worker.kill()  # a child of it may hold the pipe
            if not worker.reader.is_alive():
                yield worker, None


@dataclass(eq=False)
class _Worker:
    """One process and the piece of work that it has in hand."""

    target: str
    answers: queue.SimpleQueue[Any]
    index: int | None = None
    begun: float = 0.0
    called: float = math.inf  # when it said that it has begun
    log: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def __post_init__(self) -> None:
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-u", "-X", "faulthandler", "-c", _START, json.dumps(sys.path, allow_nan=False)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # a process that the work starts ends with it
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def begin(self, index: int, payloads: Sequence[bytes]) -> None:
        """Hand over a piece of work; a process that is gone is noticed at the next look."""
        self.index, self.begun, self.called = index, time.monotonic(), math.inf
        self.log.seek(0)
        self.log.truncate()
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            send(
                self.process.stdin, _RESULT, json.dumps(self.target, allow_nan=False).encode() + b"\n" + payloads[index]
            )

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while (message := receive(self.process.stdout)) is not None:
                self.answers.put((self, *message))

    def answer(self, content: bytes | None, reason: str | None) -> Answer:
        assert self.index is not None
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - _LOG_LIMIT))
        log = self.log.read().decode("utf-8", "replace")
        seconds = time.monotonic() - self.begun
        return Answer(index=self.index, content=content, reason=reason, log=log, seconds=seconds)

    def death(self) -> str:
        """How the process ended, as a sentence."""
        code = self.process.wait()
        if code >= 0:
            return f"The worker process died: it ended itself with exit code {code}."
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        hint = ", often because the memory was full" if name == "SIGKILL" else ""
        return f"The worker process died: it was killed by {name}{hint}."

    def kill(self) -> None:
        """End the process and whatever it started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()

    def end(self) -> None:
        """The same, and close what belongs to it."""
        self.kill()
        self.process.wait()
        self.reader.join(timeout=5.0)
        self.log.close()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def send(pipe: IO[bytes], kind: int, content: bytes) -> None:
    """Write one message."""
    pipe.write(_HEAD.pack(kind, len(content)))
    pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[int, bytes] | None:
    """Read one message; None at the end of the pipe."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    content = pipe.read(length)
    return (kind, content) if len(content) == length else None


def serve() -> None:
    """The life of a worker: take work, call the function, answer; end with the pipe."""
    orders = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # Whatever the work prints goes to the log, and it has nothing to read.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    line: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        while (message := receive(orders)) is not None:
            line.put(message[1])
        # The parent is gone or does not want this process any more: it ends with its children, at once.
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        target, _, payload = line.get().partition(b"\n")
        try:
            function = pkgutil.resolve_name(json.loads(target))
            send(replies, _BEGUN, b"")  # the time that a process takes to start is not that of the work
            kind, content = _RESULT, function(payload)
        except BaseException:  # whatever the function raises is its answer, an interrupt of its own too
            kind, content = _RAISED, traceback.format_exc().encode("utf-8", "backslashreplace")
        sys.stdout.flush()
        sys.stderr.flush()
        send(replies, kind, content)
