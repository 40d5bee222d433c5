"""A supervisor that keeps a server running, and detects changes of the server's tools."""

import asyncio
import time
from asyncio import sleep as pause
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.mcp.declaration import ServerDeclaration, StdioServer
from nexus_tools.bridges.mcp.link import CallFailedError
from nexus_tools.bridges.mcp.listing import Fingerprint
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Confinement, Limit
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool_server import NotReadyError

if TYPE_CHECKING:
    from nexus_tools.bridges.mcp.connection import Connection, ProtocolGeneration

_log = get_logger("nexus_tools.bridges.mcp")

_REMOVED = ("the server no longer lists the tool",)
_LISTING_S = 30.0
_MAX_LATE_LISTINGS = 3


@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    """The intervals and time limits of a supervised server, in seconds.

    `relist_s` is the minimum time between two listings on health requests, and `listing_s` is the
    time limit of a listing. `first_delay_s` is the delay before a restart. Each time the server
    ends before it has run for `max_delay_s`, the delay doubles, up to `max_delay_s`.
    """

    relist_s: float = 30.0
    listing_s: float = 4.0
    first_delay_s: float = 0.5
    max_delay_s: float = 30.0


class Service:
    """One server. `expected` contains the fingerprints of the tools when they were discovered.

    All calls share the server, unless `is_per_call` is set. With `is_per_call`, the shared server
    only lists tools, and each call has its own server, which knows nothing of other calls. A call
    can block a shared server, for example if a tool blocks its event loop. Therefore a call is sent
    during another call only if the server responds to a ping. A call that exceeds its time limit
    also triggers a ping.

    The object is not bound to an event loop until `running` is entered. `running` may not be
    nested.
    """

    def __init__(
        self,
        name: str,
        server: ServerDeclaration,
        host: BridgeHost,
        expected: Mapping[str, Fingerprint],
        *,
        generation: "ProtocolGeneration" = "auto",
        reconnect_policy: ReconnectPolicy | None = None,
        is_per_call: bool = False,
    ) -> None:
        self.name = name
        self.is_per_call = is_per_call
        self.timeout_ms = host.timeout_ms
        self._server = server
        self._host = host
        self._expected = expected
        self._generation = generation
        self._reconnect_policy = reconnect_policy or ReconnectPolicy()
        self._connection: Connection | None = None
        self._changes: dict[str, tuple[str, ...]] = {}
        self._compared_at = 0.0
        self._late = 0
        self._calls = 0
        self._background_checks: set[asyncio.Task[None]] = set()
        self._is_wanted = False
        self._problem = CallFailedError("the server is not running")

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the shared variables that the server receives."""
        return self._server.variables

    @property
    def redaction(self) -> Redaction:
        """The redaction of the server's secrets."""
        return self._server.redaction

    @property
    def confinement(self) -> Confinement | None:
        """The confinement of the server's processes, or None for a remote server."""
        server = self._server
        return server.confinement(self._host) if isinstance(server, StdioServer) else None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the server running inside this context, which opens after the first start.

        The context also opens if the first attempt to start fails.
        """
        self._listing = asyncio.Lock()
        self._up = asyncio.Event()
        self._is_wanted = True
        first_attempt = asyncio.Event()
        keeper = asyncio.create_task(self._supervise(first_attempt))
        try:
            await first_attempt.wait()
            yield
        finally:
            # If this task is cancelled while the server stops, wait until the server has stopped.
            self._is_wanted = False
            keeper.cancel()
            for doubt in self._background_checks:
                doubt.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def up(self) -> None:
        """Wait until the server runs. Call this only while `running` is entered."""
        with suppress(CallFailedError):
            self._live_connection()
            return
        self._up.clear()
        await self._up.wait()

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the result of a call.

        Raises:
            CallFailedError: if the call was sent and has no result.
            NotReadyError: if the call was not sent, because the server does not run or respond, or
                because the tool has changed.
        """
        with self._not_ready_errors():
            connection = self._live_connection()
            self._check_unchanged(tool)
        if self.is_per_call:
            return await self._call_separate_server(tool, arguments, seconds)
        if self._calls or self._background_checks:
            with self._not_ready_errors():
                await connection.ping(min(seconds, self._reconnect_policy.listing_s))
        self._calls += 1
        try:
            return await connection.call(tool, arguments, seconds)
        except CallFailedError as failed:
            if failed.limit is Limit.TIME:
                self._check_in_background(connection)
            raise
        finally:
            self._calls -= 1

    @contextmanager
    def _not_ready_errors(self) -> Iterator[None]:
        """Raise a failure before the call as `NotReadyError`, so that the caller may retry."""
        try:
            yield
        except CallFailedError as failed:
            reason = self.redaction.text(failed.reason)
            raise NotReadyError(f"the call was not sent: {reason}") from failed

    def _check_unchanged(self, tool: str) -> None:
        changes = self._changes.get(tool)
        if changes:
            raise CallFailedError(
                f"the tool has changed since it was discovered: {', '.join(changes)}. "
                "Calls resume when the change is reverted or the bridge discovers the server again"
            )

    async def _call_separate_server(
        self, tool: str, arguments: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Start a server for one call, and return its result within the time of the call."""
        from nexus_tools.bridges.mcp.connection import connected  # noqa: PLC0415 - an extra

        is_started = False
        try:
            async with asyncio.timeout(seconds), AsyncExitStack() as stack:
                server = connected(self._server, self._host, self._generation)
                with self._not_ready_errors():
                    connection = await stack.enter_async_context(server)
                is_started = True
                return await connection.call(tool, arguments, seconds)
        except TimeoutError as error:
            with nullcontext() if is_started else self._not_ready_errors():
                raise CallFailedError.late(seconds) from error

    def _check_in_background(self, connection: "Connection") -> None:
        """Restart the server in the background unless it still responds."""
        doubt = asyncio.create_task(self._close_if_unresponsive(connection))
        self._background_checks.add(doubt)
        doubt.add_done_callback(self._background_checks.discard)

    async def _close_if_unresponsive(self, connection: "Connection") -> None:
        try:
            await connection.ping(self._reconnect_policy.listing_s)
        except CallFailedError as failed:
            connection.link.close(failed.reason, failed.limit)

    async def health(self, tool: str) -> dict[str, bool]:
        """Return whether the server runs, and whether the tool is unchanged since its discovery."""
        try:
            await self._compare_if_due(self._live_connection())
        except CallFailedError:
            is_running = False
        else:
            is_running = True
        return {"running": is_running, "unchanged": tool not in self._changes}

    def _live_connection(self) -> "Connection":
        """Return the connection, or raise a `CallFailedError` that says why it is missing."""
        if self._connection is None:
            raise self._problem
        if self._connection.link.closed.is_set():
            raise CallFailedError.ended(self._connection.link)
        return self._connection

    async def _supervise(self, first_attempt: asyncio.Event) -> None:
        """Restart the server whenever it ends, with increasing delays while it keeps failing."""
        pause_s = self._reconnect_policy.first_delay_s
        while self._is_wanted:
            started = time.monotonic()
            try:
                await self._run_once(first_attempt)
            except CallFailedError as error:
                self._problem = error
            except Exception as error:  # noqa: BLE001 - the loop of a daemon must not end
                cause = self.redaction.text(repr(error))
                _log.error("server_broke", server=self.name, cause=cause)
                self._problem = CallFailedError(
                    "the bridge to the server failed. The server log contains the error"
                )
            self._connection = None
            first_attempt.set()
            if time.monotonic() - started > self._reconnect_policy.max_delay_s:
                pause_s = self._reconnect_policy.first_delay_s
            reason = self.redaction.text(self._problem.reason)
            _log.warning("server_ended", server=self.name, reason=reason)
            if self._is_wanted:
                await pause(pause_s)
            pause_s = min(2 * pause_s, self._reconnect_policy.max_delay_s)

    async def _run_once(self, first_attempt: asyncio.Event) -> None:
        """Run the server until it ends, which raises a `CallFailedError`."""
        from nexus_tools.bridges.mcp.connection import connected  # noqa: PLC0415 - an extra

        async with connected(
            self._server, self._host, self._generation, log_as=self.name
        ) as connection:
            await self._compare(connection)
            self._connection = connection
            self._up.set()
            first_attempt.set()
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

    async def _compare_if_due(self, connection: "Connection") -> None:
        """List the tools again unless the last listing was less than `relist_s` ago.

        If the listing fails, the server is closed. If the listing exceeds its time limit, the
        server is closed only after several attempts, because the server may be busy.

        Raises:
            CallFailedError: if the listing fails.
        """
        if time.monotonic() - self._compared_at < self._reconnect_policy.relist_s:
            return
        try:
            await self._compare(connection, self._reconnect_policy.listing_s)
        except CallFailedError as error:
            self._late += 1
            if error.limit is not Limit.TIME or self._late >= _MAX_LATE_LISTINGS:
                connection.link.close(error.reason, error.limit)
            raise

    async def _compare(self, connection: "Connection", seconds: float = _LISTING_S) -> None:
        async with self._listing:
            listing = await connection.list_tools(seconds)
            now = listing.fingerprints()
            self._compared_at = time.monotonic()
            self._late = 0
        changes = {
            name: tool.changes(now[name]) if name in now else _REMOVED
            for name, tool in self._expected.items()
        }
        self._changes = {name: differences for name, differences in changes.items() if differences}
        if self._changes:
            _log.warning("tools_changed", server=self.name, tools=sorted(self._changes))
