"""The indices that `tool list` asks: the local one, and remote ones."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from nexus_tools.cli.framework import Session, plain
from nexus_tools.cli.tool.index_pages import Page, Proposal, Request, pages_of, remote_pages
from nexus_tools.errors import NexusError
from nexus_tools.index import (
    MAX_LOOKED_UP,
    IndexIdentity,
    RemoteIndex,
    check_freshness,
    check_remote,
    describe_hidden,
    find_hidden,
    merge_places,
)
from nexus_tools.nexus import Nexus


@dataclass
class Source:
    """An index, with the tools that it has proposed. `remote` is None for the local index."""

    label: str
    checkpoint: int
    pages: AsyncIterator[Page]
    remote: RemoteIndex | None = None
    proposals: dict[str, Proposal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    scanned: int = 0
    is_open: bool = True
    error: NexusError | None = None

    async def read(self) -> Sequence[str]:
        """Return the FQNs on the next page. An error ends the source."""
        if not self.is_open:
            return ()
        try:
            page = await anext(self.pages)
        except StopAsyncIteration:
            self.is_open = False
            return ()
        except NexusError as error:
            self.is_open, self.error = False, error
            return ()
        self.is_open = page.has_more
        self.scanned += page.scanned
        self.notes += [note for note in page.notes if note not in self.notes]
        self.proposals |= {proposal.fqn: proposal for proposal in page.proposals}
        return [proposal.fqn for proposal in page.proposals]


@dataclass
class Sources:
    """The indices that can be used, the errors of the others, and notes about the list."""

    items: list[Source] = field(default_factory=list)
    errors: list[NexusError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    async def read(self) -> list[str] | None:
        """Return the FQNs on the next page of each index, merged, or None after the last page."""
        if not any(source.is_open for source in self.items):
            return None
        known = {fqn for source in self.items for fqn in source.proposals}
        pages = await asyncio.gather(*(source.read() for source in self.items))
        return [fqn for fqn in merge_places(pages) if fqn not in known]

    def proposal(self, fqn: str) -> Proposal:
        """Return the proposal of the first index that has a tool."""
        return next(source.proposals[fqn] for source in self.items if fqn in source.proposals)

    def labels(self, fqn: str) -> str:
        """Return the indices that proposed a tool."""
        return "; ".join(source.label for source in self.items if fqn in source.proposals)

    async def find_hidden(self, fqns: Sequence[str]) -> list[str]:
        """Return a note for each remote index that lacks listed tools although it is current."""
        return [
            note
            for source in self.items
            if source.remote is not None and source.error is None
            for note in await _hidden(source, source.remote, [*map(self.proposal, fqns)])
        ]


async def _hidden(source: Source, remote: RemoteIndex, listed: Sequence[Proposal]) -> list[str]:
    """Return a note if an index lacks tools that were registered before its checkpoint."""
    missing = [
        proposal.fqn
        for proposal in listed
        if proposal.fqn not in source.proposals and proposal.checkpoint <= source.checkpoint
    ]
    try:
        hidden = await find_hidden(remote, missing[:MAX_LOOKED_UP])
    except NexusError:
        return []
    return [describe_hidden(source.label, len(hidden))] if hidden else []


@asynccontextmanager
async def open_sources(
    session: Session, nexus: Nexus, request: Request, urls: Sequence[str]
) -> AsyncIterator[Sources]:
    """Open the indices that are fresh and belong to the network."""
    sources = Sources()
    async with AsyncExitStack() as stack:
        try:
            request.check_state()
            index = stack.enter_context(nexus.index(intent_model=session.settings.intent_model))
            checkpoint = await check_freshness(nexus.client, index)
            local = Source(
                f"index, checkpoint {checkpoint}", checkpoint, _async(pages_of(index, request))
            )
            local.notes += index.completeness_notes()
            sources.items.append(local)
        except NexusError as error:
            sources.errors.append(error)
            if error.code == "index_unsuitable":
                yield sources
                return
        identity = IndexIdentity.of(nexus.deployment)
        remotes = [
            await stack.enter_async_context(RemoteIndex(url, identity))
            for url in dict.fromkeys(urls)
        ]
        for found in await asyncio.gather(*(_open(nexus, item, request) for item in remotes)):
            if isinstance(found, Source):
                sources.items.append(found)
            else:
                sources.errors.append(found)
        yield sources


async def _open(nexus: Nexus, remote: RemoteIndex, request: Request) -> Source | NexusError:
    """Return the source of a remote index, or the error why it cannot be used."""
    try:
        checkpoint = await check_remote(nexus.client, remote)
    except NexusError as error:
        return error
    label = plain(remote.label(checkpoint))
    return Source(label, checkpoint, remote_pages(remote, request), remote)


async def _async(pages: Iterator[Page]) -> AsyncIterator[Page]:
    for page in pages:
        yield page
