"""The queue of closings, and how many of them fit into one transaction."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closing_batch import Closing
from nexus_tools.leader.closing.step_costs import MAX_RUNS
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.sui.types.address import Address

# A transaction may have 1 024 (`max_programmable_tx_commands`).
_MAX_COMMANDS = 900

# The gas price of an instruction rises in tiers. Within these limits, a transaction stays in the
# first tiers, where a larger batch makes each closing cheaper; beyond them it makes each closing
# more expensive. Up to 16 signatures cost nothing extra; 32 cost 58 gas units each, and 64 cost
# 262 each. Inputs are read with their invocation: 64 KiB of inputs cost 1 150 units each for up to
# 8 invocations in a transaction, and 4 990 for 32. Anyone can request such invocations.
_MAX_EFFORT = 2_048
_MAX_SIGNED = 32
_MAX_INPUT_BYTES = 128 * 1024
# The work of executions with the outcomes, as `following_effort` estimates it; about the work of 32
# outcomes that lead to one vertex each.
_MAX_FOLLOWING_EFFORT = 4_096


class ClosingQueue:
    """Closings that wait for a transaction, in the order of their arrival.

    A batch is full when it reaches a limit: of closings, of bytes, or of a quantity that makes the
    transaction more expensive.
    """

    def __init__(self, config: LeaderConfig) -> None:
        self._config = config
        self._waiting: OrderedDict[Address, Closing] = OrderedDict()
        self._unclosed: dict[Address, Closing] = {}
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, closing: Closing) -> None:
        """Queue a closing, unless it is already closed."""
        if closing.closed.done():
            return
        invocation = closing.assignment.invocation
        if invocation not in self._unclosed:
            self._unclosed[invocation] = closing
            closing.closed.add_done_callback(lambda _: self._unclosed.pop(invocation, None))
        self._waiting[invocation] = closing
        self._arrived.set()

    def withdraw(self, invocation: Address, closed: ClosureKind) -> bool:
        """Remove a closing that still waits, and return whether there was one."""
        closing = self._waiting.pop(invocation, None)
        if closing is not None:
            closing.close(closed)
        return closing is not None

    def is_under_way(self, invocation: Address) -> bool:
        """Return whether a closing was taken from the queue and is not closed yet."""
        return invocation in self._unclosed and invocation not in self._waiting

    async def take(self, most: int, wait_s: Callable[[], float] = lambda: 0.0) -> list[Closing]:
        """Wait for a closing, and return a batch of at most `most`.

        When the first closing arrives, `patience_s` returns how long to wait for others, in
        seconds.
        """
        while not self._waiting:
            await self._wait_for_arrival()
            if seconds := wait_s():
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        while not self._is_full(most):
                            await self._wait_for_arrival()
        batch = self._next_batch(most)
        for closing in batch:
            del self._waiting[closing.assignment.invocation]
        return batch

    async def _wait_for_arrival(self) -> None:
        self._arrived.clear()
        await self._arrived.wait()

    def _is_full(self, limit: int) -> bool:
        return len(self._waiting) >= limit or len(self._next_batch(limit)) < len(self._waiting)

    def _next_batch(self, limit: int) -> list[Closing]:
        """Return the first closings that fit into one transaction, at least one."""
        batch: list[Closing] = []
        size = commands = effort = following = signed = input_bytes = runs = 0
        for closing in self._waiting.values():
            size += closing.size
            commands += closing.commands
            effort += closing.effort
            following += closing.following_effort
            signed += closing.is_signed
            runs += 2 * closing.following_edges  # each edge is followed and its run requested
            input_bytes += closing.input_bytes
            full = (
                len(batch) >= limit
                or closing.is_costly
                or (batch and batch[0].is_costly)
                or size > self._config.max_batch_bytes
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
