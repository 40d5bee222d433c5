"""Proposals of tools from the local index, which `nexus-tools index run` keeps current."""

from collections.abc import Collection
from pathlib import Path
from time import monotonic

from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.index import Index, IndexedToolFilter, check_freshness
from nexus_tools.index.search.words import query_words
from nexus_tools.mcp_server.catalogue.sources import Names, Proposal
from nexus_tools.registry import ToolFilter, ToolRegistry
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import FqnPatterns, ToolFqn, ToolType

_CHECK_INTERVAL_S = 5.0
"""The time after which the age of the index is compared with the chain again."""


class IndexProposals:
    """The tools of an index that pass the filter of a catalogue.

    The experience of `requesters` decides before the record of all accounts. `intent_model` is the
    setting. An index that is deleted or replaced is opened again.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        tool_filter: ToolFilter,
        *,
        max_price_mist: int | None = None,
        requesters: Collection[Address] = (),
        intent_model: str | None = None,
        path: Path | None = None,
    ) -> None:
        """Take the filter of the catalogue. By default, the path is that of `Index.open`."""
        self._path = path
        self._registry = registry
        self._filter = tool_filter
        self._requesters = requesters
        self._intent_model = intent_model
        domains = tool_filter.domains
        self._wanted = IndexedToolFilter(
            domain=domains[0] if len(domains) == 1 else None,
            owner=tool_filter.owner,
            max_price_mist=max_price_mist,
            tool_type=ToolType.OFFCHAIN.value,
        )
        is_simple = len(domains) <= 1 and tool_filter.patterns == FqnPatterns()
        self._admits = None if is_simple and tool_filter.search is None else self._admit
        self._index: Index | None = None
        self._checked_at = 0.0

    def close(self) -> None:
        """Close the index."""
        index, self._index = self._index, None
        if index is not None:
            index.close()

    async def propose(self, query: str, limit: int, offset: int) -> Proposal:
        """Return tools of a fresh index.

        Raises:
            NexusError: `index_missing`, `index_stale`, `text_index_unusable`, or another error of
                `Index.open`, `check_freshness` and `Index.search`.
        """
        try:
            index = await self._fresh_index()
            if query_words(query):
                return self._search(index, query, limit, offset)
            return self._list(index, limit, offset)
        except NexusError:
            self.close()
            raise

    async def registered(self, start: int, limit: int) -> Names | None:
        """Return tools of a fresh index in the order of their registration, from a position on.

        The result is None if the index is not complete. Raises the errors of `propose`.
        """
        try:
            found = (await self._fresh_index()).registered(start, self._wanted, limit=limit)
        except NexusError:
            self.close()
            raise
        if found is None:
            return None
        admitted = (
            _parsed(tool.fqn)
            for tool in found.items
            if self._admits is None or self._admits(tool.fqn, tool.description)
        )
        return Names([fqn for fqn in admitted if fqn is not None], found.next, found.is_end)

    async def _fresh_index(self) -> Index:
        if self._index is None or self._index.is_replaced:
            self.close()
            deployment = self._registry.deployment
            self._index = Index.open(deployment, self._path, intent_model=self._intent_model)
            self._checked_at = 0.0
        index = self._index
        if not self._checked_at or monotonic() - self._checked_at > _CHECK_INTERVAL_S:
            await check_freshness(self._registry.client, index)
            self._checked_at = monotonic()
        return index

    def _search(self, index: Index, query: str, limit: int, offset: int) -> Proposal:
        results = index.search(
            query,
            self._wanted,
            limit=limit,
            after=str(offset),
            requesters=self._requesters,
            admits=self._admits,
        )
        reasons = {
            fqn: item.reason
            for item in results.items
            if (fqn := _parsed(item.tool.fqn)) is not None
        }
        notes = (*index.completeness_notes(), *results.notes)
        if results.total and not results.fits:
            notes = (*notes, "no tool seems to fit: these are the closest ones")
        return Proposal(tuple(reasons), results.total, _source(results.checkpoint), reasons, notes)

    def _list(self, index: Index, limit: int, offset: int) -> Proposal:
        names, total = index.tool_names(
            self._wanted, limit=limit, offset=offset, admits=self._admits
        )
        fqns = [fqn for fqn in map(_parsed, names) if fqn is not None]
        notes = tuple(index.completeness_notes())
        return Proposal(tuple(fqns), total, _source(index.checkpoint()), notes=notes)

    def _admit(self, text: str, description: str) -> bool:
        fqn = _parsed(text)
        is_named = fqn is not None and self._filter.admits_name(fqn)
        return is_named and self._filter.admits_text(text, description)


def _source(checkpoint: int) -> str:
    return f"index, checkpoint {checkpoint}"


def _parsed(fqn: str) -> ToolFqn | None:
    """Return a parsed FQN of the index, or None if a damaged index contains an invalid one."""
    try:
        return ToolFqn.parse(fqn)
    except ValidationError:
        return None
