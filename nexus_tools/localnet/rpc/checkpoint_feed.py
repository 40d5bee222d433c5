"""New checkpoints for one subscription, in a queue of bounded length."""

import asyncio
from collections import deque
from types import TracebackType
from typing import Self

from nexus_tools.localnet.ledger import Checkpoint
from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.status import Code, RpcError

CHECKPOINT_SECONDS = 1.0
"""While someone watches, the chain gets a checkpoint at least this often."""


class CheckpointFeed:
    """The checkpoints that the node makes while the feed is open.

    A client that does not take them as fast as they come is dropped when as many wait as the limits
    allow: nothing is kept for it any more, and its stream ends with RESOURCE_EXHAUSTED behind the
    frame that it is reading.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._is_dropped = False
        self._waiting: deque[Checkpoint] = deque()
        self._last = backend.node.ledger.latest.number
        self._arrived = asyncio.Event()

    def __enter__(self) -> Self:
        subscriptions = self._backend.subscriptions
        if len(subscriptions) >= self._backend.limits.subscriptions:
            raise RpcError(Code.UNAVAILABLE, "too many existing subscriptions")
        self._unsubscribe = self._backend.node.subscribe(self._push)
        subscriptions.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._unsubscribe()
        self._backend.subscriptions.discard(self)
        self._waiting.clear()

    def _push(self, checkpoint: Checkpoint) -> None:
        if len(self._waiting) >= self._backend.limits.checkpoints_behind:
            self._is_dropped = True
            self._close()
        else:
            self._waiting.append(checkpoint)
        self._arrived.set()

    async def next(self) -> Checkpoint:
        """The next checkpoint; the node is asked for one when none comes by itself.

        Raises `RpcError` if the client was dropped, and if the network went back to a snapshot.
        """
        while not self._waiting:
            if self._is_dropped:
                raise RpcError(
                    Code.RESOURCE_EXHAUSTED, "the subscription did not keep up with the network"
                )
            self._arrived.clear()
            try:
                async with asyncio.timeout(CHECKPOINT_SECONDS):
                    await self._arrived.wait()
            except TimeoutError:
                self._backend.node.catch_up()
        checkpoint = self._waiting.popleft()
        if checkpoint.number <= self._last:
            raise RpcError(Code.UNAVAILABLE, "the network went back to a snapshot: subscribe again")
        self._last = checkpoint.number
        return checkpoint
