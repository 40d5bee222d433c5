"""A TCP proxy in front of a server, which reproduces the connection failures of real networks."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

_CHUNK = 65_536


class _Link:
    """One connection to the server. A dead connection accepts data but forwards nothing."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter | None) -> None:
        self.ends = [near] if far is None else [near, far]
        self.is_dead = far is None


class Proxy:
    """A proxy to `target`, a port or a Unix socket of this machine.

    `mend` ends all faults of the proxy, but dead connections stay dead. A real connection also
    stays dead after a router has lost the connection's entry.
    """

    def __init__(self, target: int | Path) -> None:
        self.target = target
        self.delay_s = 0.0
        self.port = 0
        self.connections = 0
        self._is_hole = False
        self._server: asyncio.Server | None = None
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        """Listen until the block ends."""
        await self._listen()
        try:
            yield self
        finally:
            await self.drop()
            if self._tasks:
                await asyncio.wait(self._tasks)

    @property
    def url(self) -> str:
        """The URL of the proxy, for clients."""
        return f"http://127.0.0.1:{self.port}"

    async def connected(self) -> None:
        """Wait for the first connection."""
        await self._arrived.wait()

    # --- Faults

    def half_open(self) -> None:
        """Stop forwarding on existing connections without closing them. New connections work."""
        for link in self._links:
            link.is_dead = True

    def swallow(self) -> None:
        """Stop forwarding on existing and new connections without closing them."""
        self.half_open()
        self._is_hole = True

    def reset(self) -> None:
        """End existing connections with RST."""
        for link in self._links:
            for end in link.ends:
                linger = b"\1\0\0\0\0\0\0\0"  # linger for 0 seconds, so `close` sends RST
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                end.transport.abort()

    async def drop(self) -> None:
        """End all connections with FIN, and refuse new connections."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for link in self._links:
            for end in link.ends:
                if link.is_dead:  # discard the data in the connection's buffers
                    end.transport.abort()
                else:
                    end.close()

    async def mend(self) -> None:
        """Accept new connections, and forward their data immediately."""
        self._is_hole, self.delay_s = False, 0.0
        if self._server is None:
            await self._listen()

    # --- Forwarding

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        self._arrived.set()
        there = far = None
        with suppress(OSError):
            if not self._is_hole:
                there, far = await self._open_target()
        if there is None and not self._is_hole:
            writer.close()
            return
        link = _Link(writer, far)
        self._links.add(link)
        pipes = [self._pipe(link, reader, far)]
        if there is not None:
            pipes.append(self._pipe(link, there, writer))
        try:
            await asyncio.gather(*pipes)
        finally:
            self._links.discard(link)
            for end in link.ends:
                end.close()

    async def _open_target(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.target, Path):
            return await asyncio.open_unix_connection(self.target)
        return await asyncio.open_connection("127.0.0.1", self.target)

    async def _pipe(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                if not link.is_dead and writer is not None:
                    writer.write(data)
                    await writer.drain()
        if not link.is_dead and writer is not None:
            writer.close()
