"""The queue of closings, which also decides how many closings fit into one transaction."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closing_batch import Closing
from nexus_tools.leader.closing.step_costs import MAX_RUNS
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.sui.types.address import Address

# The protocol allows 1 024 commands in a transaction (`max_programmable_tx_commands`).
_MAX_COMMANDS = 900

# The gas price of an instruction rises in tiers with the length of a transaction. Within these
# limits, a transaction stays in the first tiers, where a larger batch makes each closing cheaper.
# Beyond the limits, a larger batch makes each closing more expensive. Up to 16 signatures cost
# nothing extra. Each of 32 signatures costs 58 gas units, and each of 64 signatures costs 262 gas
# units. The chain reads an invocation with its inputs. If each invocation has 64 KiB of inputs, up
# to 8 invocations in a transaction cost 1 150 gas units each, and 32 invocations cost 4 990 gas
# units each. Anyone can request invocations with large inputs.
_MAX_EFFORT = 2_048
_MAX_SIGNED = 32
_MAX_INPUT_BYTES = 128 * 1024
# The limit of the work to accept outcomes, in the units of `following_effort`. The limit is about
# the work for 32 outcomes that lead to one vertex each.
_MAX_FOLLOWING_EFFORT = 4_096


class ClosingQueue:
    """The closings that wait for a transaction, in the order of their arrival.

    A batch is full when it reaches the limit of closings, the limit of bytes, or a limit of
    another quantity that makes the transaction more expensive.
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
        """Remove a closing from the queue and resolve it. Return whether the queue contained it."""
        closing = self._waiting.pop(invocation, None)
        if closing is not None:
            closing.close(closed)
        return closing is not None

    def discard(self, invocation: Address) -> None:
        """Remove a closing from the queue without resolving it."""
        self._waiting.pop(invocation, None)

    def is_under_way(self, invocation: Address) -> bool:
        """Return whether a closing of the invocation has left the queue but is not closed yet."""
        return invocation in self._unclosed and invocation not in self._waiting

    async def take(self, most: int, wait_s: Callable[[], float] = lambda: 0.0) -> list[Closing]:
        """Wait for a closing, and return a batch of at most `most` closings.

        If the queue is empty, wait for the first closing, and then up to `wait_s()` seconds for
        more closings.
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
        """Return the first closings that fit into one transaction, but at least one closing."""
        batch: list[Closing] = []
        size = commands = effort = following = signed = input_bytes = runs = 0
        for closing in self._waiting.values():
            size += closing.size
            commands += closing.commands
            effort += closing.effort
            following += closing.following_effort
            signed += closing.is_signed
            runs += 2 * closing.following_edges  # one to follow the edge, and one to request a run
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
