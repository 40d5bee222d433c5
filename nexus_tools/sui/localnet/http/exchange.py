"""What a transport and an application share: a request, and the response to it."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, Protocol

from msgspec import Struct

WINDOW = 256 * 1024
"""How many bytes of a body may come before they are read."""

_BACKLOG_BYTES = 1024 * 1024

Headers = tuple[tuple[str, str], ...]
"""Names, in lower case, and values; those of a response fit into a frame, which has 16 KiB."""


class ClientGoneError(Exception):
    """Nobody is there any more who could get a response."""


class Head(Struct, frozen=True):
    """What is asked for. Names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def host(self) -> str | None:
        """The host that the client named, with its port."""
        return self.headers.get(":authority") or self.headers.get("host")


class _Waiting:
    """Somebody may wait for it to change."""

    _news: asyncio.Event | None = None

    def wake(self) -> None:
        """Something has changed: whoever waits looks again."""
        if self._news is not None:
            self._news.set()

    async def _change(self) -> None:
        if self._news is None:
            self._news = asyncio.Event()
        self._news.clear()
        await self._news.wait()


class Body(_Waiting):
    """The body of a request, as far as it has come.

    Its sender may send as much more as `give_back` is told: what was read, or what waits for more.
    `charge` is told how many bytes more, or fewer, are kept because they wait for others: until the
    next are asked for, since till then somebody uses them. It may refuse.
    """

    def __init__(
        self,
        give_back: Callable[[int], None] = lambda _: None,
        charge: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.arrived = bytearray()
        self.announced = 0  # how many bytes its sender says that it has
        self.has_ended = False
        self._give_back = give_back
        self._kept = 0  # bytes that still take up the sender's window
        self._charge = charge
        self._charged = 0

    @property
    def is_full(self) -> bool:
        """Whether as much has come as may come before some of it is read."""
        return self._kept >= WINDOW

    def take(self, data: bytes) -> None:
        """A part has come."""
        self.arrived += data
        self._kept += len(data)
        self.wake()

    def end(self) -> None:
        """The client has sent all of it."""
        self.has_ended = True
        self.wake()

    async def read(self, size: int) -> bytes:
        """So many bytes; fewer where it ends. Raises `OverloadedError`."""
        self._hold(0)
        while len(self.arrived) < size and not self.has_ended:
            await self._more()
        return self._cut(size)

    async def read_all(self, limit: int) -> bytes | None:
        """All of it, if that is no more bytes than the limit. Raises `OverloadedError`."""
        while max(len(self.arrived), self.announced) <= limit:
            if self.has_ended:
                return self._cut(limit)
            await self._more()
        return None

    def drop(self) -> None:
        """Nobody reads what is left."""
        self.arrived.clear()
        self._hold(0)
        self._keep(0)

    def _cut(self, size: int) -> bytes:
        data = bytes(self.arrived[:size])
        del self.arrived[:size]
        self._keep(min(self._kept, len(self.arrived)))
        return data

    async def _more(self) -> None:
        """Wait for more; it may be more than a window holds."""
        self._hold(len(self.arrived))
        self._keep(0)
        await self._change()

    def _hold(self, size: int) -> None:
        if size != self._charged:
            self._charge(size - self._charged)
            self._charged = size

    def _keep(self, size: int) -> None:
        given_back, self._kept = self._kept - size, size
        if given_back:
            self._give_back(given_back)


class Backlog(_Waiting):
    """The responses that wait for the client of one connection: a megabyte, and the last one."""

    _size = 0

    @property
    def has_room(self) -> bool:
        """Whether another response may wait."""
        return self._size < _BACKLOG_BYTES

    async def until_room(self) -> None:
        """Wait until another response may wait."""
        while not self.has_room:
            await self._change()

    def add(self, count: int) -> None:
        """So many bytes more wait, or fewer."""
        self._size += count
        if self.has_room:
            self.wake()


class Exchange(_Waiting, ABC):
    """A request, and the response that an application gives to it.

    What is sent goes out at the end of the event loop's turn. Sending raises `ClientGoneError` if
    nobody takes it any more.
    """

    carries_trailers: ClassVar[bool]
    """Whether the response may have headers behind its body."""

    def __init__(self, head: Head, body: Body, backlog: Backlog) -> None:
        self.head = head
        self.body = body
        self.backlog = backlog
        self._unsent = 0
        body.announced = int(head.headers.get("content-length", 0))

    # --- The response, as an application sends it

    def respond(self, status: int, headers: Headers, data: bytes, trailers: Headers = ()) -> bool:
        """Send a whole response, if there is room for it: whether there was."""
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
        """A response of so many bytes waits for its client; 0 if none does any more."""
        if size != self._unsent:
            self.backlog.add(size - self._unsent)
            self._unsent = size

    async def start(self, status: int, headers: Headers, *, end: bool = False) -> None:
        """Send the head, when the client keeps up; it may be all of the response."""
        await self._until_clear()
        self.put_head(status, headers, end=end)

    async def send(self, data: bytes) -> None:
        """Send a part of the body, and wait until the client keeps up with it."""
        left = memoryview(b"" if self.head.method == "HEAD" else data)
        while left:
            while (room := self.room()) <= 0:
                await self._change()
            self.put_data(bytes(left[:room]))
            left = left[room:]
        await self._until_clear()

    async def end(self, data: bytes = b"", trailers: Headers = ()) -> None:
        """Send the last part of the body, and end the response."""
        await self.send(data)
        self.put_end(trailers)

    async def _until_clear(self) -> None:
        while not self.is_clear():
            await self._change()

    # --- The response, as a version of HTTP has it

    @abstractmethod
    def is_clear(self) -> bool:
        """Whether the connection takes more. Raises `ClientGoneError`."""

    @abstractmethod
    def room(self) -> int:
        """How many bytes of a body can be sent at once. Raises `ClientGoneError`."""

    @abstractmethod
    def put_head(self, status: int, headers: Headers, *, end: bool) -> None:
        """Send the head, and end the response if that is all of it."""

    @abstractmethod
    def put_data(self, data: bytes) -> None:
        """Send a part of the body, for which there is room."""

    @abstractmethod
    def put_end(self, trailers: Headers) -> None:
        """End the response."""


class Application(Protocol):
    """Whatever answers requests."""

    def needs_body(self, exchange: Exchange) -> bool:
        """Whether a response waits for all of the body; if not, `begin` may have it as it comes."""

    def begin(self, exchange: Exchange) -> Coroutine[Any, Any, None] | None:
        """Answer at once if there is nothing to wait for; else what a task is to do.

        Of the body there is what has come so far. The task is cancelled if its client leaves; a
        response that is not ended when it is done is cut off.
        """
