"""A catalogue that opens when the network responds. Until then, requests report the error."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from nexus_tools.errors import NexusError
from nexus_tools.export import Exportable
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage, Progress
from nexus_tools.mcp_server.origins import Origin, OriginLookup
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import Outcome, ToolFqn

_log = get_logger("nexus_tools.mcp_server.catalogue.lazy_catalogue")


class LazyCatalogue:
    """A catalogue that `connect` opens together with its origins, on the first successful request.

    The catalogue stays open while `running()` is active. If an attempt to open it fails, the
    methods raise its `NexusError`.
    """

    def __init__(
        self, connect: Callable[[], AbstractAsyncContextManager[tuple[Catalogue, OriginLookup]]]
    ) -> None:
        self._connect = connect
        self._wanted = asyncio.Event()
        self._logs_failure = True
        self._attempt: asyncio.Future[tuple[Catalogue, OriginLookup]] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Allow requests to open the catalogue, and close it at the end."""
        # The same task must open and close the connection, whichever request needs it.
        keeper = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def opened(self, *, log_failure: bool = True) -> tuple[Catalogue, OriginLookup]:
        """Return the catalogue and its origins. Concurrent callers share one attempt.

        If the caller itself reports the error to the operator, pass `log_failure=False`.
        """
        if self._attempt is None:
            self._attempt = asyncio.get_running_loop().create_future()
            self._logs_failure = log_failure
            self._wanted.set()
        try:
            return await asyncio.shield(self._attempt)
        except asyncio.CancelledError:
            self._logs_failure = True  # the caller no longer waits for the error
            raise

    async def parts(self) -> Sequence[Catalogue]:
        """Return the catalogue, which is opened."""
        return [(await self.opened())[0]]

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return a page of the catalogue."""
        catalogue, _ = await self.opened()
        return await catalogue.page(cursor, limit)

    async def find(self, fqn: ToolFqn) -> Exportable | None:
        """Return the current definition."""
        catalogue, _ = await self.opened()
        return await catalogue.find(fqn)

    async def call(
        self, definition: Exportable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Invoke the tool once."""
        catalogue, _ = await self.opened()
        return await catalogue.call(definition, ports, progress)

    async def origins(self, definitions: Sequence[Exportable]) -> Mapping[ToolFqn, Origin]:
        """Return the origins of tools."""
        _, origins = await self.opened()
        return await origins(definitions)

    async def _keep(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._keep_open()
            except NexusError as error:
                if self._logs_failure:
                    _log.warning("connection_failed", code=error.code, error=error.message)
                self._give_up(error)
            except Exception as error:
                self._give_up(error)
                raise

    async def _keep_open(self) -> None:
        assert self._attempt is not None
        async with self._connect() as connected:
            self._attempt.set_result(connected)
            await asyncio.Event().wait()

    def _give_up(self, error: Exception) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None and not attempt.done():
            attempt.set_exception(error)
            attempt.exception()  # marks the exception as retrieved if no request waits
