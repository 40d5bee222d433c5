"""A server while its tools are served: kept running, and watched for changes of its tools."""

import asyncio
import time
from asyncio import sleep as pause
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nexus_tools.bridges.base import Host
from nexus_tools.bridges.mcp.declaration import ServerDeclaration, StdioServer
from nexus_tools.bridges.mcp.link import CallFailedError
from nexus_tools.bridges.mcp.listing import Fingerprint
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Confinement, Limit
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool_server import NotReadyError

if TYPE_CHECKING:
    from nexus_tools.bridges.mcp.connection import Connection, Generation

_log = get_logger("nexus_tools.bridges.mcp")

_GONE = ("it is not listed any more",)
_LISTING_S = 30.0
_LATE_TOO_OFTEN = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: between two listings on health requests, for one, before a server is started again.

    The pause doubles each time it ends before it was up for `longest_pause_s`.
    """

    relist_s: float = 30.0
    listing_s: float = 4.0
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0


class Service:
    """One server. `expected` is what its tools were when they were discovered, `timeout_ms` theirs.

    All calls share it, unless `is_per_call`: then it is only listed, and each call has a server of
    its own, which knows nothing of others. A shared one can be held up by a call, as when a tool
    blocks its event loop: so a call is not sent while another one runs unless the server responds,
    and one that takes too long makes us look whether it still does.

    Nothing of it belongs to an event loop until `running`, which is entered once at a time.
    """

    def __init__(
        self,
        name: str,
        server: ServerDeclaration,
        host: Host,
        expected: Mapping[str, Fingerprint],
        *,
        generation: "Generation" = "auto",
        patience: Patience | None = None,
        is_per_call: bool = False,
    ) -> None:
        self.name = name
        self.is_per_call = is_per_call
        self.timeout_ms = host.timeout_ms
        self._server = server
        self._host = host
        self._expected = expected
        self._generation = generation
        self._patience = patience or Patience()
        self._connection: Connection | None = None
        self._changes: dict[str, tuple[str, ...]] = {}
        self._compared_at = 0.0
        self._late = 0
        self._calls = 0
        self._doubts: set[asyncio.Task[None]] = set()
        self._is_wanted = False
        self._problem = CallFailedError("the server is not running")

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the shared variables that the server gets."""
        return self._server.variables

    @property
    def redaction(self) -> Redaction:
        """Takes the secrets that the server knows out of what it says."""
        return self._server.redaction

    @property
    def confinement(self) -> Confinement | None:
        """What the server's processes may touch; None if it runs elsewhere."""
        server = self._server
        return server.confinement(self._host) if isinstance(server, StdioServer) else None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which it is kept running; begins when it runs, or failed to for once."""
        self._listing = asyncio.Lock()
        self._up = asyncio.Event()
        self._is_wanted = True
        tried = asyncio.Event()
        keeper = asyncio.create_task(self._keep(tried))
        try:
            await tried.wait()
            yield
        finally:
            # A cancellation that comes while the server is being stopped ends there.
            self._is_wanted = False
            keeper.cancel()
            for doubt in self._doubts:
                doubt.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def up(self) -> None:
        """Wait until the server runs; for the time in which `running` is entered."""
        with suppress(CallFailedError):
            self._alive()
            return
        self._up.clear()
        await self._up.wait()

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the result of a call. Raises `CallFailedError`.

        Raises `NotReadyError` if the call was not sent: the server does not run or does not
        respond, or the tool has changed.
        """
        with self._unsent():
            connection = self._alive()
            self._check_unchanged(tool)
        if self.is_per_call:
            return await self._call_alone(tool, arguments, seconds)
        if self._calls or self._doubts:
            with self._unsent():
                await connection.ping(min(seconds, self._patience.listing_s))
        self._calls += 1
        try:
            return await connection.call(tool, arguments, seconds)
        except CallFailedError as failed:
            if failed.limit is Limit.TIME:
                self._doubt(connection)
            raise
        finally:
            self._calls -= 1

    @contextmanager
    def _unsent(self) -> Iterator[None]:
        """What fails here comes before the call: it may be sent again."""
        try:
            yield
        except CallFailedError as failed:
            reason = self.redaction.text(failed.reason)
            raise NotReadyError(f"the call was not sent: {reason}") from failed

    def _check_unchanged(self, tool: str) -> None:
        changes = self._changes.get(tool)
        if changes:
            raise CallFailedError(
                f"the tool has changed since it was discovered: {', '.join(changes)}; "
                "it is called again when it is as it was, or is discovered anew"
            )

    async def _call_alone(
        self, tool: str, arguments: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Start a server for one call, and return its result, within the time of the call."""
        from nexus_tools.bridges.mcp.connection import connected  # noqa: PLC0415 - an extra

        is_started = False
        try:
            async with asyncio.timeout(seconds), AsyncExitStack() as stack:
                server = connected(self._server, self._host, self._generation)
                with self._unsent():
                    connection = await stack.enter_async_context(server)
                is_started = True
                return await connection.call(tool, arguments, seconds)
        except TimeoutError as error:
            with nullcontext() if is_started else self._unsent():
                raise CallFailedError.late(seconds) from error

    def _doubt(self, connection: "Connection") -> None:
        """Have the server started again unless it still responds."""
        doubt = asyncio.create_task(self._give_up_unless_it_responds(connection))
        self._doubts.add(doubt)
        doubt.add_done_callback(self._doubts.discard)

    async def _give_up_unless_it_responds(self, connection: "Connection") -> None:
        try:
            await connection.ping(self._patience.listing_s)
        except CallFailedError as failed:
            connection.link.close(failed.reason, failed.limit)

    async def health(self, tool: str) -> dict[str, bool]:
        """Whether the server runs, and whether the tool is as it was when it was discovered."""
        try:
            await self._compare_at_times(self._alive())
        except CallFailedError:
            is_running = False
        else:
            is_running = True
        return {"running": is_running, "unchanged": tool not in self._changes}

    def _alive(self) -> "Connection":
        """The connection; raises the `CallFailedError` that says why there is none."""
        if self._connection is None:
            raise self._problem
        if self._connection.link.closed.is_set():
            raise CallFailedError.ended(self._connection.link)
        return self._connection

    async def _keep(self, tried: asyncio.Event) -> None:
        """Start the server again and again, ever more slowly while it does not stay up."""
        pause_s = self._patience.first_pause_s
        while self._is_wanted:
            began = time.monotonic()
            try:
                await self._run_once(tried)
            except CallFailedError as error:
                self._problem = error
            except Exception as error:  # noqa: BLE001 - the loop of a daemon
                cause = self.redaction.text(repr(error))
                _log.error("server_broke", server=self.name, cause=cause)
                self._problem = CallFailedError("the bridge to the server broke; see its log")
            self._connection = None
            tried.set()
            if time.monotonic() - began > self._patience.longest_pause_s:
                pause_s = self._patience.first_pause_s
            reason = self.redaction.text(self._problem.reason)
            _log.warning("server_ended", server=self.name, reason=reason)
            if self._is_wanted:
                await pause(pause_s)
            pause_s = min(2 * pause_s, self._patience.longest_pause_s)

    async def _run_once(self, tried: asyncio.Event) -> None:
        """Until the server ends, which is raised as a `CallFailedError`."""
        from nexus_tools.bridges.mcp.connection import connected  # noqa: PLC0415 - an extra

        async with connected(
            self._server, self._host, self._generation, log_as=self.name
        ) as connection:
            await self._compare(connection)
            self._connection = connection
            self._up.set()
            tried.set()
            await self._follow_changes(connection)

    async def _follow_changes(self, connection: "Connection") -> None:
        closed = asyncio.create_task(connection.link.closed.wait())
        try:
            while not closed.done():
                changed = asyncio.create_task(connection.changed.wait())
                await asyncio.wait((closed, changed), return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                if connection.changed.is_set():
                    connection.changed.clear()
                    await self._compare(connection)
        finally:
            closed.cancel()
        raise CallFailedError.ended(connection.link)

    async def _compare_at_times(self, connection: "Connection") -> None:
        """List again unless that was done lately; raises `CallFailedError` if that fails.

        A server that cannot be listed is given up, and so is one that was late several times: it
        may have been busy.
        """
        if time.monotonic() - self._compared_at < self._patience.relist_s:
            return
        try:
            await self._compare(connection, self._patience.listing_s)
        except CallFailedError as error:
            self._late += 1
            if error.limit is not Limit.TIME or self._late >= _LATE_TOO_OFTEN:
                connection.link.close(error.reason, error.limit)
            raise

    async def _compare(self, connection: "Connection", seconds: float = _LISTING_S) -> None:
        async with self._listing:
            listing = await connection.list_tools(seconds)
            now = listing.fingerprints()
            self._compared_at = time.monotonic()
            self._late = 0
        changes = {
            name: tool.changes(now[name]) if name in now else _GONE
            for name, tool in self._expected.items()
        }
        self._changes = {name: what for name, what in changes.items() if what}
        if self._changes:
            _log.warning("tools_changed", server=self.name, tools=sorted(self._changes))
