"""The sources of a search index: catalogues that return changes and unchecked definitions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from nexus_tools.errors import NexusError
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage
from nexus_tools.tool import ToolFqn

_PROBLEMS = {
    "index_missing": "this machine does not have an index of the registry",
    "index_invalid": "the index on this machine cannot be read",
    "index_format_unsupported": "the index on this machine has another format",
    "index_identity_mismatch": "the index on this machine belongs to another network or package",
    "intent_model_invalid": "the intent model on this machine cannot be used",
    "text_index_unusable": "the search index on this machine cannot be used",
}


def describe_problem(error: NexusError) -> str:
    """Return why an index is not used, for a model, which does not need paths of this machine."""
    return _PROBLEMS.get(error.code, error.message)


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


@dataclass(frozen=True, slots=True)
class Proposal:
    """Tools that an index outside of this process proposes, the best first.

    `total` counts all proposed tools. `source` names the index and its checkpoint. `reasons` say
    why a tool matches, in words that its author may have written. `notes` say what is incomplete.
    """

    fqns: tuple[ToolFqn, ...]
    total: int
    source: str
    reasons: Mapping[ToolFqn, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@runtime_checkable
class Proposer(Source, Protocol):
    """A source whose tools an index outside of this process may contain."""

    async def propose(self, query: str, limit: int, offset: int) -> Proposal | None:
        """Return tools that fit a query, or by name for a query without words.

        The result is None if no index is set up. The method logs its errors. Tools must be read
        with `find_all` before they are shown, because the index may be wrong.

        Raises:
            NexusError: if the index cannot be used, for example because it is stale.
        """
        ...


@dataclass(frozen=True, slots=True)
class Names:
    """FQNs of tools in the order of a catalogue.

    `next` is the position at which the next names start, and `is_end` says that there are none yet.
    """

    fqns: Sequence[ToolFqn]
    next: int
    is_end: bool


@runtime_checkable
class NameSource(Protocol):
    """A catalogue that may know its names without reading the tools."""

    async def names_from(self, position: int, limit: int) -> Names | None:
        """Return names from a position on, or None if they are not known.

        The names are those of tools that are probably offered.
        """
        ...


@runtime_checkable
class Combination(Protocol):
    """A catalogue that consists of other catalogues."""

    async def parts(self) -> Sequence[Catalogue]:
        """Return the catalogues."""
        ...


async def sources_of(catalogue: Catalogue) -> list[Source]:
    """Return the sources of a catalogue. A simple catalogue is one source that is read again."""
    parts = await simple_catalogues(catalogue)
    return [part if isinstance(part, Source) else _PageSource(part) for part in parts]


async def simple_catalogues(catalogue: Catalogue) -> list[Catalogue]:
    """Return the catalogues of which a catalogue consists, or only the catalogue."""
    if not isinstance(catalogue, Combination):
        return [catalogue]
    groups = [await simple_catalogues(part) for part in await catalogue.parts()]
    return [part for group in groups for part in group]


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
