"""A journal of the transactions of `package publish`, to continue after an interruption.

Each transaction is recorded before it is sent. The next attempt of the same wallet on the same
chain looks up the transaction. If the transaction was not executed, the attempt sends the same
bytes again. Sending twice is safe, because the chain executes a transaction only once.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from nexus_tools.cli.framework import Session, confirm_and_execute
from nexus_tools.errors import NotFoundError, RefusedOnChainError
from nexus_tools.sui.support.private_file import read_private, write_private

if TYPE_CHECKING:
    from nexus_tools.contracts import Publisher
    from nexus_tools.sui.client import Executed, SignedTransaction, SuiClient
    from nexus_tools.sui.types.address import Address

T = TypeVar("T")
Verb = Callable[["Publisher", "Sequence[Executed]"], Awaitable[T]]
"""A function that sends the transactions of a step, except those already executed."""


class PublishJournal:
    """A file with the transactions of an unfinished publication, grouped by step."""

    def __init__(self, session: Session, client: "SuiClient", path: Path) -> None:
        self._session = session
        self._client = client
        self._path = path

    @classmethod
    async def of(cls, session: Session, client: "SuiClient") -> Self:
        """Return the journal of the signing wallet on the chain of the client."""
        name = f"{await client.chain_id()}-{client.address}.json"
        return cls(session, client, session.settings.data_directory / "publishing" / name)

    async def executed(self, step: str) -> "list[Executed]":
        """Return the successful transactions of a step."""
        found = [
            await self._client.transaction(transaction.digest) for transaction in self._sent(step)
        ]
        return [item for item in found if item is not None and _succeeded(item)]

    async def confirm_and_execute(
        self,
        step: str,
        publisher: "Publisher",
        verb: "Verb[T]",
        *,
        question: Callable[[T], str],
        length: int = 1,
    ) -> T:
        """Run a step of `length` transactions, and skip those that were executed before."""
        done = await self.executed(step)
        for transaction in done:
            self._session.output.note(
                f"continuing after transaction {transaction.digest} of an earlier attempt"
            )
        if len(done) == length:
            return await verb(publisher, done)

        async def perform(service: "Publisher") -> T:
            if service.dry_run:
                return await verb(service, done)
            with self._recording(step):
                return await verb(service, await self._send_again(step))

        return await confirm_and_execute(self._session, publisher, perform, question=question)

    def forget(self, *steps: str) -> None:
        """Delete the transactions of steps whose results are stored elsewhere."""
        document = {key: sent for key, sent in self._read().items() if key not in steps}
        if document:
            write_private(self._path, json.dumps(document))
        else:
            self._path.unlink(missing_ok=True)

    async def _send_again(self, step: str) -> "list[Executed]":
        """Send the recorded transactions again.

        A transaction that the chain refuses now can never execute, so it is omitted.
        """
        executed = []
        for transaction in self._sent(step):
            try:
                sent = await self._client.execute_transaction(
                    transaction.transaction, [transaction.signature]
                )
            except (RefusedOnChainError, NotFoundError):
                continue
            executed.append(sent)
            self._session.last_sent = transaction
        return executed

    @contextmanager
    def _recording(self, step: str) -> Iterator[None]:
        def record(sent: "SignedTransaction") -> None:
            texts = [b64encode(part).decode() for part in (sent.transaction, sent.signature)]
            document = self._read()
            document.setdefault(step, []).append([*texts, str(sent.digest)])
            write_private(self._path, json.dumps(document))

        self._session.on_send = record
        try:
            yield
        finally:
            self._session.on_send = None

    def _sent(self, step: str) -> "list[SignedTransaction]":
        from nexus_tools.sui.client import SignedTransaction
        from nexus_tools.sui.types.digest import Digest

        return [
            SignedTransaction(b64decode(transaction), b64decode(signature), Digest.parse(digest))
            for transaction, signature, digest in self._read().get(step, ())
        ]

    def _read(self) -> dict[str, list[list[str]]]:
        document: dict[str, list[list[str]]] = json.loads(read_private(self._path) or "{}")
        return document


def modules_step(modules: "Sequence[bytes]", dependencies: "Sequence[Address]") -> str:
    """Return the unique step name for publishing a package of the user."""
    from hashlib import blake2b

    parts = (*modules, *(str(dependency).encode() for dependency in dependencies))
    return blake2b(b"".join(parts), digest_size=32).hexdigest()


def _succeeded(executed: "Executed") -> bool:
    from nexus_tools.sui.types.execution_status import Success

    return isinstance(executed.effects.status, Success)
