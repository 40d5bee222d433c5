"""Calls that are paid for: each is brought to its end, whoever still waits for it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Outcome


class Listener:
    """Whoever made the call, who may be gone before it ends."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.is_gone = False

    async def hear(self, sentence: str) -> None:
        """Tell how far the call is."""
        if self.is_gone:
            return
        try:
            await self._progress(sentence)
        except Exception:  # noqa: BLE001 - the edge to a client: its going ends no paid call
            self.is_gone = True

    def require(self) -> None:
        """Give the call up if nobody waits for it any more: before it is paid, that costs nothing.

        Raises `CancelledError`.
        """
        if self.is_gone:
            raise asyncio.CancelledError


class PaidCalls:
    """The calls that run."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Outcome]] = set()

    async def carry(
        self, call: Callable[[Listener], Coroutine[Any, Any, Outcome]], progress: Progress
    ) -> Outcome:
        """What a call comes to. Once it is paid it is carried on, whether anybody waits or not."""
        listener = Listener(progress)
        task = asyncio.create_task(call(listener))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        finally:
            listener.is_gone = True

    async def close(self) -> None:
        """Give up what still runs."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@contextmanager
def told_if_given_up(warn: Callable[[str], None], sentence: str) -> Iterator[None]:
    """Warn an operator of what stays on chain where its call is given up."""
    try:
        yield
    except asyncio.CancelledError:
        warn(sentence)
        raise


def carried_by(leaders: tuple[Address, ...]) -> str:
    """Who carries a call, in the order in which they do."""
    return f"the leader {leaders[0]}" + (f", or else {leaders[1]}" if leaders[1:] else "")
