"""Sends a signed transaction until it is known what became of it."""

import asyncio

import structlog

from nexus_tools.client import Executed, SuiClient
from nexus_tools.client.submission import execute_transaction
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.journal_entry import SignedTransaction

_log = structlog.get_logger("nexus_tools.leader")


class TransactionSender:
    """The same bytes are sent and looked up by their digest, as often as it takes."""

    def __init__(self, client: SuiClient, pause_ms: int) -> None:
        self._client = client
        self._pause = pause_ms / 1000
        self.trouble = ""

    async def send(self, transaction: SignedTransaction) -> Executed | None:
        """What the chain did, or None if the node refuses it and never executed it."""
        connection = self._client.connection
        while True:
            try:
                return await self._settled(
                    await execute_transaction(connection, transaction.data, transaction.signature)
                )
            except UnreachableError as error:
                await self._wait(transaction, error)
            except NexusError as refusal:
                _log.warning("refused", digest=str(transaction.digest), error=refusal.message)
                return await self._settled(await self._look_up(transaction))

    async def recover(self, transaction: SignedTransaction) -> Executed | None:
        """What became of a transaction that may have been sent; it is sent if nothing is known.

        Another one in its place could lock the objects of both.
        """
        return await self._look_up(transaction) or await self.send(transaction)

    async def _look_up(self, transaction: SignedTransaction) -> Executed | None:
        while True:
            try:
                return await self._settled(await self._client.transaction(transaction.digest))
            except UnreachableError as error:
                await self._wait(transaction, error)

    async def _settled(self, executed: Executed | None) -> Executed | None:
        self.trouble = ""
        return executed

    async def _wait(self, transaction: SignedTransaction, error: UnreachableError) -> None:
        self.trouble = error.message
        _log.warning("node_away", digest=str(transaction.digest), error=error.message)
        await asyncio.sleep(self._pause)
