"""The transactions that changed an object, newest first, even if the object was deleted."""

import asyncio
from contextlib import aclosing

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.client.connection.list_requests import DESCENDING, THERE_IS_MORE
from nexus_tools.sui.client.connection.stream_retries import retry_read
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.client.transactions.transactions import (
    EXECUTED_FIELDS,
    Executed,
    parse_executed,
)
from nexus_tools.sui.types.address import Address

MAX_READ_S = 1.0
"""The time after which reading stops, even if it has not found enough transactions."""


class _Part(Struct, frozen=True):
    """Transactions, and the node's cursor before the oldest one, or None at the end."""

    transactions: tuple[Executed, ...]
    next: bytes | None


async def newest_transactions_of(
    client: SuiClient, object_id: Address, limit: int, *, max_read_s: float = MAX_READ_S
) -> tuple[Executed, ...]:
    """Return at most `limit` transactions that changed an object, newest first.

    The cost does not depend on the chain's history if the node has an index. If the node searches
    its history instead, reading stops after about `max_read_s`. At least one request is always
    sent. The result omits transactions that the node has pruned.

    Raises `UnsupportedByNodeError` if the node does not list transactions, or `node_unreachable`.
    """
    connection = client.connection
    ends_at = asyncio.get_running_loop().time() + max_read_s
    transactions: list[Executed] = []
    before: bytes | None = None
    while True:
        part = await _read(connection, object_id, limit - len(transactions), before)
        transactions += part.transactions
        before = part.next
        is_full = len(transactions) >= limit
        if before is None or is_full or asyncio.get_running_loop().time() >= ends_at:
            return tuple(transactions)


async def _read(
    connection: Connection, object_id: Address, limit: int, before: bytes | None
) -> _Part:
    return await retry_read(connection, lambda: _read_once(connection, object_id, limit, before))


async def _read_once(
    connection: Connection, object_id: Address, limit: int, before: bytes | None
) -> _Part:
    affected = {"affected_object": {"object_id": str(object_id)}}
    frames = connection.stream(
        "LedgerService/ListTransactions",
        read_mask=mask(*EXECUTED_FIELDS),
        filter={"terms": [{"literals": [affected]}]},
        options={"limit": limit, "before": before, "ordering": DESCENDING},
    )
    transactions, token, end_reason = [], None, None
    async with aclosing(frames) as stream:
        async for frame in stream:
            token = frame.watermark.cursor or token
            if frame.HasField("transaction"):
                transactions.append(parse_executed(frame.transaction))
            if frame.HasField("end"):
                end_reason = frame.end.reason
    return _Part(tuple(transactions), token if end_reason in THERE_IS_MORE else None)
