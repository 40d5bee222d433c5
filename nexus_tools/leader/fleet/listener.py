"""Notifications of PostgreSQL that invocations are free."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg import sql

from nexus_tools.leader.journal.postgres_connection import (
    connection_parameters,
    session_settings,
)
from nexus_tools.leader.journal.postgres_url import PostgresUrl

_RETRY_DELAY_S = 1.0
_CHECK_INTERVAL_S = 30.0
_CHECK_LIMIT_S = 5.0


class Listener:
    """A task that calls `wake` for notifications, and once after each connection.

    Notifications are only faster than the regular claims, so lost ones do no harm.
    """

    def __init__(self, location: PostgresUrl, name: str, wake: Callable[[], None]) -> None:
        self._schema = location.schema
        parameters = connection_parameters(location)
        self._parameters = parameters | {"application_name": f"nexus-tools listener {name}"}
        self._wake = wake

    async def run(self) -> None:
        """Listen forever, and connect again after each error."""
        while True:
            # The journal reports that PostgreSQL does not respond.
            with suppress(psycopg.Error, TimeoutError):
                await self._listen()
            await asyncio.sleep(_RETRY_DELAY_S)

    async def _listen(self) -> None:
        connection = await psycopg.AsyncConnection.connect(**self._parameters, autocommit=True)
        async with connection:
            await connection.execute(*session_settings(self._schema))
            # A channel has the name of its schema, because a database has only one name space.
            channel = sql.Identifier(self._schema)
            await connection.execute(sql.SQL("LISTEN {}").format(channel))
            self._wake()
            while True:
                async for _ in connection.notifies(timeout=_CHECK_INTERVAL_S):
                    self._wake()
                async with asyncio.timeout(_CHECK_LIMIT_S):
                    await connection.execute("SELECT 1")
