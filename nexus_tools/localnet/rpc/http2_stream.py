"""One exchange on an HTTP/2 connection: what has come of its request, and its response."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from nexus_tools.localnet.rpc.call import ClientGoneError
from nexus_tools.localnet.rpc.cors import Headers

WINDOW = 4 * 1024 * 1024
"""How many bytes may come before they are read, in one exchange and in all of a connection."""


class Link(Protocol):
    """The connection, as its exchanges see it."""

    http: H2Connection
    is_writable: bool

    def flush(self) -> None:
        """Send what h2 has for the client, soon."""

    def give_back(self, size: int) -> None:
        """Bytes that had come are not kept any more: as many others may come."""


class Http2Stream:
    """One exchange. What it sends goes out at the end of the turn.

    Sending raises `ClientGoneError` if nobody takes it any more.
    """

    def __init__(self, link: Link, number: int, headers: Mapping[str, str]) -> None:
        self.number = number
        self.headers = headers
        self.has_ended = False
        self._link = link
        self._body = bytearray()
        self._kept = 0  # bytes of the body that still take up the window
        self._given_back = 0  # bytes, since the client was last told so
        self._news: asyncio.Event | None = None

    # --- The request

    @property
    def arrived(self) -> bytearray:
        """What has come of the body and is not read yet."""
        return self._body

    def take(self, data: bytes, padding: int) -> None:
        """A part of the body has come, with so many bytes of padding."""
        self._body += data
        self._kept += len(data)
        if padding:
            self._give_back(padding)
        self.wake()

    def end(self) -> None:
        """The client has sent all of it."""
        self.has_ended = True
        self.wake()

    async def read(self, size: int) -> bytes:
        """So many bytes of the body; fewer where it ends."""
        while len(self._body) < size and not self.has_ended:
            self._keep(0)  # what comes is waited for: there may be more of it than a window holds
            await self._change()
        data = bytes(self._body[:size])
        del self._body[:size]
        self._keep(min(self._kept, len(self._body)))
        return data

    def drop(self) -> None:
        """Nobody reads what is left of the body."""
        self._link.give_back(self._kept)
        self._kept = 0
        self._body.clear()

    def _keep(self, size: int) -> None:
        """Give back what has come and is not kept for a reader to come."""
        given_back, self._kept = self._kept - size, size
        if given_back:
            self._give_back(given_back)

    def _give_back(self, size: int) -> None:
        self._link.give_back(size)
        self._given_back += size
        if self._given_back < WINDOW // 2 or self.has_ended:
            return
        with suppress(ProtocolError, KeyError):  # h2's words for a stream that is gone
            self._link.http.increment_flow_control_window(self._given_back, self.number)
        self._given_back = 0
        self._link.flush()

    # --- Waiting

    def wake(self) -> None:
        """Something has changed: whoever waits looks again."""
        if self._news is not None:
            self._news.set()

    async def _change(self) -> None:
        if self._news is None:
            self._news = asyncio.Event()
        self._news.clear()
        await self._news.wait()

    # --- The response

    def room(self) -> int:
        """How many bytes of a body can be sent at once."""
        if not self._link.is_writable:
            return 0
        try:
            window = self._link.http.local_flow_control_window(self.number)
        except ProtocolError:
            raise ClientGoneError from None
        return min(window, self._link.http.max_outbound_frame_size)

    async def send_headers(self, headers: Headers, *, end: bool = False) -> None:
        """Send the head, or trailers, when the client keeps up."""
        while not self._link.is_writable:
            await self._change()
        self.put_headers(headers, end=end)

    async def send_data(self, data: bytes, *, end: bool = False) -> None:
        """Send a part of the body, when the client has room for it."""
        left = memoryview(data)
        while True:
            while (room := self.room()) <= 0:
                await self._change()
            part, left = left[:room], left[room:]
            self.put_data(bytes(part), end=end and not left)
            if not left:
                return

    def put_headers(self, headers: Headers, *, end: bool = False) -> None:
        """Send the head, or trailers, at once."""
        if self.number not in self._link.http.streams:  # h2 would take it for a new one
            raise ClientGoneError
        try:
            self._link.http.send_headers(self.number, headers, end_stream=end)
        except ProtocolError:
            raise ClientGoneError from None
        self._link.flush()

    def put_data(self, data: bytes, *, end: bool = False) -> None:
        """Send a part of the body, for which there is room, at once."""
        try:
            self._link.http.send_data(self.number, data, end_stream=end)
        except ProtocolError:
            raise ClientGoneError from None
        self._link.flush()

    def close(self) -> None:
        """End what is left of it: one of both sides has not ended its half, and will not."""
        stream = self._link.http.streams.get(self.number)
        if stream is None or stream.closed:
            return
        with suppress(ProtocolError):
            self._link.http.reset_stream(self.number)
            self._link.flush()
