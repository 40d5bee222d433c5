"""The search of a catalogue: with an index outside of this process, or with one in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nexus_tools.errors import NexusError
from nexus_tools.index import merge_places
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage
from nexus_tools.mcp_server.catalogue.combined_catalogue import CombinedCatalogue
from nexus_tools.mcp_server.catalogue.sources import (
    Proposal,
    Proposer,
    describe_problem,
    simple_catalogues,
)
from nexus_tools.mcp_server.search_index import CatalogueIndex
from nexus_tools.tool import ToolFqn


@dataclass(frozen=True, slots=True)
class Findings:
    """A page of search results, the best first. Read them with `CatalogueSearch.find_all`.

    `source` names the index, or is empty. `notes` say what the results lack, and why.
    """

    fqns: Sequence[ToolFqn]
    total: int
    is_complete: bool = True
    source: str = ""
    reasons: Mapping[ToolFqn, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class CatalogueSearch:
    """The search of a catalogue.

    If a part of the catalogue has an index outside of this process, that index searches this part,
    and only the other parts are read into memory. If the index cannot be used, the whole catalogue
    is read into memory, and the findings say why.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._memory = CatalogueIndex(catalogue)
        self._parts: tuple[Proposer | None, CatalogueIndex | None] | None = None

    async def find(self, query: str, limit: int, offset: int) -> Findings:
        """Return the tools that fit a query. Without words, return all tools by name."""
        proposer, others = await self._opened()
        if proposer is None:
            return await self._find_in_memory(query, limit, offset)
        # Two orders are merged from their beginnings.
        span = (limit, offset) if others is None else (limit + offset, 0)
        try:
            proposal = await proposer.propose(query, *span)
        except NexusError as error:
            note = f"the index is not used, because {describe_problem(error)}"
            return await self._find_in_memory(query, limit, offset, note)
        if proposal is None:
            return await self._find_in_memory(query, limit, offset)
        if others is None:
            return _findings(proposal, proposal.fqns, proposal.total)
        found = (await others.get()).find(query, *span)
        merged = merge_places([proposal.fqns, found.fqns])
        return _findings(
            proposal,
            merged[offset : offset + limit],
            proposal.total + found.total,
            is_complete=others.is_complete,
        )

    async def find_all(self, fqns: Sequence[ToolFqn]) -> CataloguePage:
        """Return the current, checked definitions of tools that are offered, in this order."""
        proposer, others = await self._opened()
        if proposer is None:
            await self._memory.get()  # a catalogue may know prices only after it is read
            return await self._memory.find_all(fqns)
        page = await proposer.find_all(fqns)
        found = {definition.fqn: definition for definition in page.definitions}
        prices_mist = dict(page.prices_mist)
        missing = [fqn for fqn in fqns if fqn not in found]
        if missing and others is not None:
            await others.get()
            rest = await others.find_all(missing)
            found |= {definition.fqn: definition for definition in rest.definitions}
            prices_mist |= rest.prices_mist
        ordered = tuple(found[fqn] for fqn in fqns if fqn in found)
        return CataloguePage(ordered, prices_mist=prices_mist)

    async def _opened(self) -> tuple[Proposer | None, CatalogueIndex | None]:
        """Return the part that has an index, and the index in memory of the other parts."""
        if self._parts is None:
            parts = await simple_catalogues(self._catalogue)
            proposer = next((part for part in parts if isinstance(part, Proposer)), None)
            others = [part for part in parts if part is not proposer]
            memory = CatalogueIndex(CombinedCatalogue(*others)) if others else None
            self._parts = self._parts or (proposer, memory)  # a concurrent call may be faster
        return self._parts

    async def _find_in_memory(self, query: str, limit: int, offset: int, *notes: str) -> Findings:
        results = (await self._memory.get()).find(query, limit, offset)
        source = "chain" if notes else ""
        is_complete = self._memory.is_complete
        return Findings(results.fqns, results.total, is_complete, source, notes=notes)


def _findings(
    proposal: Proposal, fqns: Sequence[ToolFqn], total: int, *, is_complete: bool = True
) -> Findings:
    return Findings(fqns, total, is_complete, proposal.source, proposal.reasons, proposal.notes)
