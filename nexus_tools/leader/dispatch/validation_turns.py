"""Turns for schema validation, so that expensive validations use at most half of the time.

A validation blocks the event loop. Its duration depends on the schemas of the tool's author, up to
the limit of `InterfaceValidator`. The number of validations depends on the requesters.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from nexus_tools.http.fair_share import FairShare
from nexus_tools.sui.types.address import Address

_PAUSE_THRESHOLD_S = 0.01
"""The maximum duration in seconds of a validation without a following pause."""


class ValidationTurns:
    """A scheduler that runs one validation at a time, with turns for each tool.

    After an expensive validation, the next validation waits for as long as the expensive one took.
    Other tasks run in the meantime. `now` returns seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._share = FairShare[Address](1, 1)
        self._next_at = 0.0

    @asynccontextmanager
    async def of(self, tool: Address) -> AsyncIterator[None]:
        """Wait for the turn of a tool. The turn ends when the context exits."""
        async with self._share.slot(tool):
            start = self._now()
            if start < self._next_at:
                await asyncio.sleep(self._next_at - start)
                start = self._now()
            try:
                yield
            finally:
                end = self._now()
                if end - start > _PAUSE_THRESHOLD_S:
                    self._next_at = end + (end - start)
