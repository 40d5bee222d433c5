"""Where packaged tools are built while a server starts: in the background, two at a time."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from anyio import CapacityLimiter

from nexus_tools.bridges.hyperpocket.background import Background
from nexus_tools.bridges.hyperpocket.build import Build

AT_ONCE = 2


class Workshop:
    """Makes the builds of all tools of a bridge, which share its places."""

    def __init__(self) -> None:
        self._open = 0
        self._places: CapacityLimiter | None = None

    @asynccontextmanager
    async def building(self, builds: Iterable[Build]) -> AsyncIterator[None]:
        """The time in which these are built; what is not done at its end is given up."""
        # The places belong to the event loop of those who use them.
        places = self._places if self._open and self._places else CapacityLimiter(AT_ONCE)
        self._places = places
        self._open += 1

        async def make(build: Build) -> None:
            async with places:
                await build.make()

        try:
            async with Background().running() as background:
                for build in builds:
                    build.announce()
                    background.start(make(build))
                yield
        finally:
            self._open -= 1
