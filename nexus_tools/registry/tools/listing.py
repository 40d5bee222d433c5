"""Lookup of tools by name, and lists of tools read in parallel through the registry's FQN table."""

from collections.abc import Iterable
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, ToolState, fqn_field_id, name_id, tool_id
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry, ToolSettings
from nexus_tools.errors import NexusError, NotFoundError
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

    def admits_text(self, fqn: str, description: str) -> bool:
        """Return whether the FQN or description of a tool or workflow contains the search text."""
        return self.search is None or self.search.lower() in f"{fqn}\n{description}".lower()


ALL = ToolFilter()


@dataclass(frozen=True, slots=True)
class ToolPage:
    """A page of matching tools. `next` is the start of the next page, or None on the last page."""

    tools: tuple[Tool, ...]
    next: int | None


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

    async def list(self, tool_filter: ToolFilter = ALL) -> tuple[Tool, ...]:
        """Return all matching tools in the order of their registration, read in parallel."""
        state = await self.state()
        return (await self._page(state, tool_filter, 0, max(1, state.fqns.size))).tools

    async def page(
        self, tool_filter: ToolFilter = ALL, *, start: int = 0, size: int = 100
    ) -> ToolPage:
        """Return at most `size` matching tools, in the order of their registration.

        `start` is 0 for the first page, and the field `next` of the previous page for later pages.
        """
        return await self._page(await self.state(), tool_filter, start, size)

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
        """Return all versions of an unversioned name, in the order of their registration."""
        return await self.list(ToolFilter(patterns=FqnPatterns(only=(name,))))

    async def owners(self, names: Iterable[str]) -> dict[str, Address]:
        """Return the owners of the registered names among these unversioned names."""
        ids = [name_id(self.deployment.tool_registry, name) for name in dict.fromkeys(names)]
        objects = await self.find_all(ids, Name)
        return {name.name: name.owner.owner for name in objects if name is not None}

    async def _page(
        self, state: ToolRegistry, tool_filter: ToolFilter, start: int, size: int
    ) -> ToolPage:
        matches: list[tuple[int, Tool]] = []
        # Few tools may match, so read registrations until the page is full. One more match shows
        # whether a next page exists.
        while start < state.fqns.size and len(matches) <= size:
            fqns = enumerate(await self.fqns(state, start, start + size), start)
            admitted = {index: fqn for index, fqn in fqns if tool_filter.admits_name(fqn)}
            if tool_filter.owner is not None:
                owners = await self.owners(fqn.unversioned for fqn in admitted.values())
                admitted = {
                    index: fqn
                    for index, fqn in admitted.items()
                    if owners.get(fqn.unversioned) == tool_filter.owner
                }
            ids = {
                index: tool_id(self.deployment.tool_registry, fqn)
                for index, fqn in admitted.items()
            }
            tools = await self.find_all([*ids.values()], Tool)
            for index, tool in zip(ids, tools, strict=True):
                if tool is not None and tool_filter.admits(tool):
                    matches.append((index, tool))
            start += size
        following = matches[size:]
        return ToolPage(
            tuple(tool for _, tool in matches[:size]), following[0][0] if following else None
        )


def parse_fqn(fqn: Fqn) -> ToolFqn:
    """Return the parsed FQN. Raises `fqn_invalid`."""
    return ToolFqn.parse(fqn) if isinstance(fqn, str) else fqn
