"""Turns for checks of values against schemas, so that costly ones take half of the time at most.

A check runs in the event loop, which does nothing else meanwhile. The author of a tool decides how
long one takes, up to the limit of `InterfaceValidator`, and requesters decide how many there are.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from nexus_tools.http.fair_share import FairShare
from nexus_tools.sui.types.address import Address

_COSTLY_S = 0.01
"""A check that takes less is not worth a pause."""


class CheckTurns:
    """Lets one check run at a time, the tools in turn.

    After a costly check, the next one waits for as long as that check took. Everything else goes on
    meanwhile. `now` returns seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._share = FairShare[Address](1, 1)
        self._next_at = 0.0

    @asynccontextmanager
    async def of(self, tool: Address) -> AsyncIterator[None]:
        """Wait for the turn of a tool, which ends with the context."""
        async with self._share.slot(tool):
            began = self._now()
            if began < self._next_at:
                await asyncio.sleep(self._next_at - began)
                began = self._now()
            try:
                yield
            finally:
                ended = self._now()
                if ended - began > _COSTLY_S:
                    self._next_at = ended + (ended - began)
