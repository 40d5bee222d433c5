"""Proposals of tools from the local index and from remote ones, which are not trusted."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from time import monotonic
from typing import Self

from nexus_tools.contracts import ToolState, tool_id
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.index import (
    MAX_LOOKED_UP,
    IndexedToolFilter,
    IndexIdentity,
    RemoteIndex,
    ToolSort,
    check_remote,
    describe_hidden,
    find_hidden,
    merge_places,
)
from nexus_tools.index.search.words import query_words
from nexus_tools.mcp_server.catalogue.index_proposals import IndexProposals
from nexus_tools.mcp_server.catalogue.sources import Names, Proposal, describe_problem
from nexus_tools.registry import ToolFilter, ToolRegistry
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.tool import ToolFqn

_CHECK_INTERVAL_S = 5.0
_PAGE_SIZE = 100
_MAX_PROPOSED = 200
"""The number of tools that are read from a remote index for a query."""
_MAX_REASON = 300
_MAX_CONTAINED = 10_000
"""The number of tools of a remote index that are remembered."""


class MergedProposals:
    """The proposals of the local index and of remote ones. Use it with `async with`.

    Each index gets an equal share of the first places, so a tool is found if any index has it. The
    notes name the indices that cannot be used, and those that hide tools.
    """

    def __init__(
        self,
        local: IndexProposals,
        urls: Sequence[str],
        registry: ToolRegistry,
        tool_filter: ToolFilter,
        *,
        max_price_mist: int | None = None,
    ) -> None:
        """Take the local index, the URLs of the remote ones, and the filter of the catalogue."""
        self._local = local
        self._remotes = [
            _Remote(url, registry, tool_filter, max_price_mist=max_price_mist) for url in urls
        ]
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for remote in self._remotes:
            await self._stack.enter_async_context(remote.index)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._local.close()
        await self._stack.aclose()

    async def registered(self, start: int, limit: int) -> Names | None:
        """Return the result of `IndexProposals.registered`. A list does not use remote indices."""
        return await self._local.registered(start, limit)

    async def propose(self, query: str, limit: int, offset: int) -> Proposal:
        """Return the proposals of all usable indices. Raises the errors of the local index."""
        if not self._remotes:
            return await self._local.propose(query, limit, offset)
        count = offset + limit
        results = await asyncio.gather(
            self._local.propose(query, count, 0),
            *(remote.propose(query, count) for remote in self._remotes),
            return_exceptions=True,
        )
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, NexusError):
                raise result
        used = [result for result in results if isinstance(result, Proposal)]
        errors = [result for result in results if isinstance(result, NexusError)]
        if not used:
            raise errors[0]
        merged = merge_places([proposal.fqns for proposal in used])
        shown = merged[offset:count]
        reasons = {fqn: text for proposal in used[::-1] for fqn, text in proposal.reasons.items()}
        notes = [note for proposal in used for note in proposal.notes]
        notes += [describe_problem(error) for error in errors if error.code != "index_missing"]
        pairs = zip(self._remotes, results[1:], strict=True)
        hidden = [
            remote.hidden_notes(shown, result)
            for remote, result in pairs
            if isinstance(result, Proposal)
        ]
        notes += [note for part in await asyncio.gather(*hidden) for note in part]
        return Proposal(
            tuple(shown),
            max(len(merged), *(proposal.total for proposal in used)),
            "; ".join(proposal.source for proposal in used),
            reasons,
            tuple(notes),
        )


class _Remote:
    """A remote index with the filter of the catalogue."""

    def __init__(
        self,
        url: str,
        registry: ToolRegistry,
        tool_filter: ToolFilter,
        *,
        max_price_mist: int | None,
    ) -> None:
        self.index = RemoteIndex(url, IndexIdentity.of(registry.deployment))
        self._registry = registry
        self._filter = tool_filter
        domains = tool_filter.domains
        self._wanted = IndexedToolFilter(
            domain=domains[0] if len(domains) == 1 else None,
            owner=tool_filter.owner,
            state=ToolState.ACTIVE,
            max_price_mist=max_price_mist,
        )
        self._checkpoint = 0
        self._checked_at = 0.0
        self._contained: set[str] = set()

    async def propose(self, query: str, count: int) -> Proposal:
        """Return at most `count` tools. Raises the errors of `RemoteIndex` and `index_stale`."""
        await self._check()
        reasons: dict[ToolFqn, str] = {}
        fits = True
        after: str | None = None
        words = query if query_words(query) else None
        for _ in range(0, min(count, _MAX_PROPOSED), _PAGE_SIZE):
            page = await self.index.tools(
                words,
                self._wanted,
                None if words else ToolSort.NAME,
                limit=_PAGE_SIZE,
                after=after,
            )
            for tool in page.items[:_PAGE_SIZE]:
                fqn = self._admitted(tool.fqn)
                if fqn is not None:
                    reasons.setdefault(fqn, one_line(tool.reason or "", _MAX_REASON))
            fits, after = fits and page.fits, page.next
            if after is None:
                break
        source = self.index.label(self._checkpoint)
        notes = () if fits else (f"no tool seems to fit in {source}",)
        shown = {fqn: reason for fqn, reason in reasons.items() if reason}
        return Proposal(tuple(reasons)[:count], len(reasons), source, shown, notes)

    async def hidden_notes(self, shown: Sequence[ToolFqn], proposal: Proposal) -> list[str]:
        """Return a note if the index lacks tools that were registered before its checkpoint.

        `shown` are the tools that any index proposed, and `proposal` are those of this index. Other
        indices may have invented tools, so the chain decides which tools exist.
        """
        if len(self._contained) > _MAX_CONTAINED:
            self._contained.clear()
        self._contained.update(map(str, proposal.fqns))
        missing = [fqn for fqn in map(str, shown) if fqn not in self._contained][:MAX_LOOKED_UP]
        try:
            hidden = await find_hidden(self.index, missing)
            self._contained.update({*missing}.difference(hidden))
            count = await self._count_older(hidden) if hidden else 0
        except NexusError:
            return []
        return [describe_hidden(proposal.source, count)] if count else []

    async def _count_older(self, fqns: Sequence[str]) -> int:
        """Return how many of some tools the chain had at the checkpoint of the index."""
        names = self._registry.deployment.tool_registry
        ids = [tool_id(names, ToolFqn.parse(fqn)) for fqn in fqns]
        tools = await self._registry.find_all(ids, Tool)
        time_ms = await self._registry.client.checkpoint_time_ms(self._checkpoint)
        return sum(tool is not None and tool.registered_at_ms <= time_ms for tool in tools)

    async def _check(self) -> None:
        if self._checked_at and monotonic() - self._checked_at <= _CHECK_INTERVAL_S:
            return
        self._checkpoint = await check_remote(self._registry.client, self.index)
        self._checked_at = monotonic()

    def _admitted(self, text: str) -> ToolFqn | None:
        try:
            fqn = ToolFqn.parse(text)
        except ValidationError:
            return None
        return fqn if self._filter.admits_name(fqn) else None
