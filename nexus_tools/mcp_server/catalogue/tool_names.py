"""The FQNs of tools by the names that the server has given them."""

import asyncio
import time
from collections.abc import Callable, Iterable

from nexus_tools.export import Exportable
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue
from nexus_tools.mcp_server.catalogue.sources import NameSource, simple_catalogues
from nexus_tools.tool import ToolFqn

# The number of pages that are read to find a name that this process has not listed.
_MAX_PAGES = 1_000
_NAMES_AT_ONCE = 5_000


class ToolNames:
    """The FQNs by the names that the server has listed. Names are looked up and never parsed.

    A client may know a name that another process has listed. `find` then asks the index for the new
    names since the last time, or reads the catalogue until the name occurs. If the name does not
    occur, `find` does not read again for `patience_s`.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        name: Callable[[ToolFqn], str],
        *,
        page_size: int,
        patience_s: float = 10.0,
    ) -> None:
        self._catalogue = catalogue
        self._name = name
        self._page_size = page_size
        self._patience_s = patience_s
        self._fqns: dict[str, ToolFqn] = {}
        self._positions: dict[int, int] = {}
        self._reading = asyncio.Lock()
        self._read_until = 0.0

    def assign(self, definitions: Iterable[Exportable]) -> None:
        """Register the names of listed definitions. A name keeps its first FQN."""
        self._assign(definition.fqn for definition in definitions)

    def _assign(self, fqns: Iterable[ToolFqn]) -> None:
        for fqn in fqns:
            self._fqns.setdefault(self._name(fqn), fqn)

    async def find(self, name: str) -> ToolFqn | None:
        """Return the FQN of a name, or None if the catalogue does not have it."""
        if name not in self._fqns:
            async with self._reading:
                await self._read_until_found(name)
        return self._fqns.get(name)

    async def _read_until_found(self, name: str) -> None:
        if name in self._fqns or time.monotonic() < self._read_until:
            return
        for number, part in enumerate(await simple_catalogues(self._catalogue)):
            if not (isinstance(part, NameSource) and await self._read_names(number, part)):
                await self._read_pages(part, name)
            if name in self._fqns:
                return
        self._read_until = time.monotonic() + self._patience_s

    async def _read_names(self, number: int, source: NameSource) -> bool:
        """Read the new names of a part. Return whether it knows its names."""
        is_end = False
        while not is_end:
            names = await source.names_from(self._positions.get(number, 0), _NAMES_AT_ONCE)
            if names is None:
                return False
            self._assign(names.fqns)
            self._positions[number], is_end = names.next, names.is_end
            await asyncio.sleep(0)  # other requests come first
        return True

    async def _read_pages(self, part: Catalogue, name: str) -> None:
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await part.page(cursor, self._page_size)
            self.assign(page.definitions)
            cursor = page.next_cursor
            if name in self._fqns or cursor is None:
                break
