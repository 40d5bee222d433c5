"""The base class of connections for both HTTP versions, with fairness, deadlines and tasks."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import cast

from nexus_tools.sui.localnet.http.exchange import (
    Application,
    Backlog,
    ClientGoneError,
    Exchange,
)
from nexus_tools.sui.localnet.http.memory_budget import Budget

_LOG = logging.getLogger(__name__)

_TURN_BYTES = 4096
_AHEAD_BYTES = 64 * 1024  # The limit of bytes received after the current request.
_UNSENT_BYTES = 64 * 1024  # The limit of bytes sent in a turn, and asyncio's buffer limit.


class Connection(asyncio.Protocol, ABC):
    """A client's connection. Malformed data from a client can end only that client's connection.

    In each turn of the event loop, the connection processes only a part of the received bytes.
    Processing many small frames takes long, and other connections must also be served. The data of
    a turn is sent together because the system call is the most expensive step. `when_over` is
    called when the connection is lost and its last request has ended.
    """

    def __init__(self, application: Application, idle_seconds: float, budget: Budget) -> None:
        self.when_over: Callable[[], None] = lambda: None
        self._application = application
        self._idle_seconds = idle_seconds
        self.budget = budget
        self.backlog = Backlog()
        self._has_left = False  # the client has closed its sending side
        self._is_lost = False
        self._is_writable = True
        self._heard = bytearray()  # Received bytes that are not yet processed.
        self._unsent = bytearray()  # Bytes to send at the end of this turn.
        self._reads_soon = False
        self._flushes_soon = False
        self._tasks: dict[Exchange, asyncio.Task[None]] = {}
        self._loop = asyncio.get_running_loop()
        self._deadline: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    # --- Connection events

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(
            "asyncio.Transport", transport
        )  # uvloop's transport is a different class

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Cancel all requests of this connection."""
        self._is_lost = True
        self._expect(None)
        self._heard.clear()
        self._cancel_all()
        self._check_over()

    def eof_received(self) -> bool | None:
        """Close the connection after sending the pending data. The client has stopped sending."""
        self._has_left = True
        self._close()
        return None

    def pause_writing(self) -> None:
        """Stop reading from the client, because it reads more slowly than the server writes."""
        self._is_writable = False
        self._listen()

    def resume_writing(self) -> None:
        """Resume reading from the client, because it has read enough of the sent data."""
        self._is_writable = True
        self._wake_all()
        self._read_soon()

    @property
    def is_clear(self) -> bool:
        """Whether the connection can send more data in this turn."""
        return self._is_writable and len(self._unsent) < _UNSENT_BYTES

    @property
    def is_closing(self) -> bool:
        """Whether the connection can no longer send."""
        return self._transport.is_closing()

    def _expect(self, seconds: float | None) -> None:
        """Set the deadline after which the connection is aborted, or cancel it with None."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._loop.call_later(seconds, self._transport.abort) if seconds else None

    # --- Reads

    def data_received(self, data: bytes) -> None:
        """Process bytes from the client."""
        if len(data) <= _TURN_BYTES and not self._heard and self._is_ready():
            self._hear(data)
            return
        self._heard += data
        if not self._reads_soon:
            self._read_some()

    def _read_soon(self) -> None:
        if not self._reads_soon:
            self._reads_soon = True
            self._loop.call_soon(self._read_some)

    def _read_some(self) -> None:
        self._reads_soon = False
        if self.is_closing:
            self._heard.clear()
            return
        if self._is_ready():
            part = bytes(self._heard[:_TURN_BYTES])
            del self._heard[:_TURN_BYTES]
            self._hear(part)
            if self._heard and self._is_ready():
                self._read_soon()
        self._listen()

    def _listen(self) -> None:
        """Pause or resume reading from the client.

        Reading pauses while enough received data is buffered, or while the client does not read the
        sent data. Reading also pauses after the end of the client's data, because uvloop would
        report that end repeatedly.
        """
        is_behind = self._reads_soon or len(self._heard) > _AHEAD_BYTES
        if self._is_writable and not is_behind and not self._has_left:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def _hear(self, data: bytes) -> None:
        self._flushes_soon = True  # the `finally` clause sends the data
        try:
            self._take(data)
        finally:
            self._flush()

    def _is_ready(self) -> bool:
        """Return whether received data may be processed."""
        return self._is_writable

    @abstractmethod
    def _take(self, data: bytes) -> None:
        """Parse received data and serve its requests."""

    # --- Requests

    def _serve(self, exchange: Exchange) -> None:
        task = self._begin(exchange)
        if task is None:
            self._forget(exchange)
        else:
            self._tasks[exchange] = task
            task.add_done_callback(partial(self._finish, exchange))

    def _begin(self, exchange: Exchange) -> asyncio.Task[None] | None:
        try:
            rest = self._application.begin(exchange)
        except ClientGoneError:
            return None
        except Exception:  # noqa: BLE001 - a failed request must not end the connection
            _LOG.exception("an HTTP response failed")
            return None
        return None if rest is None else self._loop.create_task(rest)

    def _finish(self, exchange: Exchange, task: asyncio.Task[None]) -> None:
        del self._tasks[exchange]
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ClientGoneError):
            _LOG.error("an HTTP response failed", exc_info=error)
        self._forget(exchange)
        self._check_over()

    def _forget(self, exchange: Exchange) -> None:
        exchange.keep(0)
        self._release(exchange)

    def _cancel_all(self) -> None:
        for task in tuple(self._tasks.values()):
            task.cancel()

    def _check_over(self) -> None:
        if self._is_lost and not self._tasks:
            self.when_over()

    @abstractmethod
    def _release(self, exchange: Exchange) -> None:
        """Clean up an exchange after the application's task has ended.

        The exchange may be incomplete.
        """

    # --- Writes

    def write(self, data: bytes) -> None:
        """Send data at the end of this turn."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Send the buffered data at the end of this turn."""
        if not self._flushes_soon:
            self._flushes_soon = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushes_soon = False
        data = bytes(self._unsent)
        self._unsent.clear()
        if data and not self.is_closing:
            self._transport.write(data)
        if len(data) >= _UNSENT_BYTES and self._is_writable:
            self._wake_all()

    def _wake_all(self) -> None:
        for exchange in self._tasks:
            exchange.wake()

    def _close(self) -> None:
        """Send the buffered data, and close. Abort if the client does not read the data in time."""
        self._flush()
        self._cancel_all()
        self._transport.close()
        self._expect(self._idle_seconds)
