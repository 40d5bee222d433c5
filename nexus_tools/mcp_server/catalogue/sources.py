"""The sources of a search index: catalogues that return changes and unchecked definitions."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage
from nexus_tools.tool import ToolFqn


@dataclass(frozen=True, slots=True)
class Changes:
    """The current definitions of changed tools, and the changed tools that are not offered now."""

    page: CataloguePage
    removed: tuple[ToolFqn, ...]


@runtime_checkable
class Source(Protocol):
    """A catalogue for a search index.

    An index reads all pages with `scan`, and later only the changes. It shows only what `find_all`
    returns.
    """

    async def scan(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return a page as `Catalogue.page` does, but do not check the schemas."""
        ...

    async def changes(self) -> Changes | None:
        """Return the changes since the last call, or since the first page of the last scan.

        Changes may be returned again. The result is None if the index must scan again.
        """
        ...

    async def find_all(self, fqns: Sequence[ToolFqn]) -> CataloguePage:
        """Return the current, checked definitions of the tools that are still offered."""
        ...


@runtime_checkable
class Combination(Protocol):
    """A catalogue that consists of other catalogues."""

    async def parts(self) -> Sequence[Catalogue]:
        """Return the catalogues."""
        ...


async def sources_of(catalogue: Catalogue) -> list[Source]:
    """Return the sources of a catalogue. A simple catalogue is one source that is read again."""
    if isinstance(catalogue, Combination):
        groups = [await sources_of(part) for part in await catalogue.parts()]
        return [source for group in groups for source in group]
    return [catalogue if isinstance(catalogue, Source) else _PageSource(catalogue)]


class _PageSource:
    """A source for a catalogue that has only pages."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._prices_mist: dict[ToolFqn, int] = {}

    async def scan(self, cursor: str | None, limit: int) -> CataloguePage:
        page = await self._catalogue.page(cursor, limit)
        self._prices_mist |= page.prices_mist
        return page

    async def changes(self) -> Changes | None:
        return None

    async def find_all(self, fqns: Sequence[ToolFqn]) -> CataloguePage:
        found = await asyncio.gather(*map(self._catalogue.find, fqns))
        definitions = tuple(definition for definition in found if definition is not None)
        prices_mist = {fqn: self._prices_mist[fqn] for fqn in fqns if fqn in self._prices_mist}
        return CataloguePage(definitions, prices_mist=prices_mist)
