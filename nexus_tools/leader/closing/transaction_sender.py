"""A sender of signed transactions, which determines the results."""

import asyncio
from dataclasses import dataclass

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.sui.client import Executed, SuiClient, execute_transaction
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.digest import Digest

_log = get_logger("nexus_tools.leader")


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A signed transaction, which the chain executes at most once, even if it is sent again."""

    digest: Digest
    data: bytes
    signature: bytes


class TransactionSender:
    """A sender that retries a transaction, or looks up its digest, until the result is known."""

    def __init__(self, client: SuiClient, pause_ms: int) -> None:
        self._client = client
        self._pause = pause_ms / 1000
        self.trouble = ""

    async def send(self, transaction: SignedTransaction) -> Executed:
        """Return the executed transaction, or raise the node's refusal if it was not executed.

        A refused transaction does not lock objects, because it does not use objects that the worker
        owns. It expires after its epochs, even if the network could still execute it later.
        """
        connection = self._client.connection
        while True:
            try:
                executed = await execute_transaction(
                    connection, transaction.data, transaction.signature
                )
            except UnreachableError as error:
                await self._wait(transaction, error)
                continue
            except NexusError as refusal:
                _log.warning("refused", digest=str(transaction.digest), error=refusal.message)
                earlier_result = await self._look_up(transaction)
                if earlier_result is None:
                    raise
                executed = earlier_result
            self.trouble = ""
            return executed

    async def _look_up(self, transaction: SignedTransaction) -> Executed | None:
        while True:
            try:
                executed = await self._client.transaction(transaction.digest)
            except UnreachableError as error:
                await self._wait(transaction, error)
            else:
                self.trouble = ""
                return executed

    async def _wait(self, transaction: SignedTransaction, error: UnreachableError) -> None:
        self.trouble = error.message
        _log.debug("node_unreachable", digest=str(transaction.digest), error=error.message)
        await asyncio.sleep(self._pause)
