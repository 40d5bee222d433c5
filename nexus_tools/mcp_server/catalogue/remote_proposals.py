"""Proposals of tools from the local index and from remote ones, which are not trusted."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import zip_longest
from time import monotonic
from typing import Self

from nexus_tools.contracts import ToolState
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.index import (
    IndexedToolFilter,
    IndexIdentity,
    RemoteIndex,
    ToolSort,
    check_checkpoint,
)
from nexus_tools.index.search.words import query_words
from nexus_tools.mcp_server.catalogue.index_proposals import IndexProposals
from nexus_tools.mcp_server.catalogue.sources import Names, Proposal
from nexus_tools.registry import ToolFilter, ToolRegistry
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.tool import ToolFqn

_CHECK_INTERVAL_S = 5.0
_PAGE_SIZE = 100
_MAX_PROPOSED = 200
"""The number of tools that are read from a remote index for a query."""
_MAX_REASON = 300


class MergedProposals:
    """The proposals of the local index and of remote ones. Use it with `async with`.

    Each index gets an equal share of the first places, so a tool is found if any index has it. An
    index that cannot be used is named in the notes.
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
        places = zip_longest(*(proposal.fqns for proposal in used))
        merged = [*dict.fromkeys(fqn for place in places for fqn in place if fqn is not None)]
        reasons = {fqn: text for proposal in used[::-1] for fqn, text in proposal.reasons.items()}
        notes = [note for proposal in used for note in proposal.notes]
        notes += [error.message for error in errors if error.code != "index_missing"]
        return Proposal(
            tuple(merged[offset:count]),
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
        self._client = registry.client
        self._filter = tool_filter
        domains = tool_filter.domains
        self._wanted = IndexedToolFilter(
            domain=domains[0] if len(domains) == 1 else None,
            owner=tool_filter.owner,
            state=ToolState.ACTIVE,
            max_price_mist=max_price_mist,
        )
        self._source = ""
        self._checked_at = 0.0

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
        notes = () if fits else (f"no tool seems to fit in {self._source}",)
        shown = {fqn: reason for fqn, reason in reasons.items() if reason}
        return Proposal(tuple(reasons)[:count], len(reasons), self._source, shown, notes)

    async def _check(self) -> None:
        if self._checked_at and monotonic() - self._checked_at <= _CHECK_INTERVAL_S:
            return
        status = await self.index.status()
        checkpoint = await check_checkpoint(self._client, status.checkpoint)
        self._source = f"index at {self.index.url}, checkpoint {checkpoint}"
        self._checked_at = monotonic()

    def _admitted(self, text: str) -> ToolFqn | None:
        try:
            fqn = ToolFqn.parse(text)
        except ValidationError:
            return None
        return fqn if self._filter.admits_name(fqn) else None
