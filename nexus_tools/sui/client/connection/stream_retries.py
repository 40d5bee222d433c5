"""Retries of reads that use a stream. `Connection.stream` itself does not retry."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.connection.grpc_errors import UnsupportedByNodeError
from nexus_tools.sui.errors import UnreachableError

T = TypeVar("T")


async def retry_read(connection: Connection, read: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `read`, and retry as `Connection.call` does.

    Raises `node_unreachable`, or the node's error if it refuses the request permanently.
    """
    for attempt, pause in enumerate(connection.retry_policy.delays(), 1):
        try:
            return await read()
        except UnsupportedByNodeError:
            raise
        except UnreachableError:
            is_last = attempt == connection.retry_policy.attempts
            if is_last or connection.stall_timeout.is_exceeded:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("the iterator of delays must not end")
