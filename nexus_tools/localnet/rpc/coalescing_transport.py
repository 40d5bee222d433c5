"""A transport that sends what is written in one turn of the event loop at once.

A response is written in parts, a head, messages and an end; a system call for each would be what
answering costs most.
"""

import asyncio
from typing import Any


class CoalescingTransport(asyncio.Transport):
    """In front of the transport of a socket."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, at the end of this turn."""
        if not data:
            return
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(bytes(data))

    def _flush(self) -> None:
        data = b"".join(self._waiting)
        self._waiting.clear()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def write_eof(self) -> None:
        """Send what is waiting, and that there is no more."""
        self._flush()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def pause_reading(self) -> None:
        """Let the client wait."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take bytes from the client again."""
        self._transport.resume_reading()

    def close(self) -> None:
        """Send what is waiting, and close."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._waiting.clear()
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the socket's transport knows."""
        return self._transport.get_extra_info(name, default)
