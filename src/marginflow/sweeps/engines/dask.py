"""Cells on a Dask cluster: one at a given address, or one started here."""

import importlib
import logging
import queue
import re
import socket
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, final

from marginflow.arrays import real_number, whole_number
from marginflow.errors import InputError
from marginflow.processes import ONE_THREAD, work
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.engines.engine import AbstractEngine
from marginflow.sweeps.record import Computed
from marginflow.sweeps.trouble import StoppedError
from marginflow.sweeps.worker import SERVE, Order, compute, decode

_ADDRESS: Final = re.compile(r"((tcp|tls)://)?(?P<host>[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5})")
_LOOK_AFTER: Final = 0.5  # seconds until the first look at whether there is still anybody who works


def compute_within(order: Order, time_limit: float | None) -> Computed:
    """Compute a cell in a Dask worker; with a time limit in a process that can be ended."""
    if time_limit is None:
        return compute(order)
    (answer,) = work(SERVE, [order.encode()], time_limit=time_limit)
    return decode(order, answer)


@final
@dataclass(frozen=True)
class DaskEngine(AbstractEngine):
    """Cells travel to Dask workers; the scheduler hands those of a worker that dies to another one.

    Parameters
    ----------
    address : str, optional
        Of a scheduler, such as "tcp://127.0.0.1:8786"; its workers must have the same versions of marginflow, NumPy and
        SciPy, and this is checked. Without it a cluster is started on this machine and ended afterwards.
    workers : int, optional
        Workers of the cluster that is started; by default one for every core.
    patience : float
        Seconds to wait for a scheduler to answer, and for a worker to appear when there is none.
    """

    address: str | None = None
    workers: int | None = None
    patience: float = 30.0

    def __post_init__(self) -> None:
        real_number("patience", self.patience, above=0.0)
        if self.workers is not None:
            whole_number("workers", self.workers)
            if self.address is not None:
                raise InputError("workers is for a cluster that is started here; the one at the address has its own.")

    def compute(self, cells: Sequence[Cell], *, time_limit: float | None = None) -> Generator[Computed, None, None]:
        """Compute each cell once, in whatever order they finish; with a time limit each in a process of its own."""
        with self._client() as client:
            # Names of this run only: two sweeps with the same cells must not cancel each other's.
            run = uuid.uuid4().hex
            orders = {f"marginflow-{cell.key}-{run}": Order.of(cell) for cell in cells}
            finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
            futures = [client.submit(compute_within, order, time_limit, key=name) for name, order in orders.items()]
            for future in futures:
                future.add_done_callback(finished.put)
            try:
                for _ in futures:
                    future = self._while_somebody_works(client, finished.get)
                    yield self._computed(client, future, orders)
                    future.release()
            finally:
                if client.status == "running":
                    with suppress(OSError):  # the scheduler may be gone before the client knows it
                        client.cancel(futures, force=True)

    def _computed(self, client: Any, future: Any, orders: dict[str, Order]) -> Computed:
        # The result of a future that was finished may be lost with its worker; then Dask computes it again.
        order = orders[future.key]
        error = self._while_somebody_works(client, future.exception)
        if error is None:
            computed: Computed = self._while_somebody_works(client, future.result)
            return computed
        if type(error).__name__ == "KilledWorker":
            how = "several Dask workers died one after the other while they computed this cell"
            return Computed(key=order.key, status="failed", seconds=0.0, error=f"The worker process died: {how}.")
        if isinstance(error, StoppedError):
            raise error
        raise StoppedError(f"Dask could not compute the cell with {dict(order.parameters)}: {error}.")

    def _while_somebody_works(self, client: Any, attempt: Callable[..., Any]) -> Any:
        """What the attempt returns, given ever more time, unless the scheduler or all workers are gone for too long."""
        last_seen, seconds = time.monotonic(), _LOOK_AFTER
        while True:
            try:
                return attempt(timeout=seconds)
            except (queue.Empty, TimeoutError):
                seconds *= 1.5  # so that even the transfer of large arrays ends within one attempt
            except (CancelledError, OSError):  # a closed connection: of the disk nothing was asked
                raise StoppedError(self._gone(client)) from None
            if client.status != "running":
                raise StoppedError(self._gone(client))
            if _workers(client):
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self.patience:
                raise StoppedError(
                    f"No worker of the Dask scheduler at {self._address(client)} is left after {self.patience:g} s; "
                    "what was stored stays, so start workers and the same sweep again."
                )

    def _gone(self, client: Any) -> str:
        return (
            f"The Dask scheduler at {self._address(client)} is gone; what was stored stays, so start it and the same "
            "sweep again."
        )

    def _address(self, client: Any) -> str:
        return self.address or str(client.scheduler.address)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise InputError("The engine 'dask' needs Dask; install it with: pip install 'marginflow[dask]'") from None
        if self.address is not None:
            _check_address(self.address, self.patience)
            with _silence():
                try:
                    client = distributed.Client(self.address, timeout=self.patience, set_as_default=False)
                except (OSError, ValueError, TimeoutError) as error:
                    raise InputError(f"No Dask scheduler answers at {self.address}: {error}.") from None
                with client:
                    yield client
            return
        with (
            _silence(),
            distributed.LocalCluster(
                n_workers=self.workers, threads_per_worker=1, dashboard_address=None, env=dict(ONE_THREAD)
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client


def _workers(client: Any) -> int:
    """How many workers there are, none where the scheduler does not answer any more."""
    try:
        return len(client.scheduler_info()["workers"])
    except OSError:
        return 0


def _check_address(address: str, patience: float) -> None:
    """Refuse, at once, what is not an address or where nobody listens."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InputError(f'The address is {address!r}; one such as "tcp://127.0.0.1:8786" is expected.')
    host, port = found["host"].strip("[]"), int(found["port"])
    try:
        socket.create_connection((host, port), timeout=patience).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"No Dask scheduler answers at {address}: {reason}.") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the libraries from printing the tracebacks of what we say in a sentence."""
    loggers = [logging.getLogger(name) for name in ("distributed", "asyncio", "tornado")]
    children = [
        logger
        for name, logger in logging.root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and name.startswith(("distributed.", "tornado."))
    ]
    levels = {logger: logger.level for logger in (*loggers, *children)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
