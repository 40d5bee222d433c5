"""Lookup of tools by name, and lists of tools read in parallel through the registry's FQN table."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.contracts import PackageClient, ToolState, fqn_field_id, name_id, tool_id
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry, ToolSettings
from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.registry.pages import PAGE_SIZE
from nexus_tools.registry.tools.owned_tools import find_owned, find_versions
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import ASCII_STRING, Primitive, field_tag
from nexus_tools.tool import FqnPatterns, ToolFqn

_ENTRY = field_tag(Primitive.U64, ASCII_STRING)


Fqn = ToolFqn | str
"""The FQN of a tool, parsed or as text."""

_FIND_HINT = "Check the spelling and the version, or run `nexus-tools tool list` to see all tools."
_MAX_CANDIDATES = 1_000  # Names that are read for a suggestion, 50 per request.
MAX_SCANNED = 2_000
"""The number of registrations after which a page ends, even if it is not full."""

_BATCH = 200  # Registrations that are read at once for a page with a filter.
_PARALLEL = 1_000  # Registrations that are read at once if all are read.
_MIN_SIMILARITY = 0.9  # A high value, because FQNs of one domain are similar.

ANY = FqnPatterns()


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """A filter for tools. Fields that are None or empty match every tool.

    `owner` is the owner of the tool's name. `domains` are the domains of FQNs, or only the first
    labels. `search` is a case-insensitive text in the FQN or description. `patterns` match FQNs.
    """

    owner: Address | None = None
    domains: tuple[str, ...] = ()
    state: ToolState | None = None
    search: str | None = None
    patterns: FqnPatterns = ANY

    def admits_name(self, fqn: ToolFqn) -> bool:
        """Return whether the tool's FQN matches the domains and patterns."""
        prefixes = tuple(f"{domain}." for domain in self.domains)
        in_domains = not prefixes or f"{fqn.domain}.".startswith(prefixes)
        return in_domains and self.patterns.admit(fqn)

    def admits(self, tool: Tool) -> bool:
        """Return whether a tool matches `state` and `search`. This method ignores the owner."""
        is_in_state = self.state is None or tool.state is self.state
        return is_in_state and self.admits_text(tool.fqn, tool.definition.description)

    def admits_tool(self, tool: Tool) -> bool:
        """Return whether a tool matches all fields except the owner."""
        return self.admits_name(ToolFqn.parse(tool.fqn)) and self.admits(tool)

    def admits_text(self, fqn: str, description: str) -> bool:
        """Return whether the FQN or description of a tool or workflow contains the search text."""
        return self.search is None or self.search.lower() in f"{fqn}\n{description}".lower()


ALL = ToolFilter()


class ToolPage(Struct, frozen=True):
    """Matching tools.

    `next` is None on the last page. Otherwise, it is the position at which the next page starts.
    The page results from `scanned` of the `total` registrations. With a filter, a page may be short
    or empty and still have a next page, because a page scans at most `MAX_SCANNED` registrations.
    With an owner, `total` counts only the owner's tools. If `is_complete` is False, further tools
    of the owner may exist, which `iterate` finds.
    """

    items: tuple[Tool, ...]
    next: int | None
    scanned: int
    total: int
    is_complete: bool = True


class OwnedTools(Struct, frozen=True):
    """The tools of an owner, the newest registration first.

    If `is_complete` is False, the owner may have further tools.
    """

    tools: tuple[Tool, ...]
    is_complete: bool


@validate_arguments
class ToolListing(PackageClient):
    """Read access to the registry's tools and names."""

    async def state(self) -> ToolRegistry:
        """Return the registry object: version, settings and number of tools."""
        return await self.read(self.deployment.tool_registry, ToolRegistry)

    async def settings(self) -> ToolSettings:
        """Return the settings for new registrations."""
        return (await self.state()).settings

    async def find(self, fqn: Fqn) -> Tool | None:
        """Return the tool with this FQN, or None. Sends one request. Raises `fqn_invalid`."""
        return self.decode(await self.client.object(self._id(parse_fqn(fqn))), Tool)

    def _id(self, fqn: ToolFqn) -> Address:
        return tool_id(self.deployment.tool_registry, fqn)

    def _name_id(self, name: str) -> Address:
        return name_id(self.deployment.tool_registry, name)

    async def get(self, fqn: Fqn) -> Tool:
        """Return the tool with this FQN. Sends one request. Raises `tool_unknown`."""
        return await self._require_registered(await self.find(fqn), fqn)

    async def name(self, name: str) -> Name:
        """Return the unversioned name `domain.name`. Raises `name_unknown`."""
        current = self.decode(await self.client.object(self._name_id(name)), Name)
        if current is None:
            raise NotFoundError(
                "name_unknown",
                f"no version of {name} is registered on {self.client.network.name}",
                hint="Pass the part of an FQN before the @."
                " Run `nexus-tools tool list` to see all tools.",
            )
        return current

    async def owner(self, tool: Tool) -> Address:
        """Return the address that owns a tool's name."""
        return (await self.read(tool.name, Name)).owner.owner

    async def _require_registered(self, tool: Tool | None, fqn: Fqn) -> Tool:
        if tool is None:
            raise NotFoundError(
                "tool_unknown",
                f"{fqn} is not registered on {self.client.network.name}",
                hint=suggestion(
                    str(fqn),
                    await self._newest_names(),
                    otherwise=_FIND_HINT,
                    cutoff=_MIN_SIMILARITY,
                ),
            )
        return tool

    async def _newest_names(self) -> list[str]:
        """Return the newest FQNs as candidates for a suggestion, or an empty list on an error."""
        try:
            state = await self.state()
            size = state.fqns.size
            return [
                str(fqn) for fqn in await self.fqns(state, max(0, size - _MAX_CANDIDATES), size)
            ]
        except NexusError:
            return []

    async def list(
        self, tool_filter: ToolFilter = ALL, *, limit: int = PAGE_SIZE, before: int | None = None
    ) -> ToolPage:
        """Return at most `limit` matching tools, the newest registration first.

        To read the next page, pass the field `next` of a page as `before`.
        """
        if tool_filter.owner is not None:
            return await self._owned_page(tool_filter, tool_filter.owner, limit, before)
        state = await self.state()
        end = state.fqns.size if before is None else min(before, state.fqns.size)
        page = await self._page(state, tool_filter, range(end - 1, -1, -1), limit)
        return replace(page, next=None if page.next is None else page.next + 1)

    async def page(
        self, tool_filter: ToolFilter = ALL, *, start: int = 0, size: int = PAGE_SIZE
    ) -> ToolPage:
        """Return at most `size` matching tools, in the order of their registration.

        `start` is 0 for the first page, and the field `next` of the previous page for later pages.
        """
        state = await self.state()
        return await self._page(state, tool_filter, range(start, state.fqns.size), size)

    async def iterate(self, tool_filter: ToolFilter = ALL) -> AsyncGenerator[Tool]:
        """Yield all matching tools in the order of their registration.

        The duration depends on the number of registrations. With an owner whose events are
        complete, it depends only on the number of the owner's tools.
        """
        if tool_filter.owner is not None:
            owned = await self._owned_by_events(tool_filter.owner)
            if owned.is_complete:
                for tool in filter(tool_filter.admits_tool, reversed(owned.tools)):
                    yield tool
                return
        state = await self.state()
        for start in range(0, state.fqns.size, _PARALLEL):
            indices = range(start, min(start + _PARALLEL, state.fqns.size))
            for _, tool in await self._matches(state, tool_filter, indices):
                yield tool

    async def owned_by(self, owner: Address) -> OwnedTools:
        """Return the tools whose names an address owns, the newest registration first.

        The tools are found in the newest events of the owner. If these events are not complete, the
        newest `MAX_SCANNED` registrations of all owners are also read.
        """
        owned = await self._owned_by_events(owner)
        if owned.is_complete:
            return owned
        state = await self.state()
        indices = range(max(0, state.fqns.size - MAX_SCANNED), state.fqns.size)
        scanned = await self._matches(state, ToolFilter(owner=owner), indices)
        tools = {tool.index: tool for tool in (*owned.tools, *(tool for _, tool in scanned))}
        newest = tuple(tools[index] for index in sorted(tools, reverse=True))
        return OwnedTools(newest, is_complete=indices.start == 0)

    async def fqns(self, state: ToolRegistry, start: int, stop: int) -> tuple[ToolFqn, ...]:
        """Return the FQNs of the registrations with the indices `start` to `stop - 1`."""
        indices = range(start, min(stop, state.fqns.size))
        fqns = []
        for value in await self.client.objects([fqn_field_id(state.fqns.id, i) for i in indices]):
            if value is None:
                raise NotFoundError(
                    "registry_incomplete",
                    "the node does not have an entry of the registry's list of FQNs",
                    hint="The node may lag behind. Try again, or use another node.",
                )
            fqns.append(ToolFqn.parse(self.deployment.decode_entry(value, _ENTRY)))
        return tuple(fqns)

    async def versions(self, name: str) -> tuple[Tool, ...]:
        """Return all versions of an unversioned name, in the order of their registration.

        The versions are found in the events of the name's present and earlier owners. If these
        events are not complete, all registrations are read.
        """
        current = self.decode(await self.client.object(self._name_id(name)), Name)
        if current is None:
            return ()
        found = await find_versions(self, current.owner.owner, current.id)
        if found.is_complete:
            return tuple(await self._existing(found.fqns))
        of_name = ToolFilter(patterns=FqnPatterns(only=(name,)))
        return tuple([tool async for tool in self.iterate(of_name)])

    async def owners(self, names: Iterable[str]) -> dict[str, Address]:
        """Return the owners of the registered names among these unversioned names."""
        ids = [name_id(self.deployment.tool_registry, name) for name in dict.fromkeys(names)]
        objects = await self.find_all(ids, Name)
        return {name.name: name.owner.owner for name in objects if name is not None}

    async def _existing(self, fqns: Iterable[ToolFqn]) -> Sequence[Tool]:
        """Return the tools with these FQNs, in the order of their registration."""
        tools = await self.find_all([self._id(fqn) for fqn in fqns], Tool)
        return sorted((tool for tool in tools if tool is not None), key=lambda tool: tool.index)

    async def _owned_by_events(self, owner: Address) -> OwnedTools:
        """Return the tools that an owner registered or accepted and still owns."""
        found = await find_owned(self, owner)
        owners = await self.owners(fqn.unversioned for fqn in found.fqns)
        owned = [fqn for fqn in found.fqns if owners.get(fqn.unversioned) == owner]
        tools = await self._existing(owned)
        return OwnedTools(tuple(reversed(tools)), found.is_complete)

    async def _owned_page(
        self, tool_filter: ToolFilter, owner: Address, limit: int, before: int | None
    ) -> ToolPage:
        owned = await self.owned_by(owner)
        older = [tool for tool in owned.tools if before is None or tool.index < before]
        matches = [tool for tool in older if tool_filter.admits_tool(tool)]
        items = tuple(matches[:limit])
        has_more = len(matches) > limit
        scanned = 1 + older.index(items[-1]) if has_more else len(older)
        following = items[-1].index if has_more else None
        return ToolPage(items, following, scanned, len(owned.tools), owned.is_complete)

    async def _page(
        self, state: ToolRegistry, tool_filter: ToolFilter, indices: range, limit: int
    ) -> ToolPage:
        """Return the matches with the first of these indices. `next` is the next index."""
        matches: list[tuple[int, Tool]] = []
        batch = limit if tool_filter == ALL else max(limit, _BATCH)
        end = min(len(indices), max(limit, MAX_SCANNED))
        scanned = 0
        # Few tools may match, so read registrations until the page is full.
        while scanned < end and len(matches) < limit:
            part = indices[scanned : min(scanned + batch, end)]
            matches += await self._matches(state, tool_filter, part)
            scanned += len(part)
        if len(matches) > limit:
            scanned = indices.index(matches[limit][0])
        return ToolPage(
            tuple(tool for _, tool in matches[:limit]),
            indices[scanned] if scanned < len(indices) else None,
            scanned,
            state.fqns.size,
        )

    async def _matches(
        self, state: ToolRegistry, tool_filter: ToolFilter, indices: range
    ) -> Sequence[tuple[int, Tool]]:
        """Return the matching registrations with these indices, in the order of the indices."""
        ascending = sorted(indices)
        if not ascending:
            return []
        fqns = await self.fqns(state, ascending[0], ascending[-1] + 1)
        admitted = [
            (index, fqn)
            for index, fqn in zip(ascending, fqns, strict=True)
            if tool_filter.admits_name(fqn)
        ]
        if tool_filter.owner is not None:
            owners = await self.owners(fqn.unversioned for _, fqn in admitted)
            admitted = [
                entry for entry in admitted if owners.get(entry[1].unversioned) == tool_filter.owner
            ]
        tools = await self.find_all([self._id(fqn) for _, fqn in admitted], Tool)
        matches = [
            (index, tool)
            for (index, _), tool in zip(admitted, tools, strict=True)
            if tool is not None and tool_filter.admits(tool)
        ]
        return matches if indices.step > 0 else matches[::-1]


def parse_fqn(fqn: Fqn) -> ToolFqn:
    """Return the parsed FQN. Raises `fqn_invalid`."""
    return ToolFqn.parse(fqn) if isinstance(fqn, str) else fqn
