"""Closings that wait for a transaction, and how many of them one takes."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from nexus_tools.leader.chain.closure import Closed
from nexus_tools.leader.closing.closing_batch import Closing
from nexus_tools.leader.closing.step_costs import MAX_RUNS
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.sui.types.address import Address

# Of the 1 024 that a transaction may have: `max_programmable_tx_commands`.
_MAX_COMMANDS = 900

# Gas gets dearer by tiers of instructions. Up to these a transaction stays in the first ones, where
# sharing it makes each closing cheaper; beyond, dearer. A signature costs nothing up to 16, 58 gas
# units each at 32, and 262 at 64. Inputs are read with their invocation: 64 KiB of them cost 1 150
# units each up to 8 in a transaction, and 4 990 at 32, which anybody can request.
_MAX_EFFORT = 2_048
_MAX_SIGNED = 32
_MAX_INPUT_BYTES = 128 * 1024
# What executions do with outcomes, as `following_effort` estimates it: about what 32 outcomes take
# that lead to one vertex each.
_MAX_FOLLOWING_EFFORT = 4_096


class ClosingQueue:
    """Closings that wait for a transaction; first come, first served.

    A batch is full when its number is, its bytes or one of what makes it dearer.
    """

    def __init__(self, config: LeaderConfig) -> None:
        self._config = config
        self._waiting: OrderedDict[Address, Closing] = OrderedDict()
        self._open: dict[Address, Closing] = {}
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, closing: Closing) -> None:
        """Have a closing taken in its turn; nothing if it is closed."""
        if closing.closed.done():
            return
        invocation = closing.assignment.invocation
        if invocation not in self._open:
            self._open[invocation] = closing
            closing.closed.add_done_callback(lambda _: self._open.pop(invocation, None))
        self._waiting[invocation] = closing
        self._arrived.set()

    def withdraw(self, invocation: Address, closed: Closed) -> bool:
        """Take out a closing that still waits; whether there is one."""
        closing = self._waiting.pop(invocation, None)
        if closing is not None:
            closing.close(closed)
        return closing is not None

    def is_under_way(self, invocation: Address) -> bool:
        """Whether a closing was taken and is not closed yet."""
        return invocation in self._open and invocation not in self._waiting

    async def take(self, most: int, patience_s: Callable[[], float] = lambda: 0.0) -> list[Closing]:
        """Wait for a closing; a batch of `most` at most.

        `patience_s` is asked when the first one arrives: so long it waits for others.
        """
        while not self._waiting:
            await self._arrival()
            if seconds := patience_s():
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        while not self._is_full(most):
                            await self._arrival()
        batch = self._batch(most)
        for closing in batch:
            del self._waiting[closing.assignment.invocation]
        return batch

    async def _arrival(self) -> None:
        self._arrived.clear()
        await self._arrived.wait()

    def _is_full(self, most: int) -> bool:
        return len(self._waiting) >= most or len(self._batch(most)) < len(self._waiting)

    def _batch(self, most: int) -> list[Closing]:
        """The first ones that fit into one transaction, one at least."""
        batch: list[Closing] = []
        size = commands = effort = following = signed = input_bytes = runs = 0
        for closing in self._waiting.values():
            size += closing.size
            commands += closing.commands
            effort += closing.effort
            following += closing.following_effort
            signed += closing.is_signed
            runs += 2 * closing.following_edges  # each edge is followed, and its run requested
            input_bytes += closing.input_bytes
            full = (
                len(batch) >= most
                or closing.is_costly
                or (batch and batch[0].is_costly)
                or size > self._config.batch_bytes
                or commands > _MAX_COMMANDS
                or effort > _MAX_EFFORT
                or following > _MAX_FOLLOWING_EFFORT
                or signed > _MAX_SIGNED
                or runs > MAX_RUNS
                or input_bytes > _MAX_INPUT_BYTES
            )
            if batch and full:
                break
            batch.append(closing)
        return batch
