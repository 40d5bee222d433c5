"""Paid calls, each of which runs to its end even if its client has disconnected."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from nexus_tools.mcp_server.calls.budget import Reservation
from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.mcp_server.receipt import Receipt
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Outcome


class CallClient:
    """The client of a call, which may disconnect before the call ends."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.is_gone = False

    async def notify(self, sentence: str) -> None:
        """Report progress to the client."""
        if self.is_gone:
            return
        try:
            await self._progress(sentence)
        except Exception:  # noqa: BLE001 - a disconnected client must not end a paid call
            self.is_gone = True

    def require(self) -> None:
        """Cancel the call if its client has disconnected. Call this function before the payment.

        Raises:
            CancelledError: if the client has disconnected.
        """
        if self.is_gone:
            raise asyncio.CancelledError


class PaidCallRunner:
    """The runner of paid calls."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Outcome]] = set()

    async def run(
        self, call: Callable[[CallClient], Coroutine[Any, Any, Outcome]], progress: Progress
    ) -> Outcome:
        """Run a call and return its outcome. A paid call continues without its client."""
        listener = CallClient(progress)
        task = asyncio.create_task(call(listener))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        finally:
            listener.is_gone = True

    async def close(self) -> None:
        """Cancel the running calls."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@contextmanager
def receipt_of(reservation: Reservation, kind: str) -> Iterator[Receipt]:
    """Provide the receipt of the running call, and write the cost to it at the end."""
    receipt = Receipt.current()
    receipt.kind = kind
    try:
        yield receipt
    finally:
        receipt.paid_mist = reservation.spent_mist


@contextmanager
def warn_if_cancelled(warn: Callable[[str], None], sentence: str) -> Iterator[None]:
    """Warn the operator about an object that stays on chain if its call is cancelled."""
    try:
        yield
    except asyncio.CancelledError:
        warn(sentence)
        raise


def describe_leaders(leaders: tuple[Address, ...]) -> str:
    """Return the names of the leaders that dispatch a call, in order of preference."""
    return f"the leader {leaders[0]}" + (f", or else {leaders[1]}" if leaders[1:] else "")
