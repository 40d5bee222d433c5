"""What a server prints on stderr: its beginning to the log, its end kept for reasons."""

from asyncio import Event, StreamReader

import structlog

_log = structlog.get_logger("nexus_tools.bridges.mcp")

_TAIL_BYTES = 4_096
_LOGGED_BYTES = 64 * 2**10


class Printed:
    """Reads one stream; its first 64 KiB go to the log, as of the server `name`, if that is given.

    `whole` is set at the stream's end.
    """

    def __init__(self, name: str | None) -> None:
        self.whole = Event()
        self._name = name
        self._tail = b""
        self._left = 0 if name is None else _LOGGED_BYTES

    async def read(self, stream: StreamReader) -> None:
        """Until the server closes it; lines may be of any length."""
        while chunk := await stream.read(2**16):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
            if self._left > 0:
                self._tell(chunk[: self._left])
                self._left -= len(chunk)
        self.whole.set()

    def tail(self) -> str:
        """The last 4 KiB as text."""
        return self._tail.decode("utf-8", "ignore").replace("\0", "\ufffd").strip()

    def _tell(self, chunk: bytes) -> None:
        for line in chunk.decode("utf-8", "replace").splitlines():
            _log.info("server_printed", server=self._name, line=line)
        if len(chunk) == self._left:
            _log.warning("server_prints_too_much", server=self._name)
