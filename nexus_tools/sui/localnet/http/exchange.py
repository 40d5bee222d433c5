"""The exchange of a request and its response, which connects a connection to an application."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, Protocol

from msgspec import Struct

WINDOW = 256 * 1024
"""The maximum number of body bytes that are received before the application reads them."""

_BACKLOG_BYTES = 1024 * 1024

Headers = tuple[tuple[str, str], ...]
"""Pairs of a name in lower case and a value. A response's headers must fit into 16 KiB."""


class ClientGoneError(Exception):
    """An error for a client that can no longer receive a response."""


class RequestHead(Struct, frozen=True):
    """The request line and the headers. Header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def host(self) -> str | None:
        """The host and port of the request, or None."""
        return self.headers.get(":authority") or self.headers.get("host")


class _Waiting:
    """An object whose changes can be awaited."""

    _news: asyncio.Event | None = None

    def wake(self) -> None:
        """Wake up the task that waits for a change."""
        if self._news is not None:
            self._news.set()

    async def _change(self) -> None:
        if self._news is None:
            self._news = asyncio.Event()
        self._news.clear()
        await self._news.wait()


class Body(_Waiting):
    """The body of a request, which may not be completely received yet.

    `give_back` extends the client's flow-control window by a number of bytes, when bytes were read
    or the reader waits for more bytes. `charge` counts bytes that stay in memory while the reader
    waits for more bytes. `charge` may raise `OverloadedError`.
    """

    def __init__(
        self,
        give_back: Callable[[int], None] = lambda _: None,
        charge: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.arrived = bytearray()
        self.announced = 0  # the value of `content-length`, or 0
        self.has_ended = False
        self._give_back = give_back
        self._kept = 0  # bytes that still occupy the sender's window
        self._charge = charge
        self._charged = 0

    @property
    def is_full(self) -> bool:
        """Whether the client must wait until the application reads a part of the body."""
        return self._kept >= WINDOW

    def take(self, data: bytes) -> None:
        """Add received data."""
        self.arrived += data
        self._kept += len(data)
        self.wake()

    def end(self) -> None:
        """Mark the body as complete."""
        self.has_ended = True
        self.wake()

    async def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end of the body.

        Raises:
            OverloadedError: Incomplete requests use too much memory.
        """
        self._hold(0)
        while len(self.arrived) < size and not self.has_ended:
            await self._more()
        return self._cut(size)

    async def read_all(self, limit: int) -> bytes | None:
        """Return the whole body, or None if it is larger than the limit.

        Raises:
            OverloadedError: Incomplete requests use too much memory.
        """
        while max(len(self.arrived), self.announced) <= limit:
            if self.has_ended:
                return self._cut(limit)
            await self._more()
        return None

    def drop(self) -> None:
        """Discard the unread data."""
        self.arrived.clear()
        self._hold(0)
        self._keep(0)

    def _cut(self, size: int) -> bytes:
        data = bytes(self.arrived[:size])
        del self.arrived[:size]
        self._keep(min(self._kept, len(self.arrived)))
        return data

    async def _more(self) -> None:
        """Wait for more data, even if the unread data fills the window."""
        self._hold(len(self.arrived))
        self._keep(0)
        await self._change()

    def _hold(self, size: int) -> None:
        if size != self._charged:
            self._charge(size - self._charged)
            self._charged = size

    def _keep(self, size: int) -> None:
        released, self._kept = self._kept - size, size
        if released:
            self._give_back(released)


class Backlog(_Waiting):
    """The size of a connection's unsent responses, which is at most 1 MiB plus one response."""

    _size = 0

    @property
    def has_room(self) -> bool:
        """Whether another response may be buffered."""
        return self._size < _BACKLOG_BYTES

    async def until_room(self) -> None:
        """Wait until another response may be buffered."""
        while not self.has_room:
            await self._change()

    def add(self, count: int) -> None:
        """Add bytes, or remove them if `count` is negative."""
        self._size += count
        if self.has_room:
            self.wake()


class Exchange(_Waiting, ABC):
    """A request and the application's response to it.

    Data is sent at the end of the event loop's turn. The methods that send data raise
    `ClientGoneError` if the client can no longer receive it.
    """

    carries_trailers: ClassVar[bool]
    """Whether the response may have trailers."""

    def __init__(self, head: RequestHead, body: Body, backlog: Backlog) -> None:
        self.head = head
        self.body = body
        self.backlog = backlog
        self._unsent = 0
        body.announced = int(head.headers.get("content-length", 0))

    # --- The response, for applications

    def respond(self, status: int, headers: Headers, data: bytes, trailers: Headers = ()) -> bool:
        """Send a whole response if possible immediately, and return whether it was sent."""
        if self.room() < len(data):
            return False
        if self.head.method == "HEAD":
            data = b""
        self.put_head(status, headers, end=not (data or trailers))
        if data:
            self.put_data(data)
        if data or trailers:
            self.put_end(trailers)
        return True

    def keep(self, size: int) -> None:
        """Set the number of bytes of this response that are not sent yet."""
        if size != self._unsent:
            self.backlog.add(size - self._unsent)
            self._unsent = size

    async def start(self, status: int, headers: Headers, *, end: bool = False) -> None:
        """Wait until the connection can send, and send the headers.

        `end` also ends the response.
        """
        await self._until_clear()
        self.put_head(status, headers, end=end)

    async def send(self, data: bytes) -> None:
        """Send a part of the body, and wait until the connection can send more."""
        remaining = memoryview(b"" if self.head.method == "HEAD" else data)
        while remaining:
            while (room := self.room()) <= 0:
                await self._change()
            self.put_data(bytes(remaining[:room]))
            remaining = remaining[room:]
        await self._until_clear()

    async def end(self, data: bytes = b"", trailers: Headers = ()) -> None:
        """Send the last part of the body, and end the response."""
        await self.send(data)
        self.put_end(trailers)

    async def _until_clear(self) -> None:
        while not self.is_clear():
            await self._change()

    # --- The response, for an HTTP version

    @abstractmethod
    def is_clear(self) -> bool:
        """Return whether the connection can send more.

        Raises:
            ClientGoneError: The client has disconnected.
        """

    @abstractmethod
    def room(self) -> int:
        """Return how many bytes of a body can be sent immediately.

        Raises:
            ClientGoneError: The client has disconnected.
        """

    @abstractmethod
    def put_head(self, status: int, headers: Headers, *, end: bool) -> None:
        """Send the headers, and end the response if `end` is true."""

    @abstractmethod
    def put_data(self, data: bytes) -> None:
        """Send a part of the body that fits into `room`."""

    @abstractmethod
    def put_end(self, trailers: Headers) -> None:
        """End the response."""


class Application(Protocol):
    """An application, which handles requests."""

    def needs_body(self, exchange: Exchange) -> bool:
        """Return whether `begin` must wait until the body is complete."""

    def begin(self, exchange: Exchange) -> Coroutine[Any, Any, None] | None:
        """Respond immediately, or return a coroutine that responds in a task.

        The request body contains the data received so far. The task is cancelled if the client
        disconnects. If the response is incomplete when the task ends, the server resets the stream
        or connection.
        """
