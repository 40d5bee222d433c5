"""Finding tools: by name, or by the registry's table of FQNs with parallel reads."""

from collections.abc import Iterable
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, ToolState, fqn_field_id, name_id, tool_id
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry, ToolSettings
from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import ASCII_STRING, Primitive, field_tag
from nexus_tools.tool import FqnPatterns, ToolFqn

_ENTRY = field_tag(Primitive.U64, ASCII_STRING)


Fqn = ToolFqn | str
"""A tool by its name: parsed, or as it is written."""

_HOW_TO_FIND = "check the spelling and the version: `nexus-tools tool list` shows what there is"
_LOOKED_AT = 1_000  # names that are read for a suggestion, 50 with each request
_ALIKE = 0.9  # FQNs of one domain are alike for the most part, whatever they name

ANY = FqnPatterns()


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Which tools to list; what is None or empty lets every tool pass.

    `owner` owns the name; one of `domains` is the FQN's domain or the first labels
    of it; `search` is part of the FQN or the description, in whatever case; `patterns` fit the FQN.
    """

    owner: Address | None = None
    domains: tuple[str, ...] = ()
    state: ToolState | None = None
    search: str | None = None
    patterns: FqnPatterns = ANY

    def admits_name(self, fqn: ToolFqn) -> bool:
        """Whether a tool may pass, as far as its name tells."""
        beginnings = tuple(f"{domain}." for domain in self.domains)
        is_there = not beginnings or f"{fqn.domain}.".startswith(beginnings)
        return is_there and self.patterns.admit(fqn)

    def admits(self, tool: Tool) -> bool:
        """Whether a tool passes, its owner left aside."""
        is_in_state = self.state is None or tool.state is self.state
        return is_in_state and self.admits_text(tool.fqn, tool.definition.description)

    def admits_text(self, fqn: str, description: str) -> bool:
        """Whether one with this FQN and description may pass, a tool or a workflow."""
        return self.search is None or self.search.lower() in f"{fqn}\n{description}".lower()


ALL = ToolFilter()


@dataclass(frozen=True, slots=True)
class ToolPage:
    """Some of the tools that pass; `next` is where the next page begins, None after the last."""

    tools: tuple[Tool, ...]
    next: int | None


@checks_arguments
class ToolListing(PackageClient):
    """The registry's tools and names, as they are read."""

    async def state(self) -> ToolRegistry:
        """The registry itself: version, settings, number of tools."""
        return await self.read(self.deployment.tool_registry, ToolRegistry)

    async def settings(self) -> ToolSettings:
        """What a new registration has to keep to."""
        return (await self.state()).settings

    async def find(self, fqn: Fqn) -> Tool | None:
        """The tool with this FQN, or None, with one request. Raises `fqn_invalid`."""
        return self.decoded(await self.client.object(self._id(parse_fqn(fqn))), Tool)

    def _id(self, fqn: ToolFqn) -> Address:
        return tool_id(self.deployment.tool_registry, fqn)

    def _name_id(self, name: str) -> Address:
        return name_id(self.deployment.tool_registry, name)

    async def get(self, fqn: Fqn) -> Tool:
        """The tool with this FQN, with one request. Raises `tool_unknown`."""
        return await self._registered(await self.find(fqn), fqn)

    async def name(self, name: str) -> Name:
        """The unversioned name `domain.name`. Raises `name_unknown`."""
        found = self.decoded(await self.client.object(self._name_id(name)), Name)
        if found is None:
            raise NotFoundError(
                "name_unknown",
                f"no version of {name} is registered on {self.client.network.name}",
                hint="a name is what stands before the @ of an FQN: `nexus-tools tool list`",
            )
        return found

    async def owner(self, tool: Tool) -> Address:
        """The address that owns a tool's name."""
        return (await self.read(tool.name, Name)).owner.owner

    async def _registered(self, tool: Tool | None, fqn: Fqn) -> Tool:
        if tool is None:
            raise NotFoundError(
                "tool_unknown",
                f"{fqn} is not registered on {self.client.network.name}",
                hint=suggestion(
                    str(fqn), await self._newest_names(), otherwise=_HOW_TO_FIND, cutoff=_ALIKE
                ),
            )
        return tool

    async def _newest_names(self) -> list[str]:
        """The FQNs among which a misspelt one is looked for; none if they cannot be read."""
        try:
            state = await self.state()
            size = state.fqns.size
            return [str(fqn) for fqn in await self.fqns(state, max(0, size - _LOOKED_AT), size)]
        except NexusError:
            return []

    async def list(self, tool_filter: ToolFilter = ALL) -> tuple[Tool, ...]:
        """All tools that pass, in the order of their registration, read in parallel."""
        state = await self.state()
        return (await self._page(state, tool_filter, 0, max(1, state.fqns.size))).tools

    async def page(
        self, tool_filter: ToolFilter = ALL, *, start: int = 0, size: int = 100
    ) -> ToolPage:
        """At most `size` tools that pass, in the order of their registration.

        The first page begins at 0, each other one at the `next` of the one before.
        """
        return await self._page(await self.state(), tool_filter, start, size)

    async def fqns(self, state: ToolRegistry, start: int, stop: int) -> tuple[ToolFqn, ...]:
        """The FQNs from the `start`th registration on, up to the `stop`th."""
        indices = range(start, min(stop, state.fqns.size))
        fqns = []
        for value in await self.client.objects([fqn_field_id(state.fqns.id, i) for i in indices]):
            if value is None:
                raise NotFoundError(
                    "registry_incomplete",
                    "the node does not know an entry of the registry's list",
                    hint="it may lag behind: try again, or use another node",
                )
            fqns.append(ToolFqn.parse(self.deployment.decode_entry(value, _ENTRY)))
        return tuple(fqns)

    async def versions(self, name: str) -> tuple[Tool, ...]:
        """All versions of an unversioned name, in the order of their registration."""
        return await self.list(ToolFilter(patterns=FqnPatterns(only=(name,))))

    async def owners(self, names: Iterable[str]) -> dict[str, Address]:
        """The owner of each of these unversioned names that is registered."""
        ids = [name_id(self.deployment.tool_registry, name) for name in dict.fromkeys(names)]
        found = await self.find_all(ids, Name)
        return {name.name: name.owner.owner for name in found if name is not None}

    async def _page(
        self, state: ToolRegistry, tool_filter: ToolFilter, start: int, size: int
    ) -> ToolPage:
        found: list[tuple[int, Tool]] = []
        # A filter may let few pass: look at as many registrations as it takes to fill the page, and
        # one more, which tells whether there is a next page.
        while start < state.fqns.size and len(found) <= size:
            fqns = enumerate(await self.fqns(state, start, start + size), start)
            admitted = {index: fqn for index, fqn in fqns if tool_filter.admits_name(fqn)}
            if tool_filter.owner is not None:
                owners = await self.owners(fqn.unversioned for fqn in admitted.values())
                admitted = {
                    index: fqn
                    for index, fqn in admitted.items()
                    if owners.get(fqn.unversioned) == tool_filter.owner
                }
            wanted = {
                index: tool_id(self.deployment.tool_registry, fqn)
                for index, fqn in admitted.items()
            }
            tools = await self.find_all([*wanted.values()], Tool)
            for index, tool in zip(wanted, tools, strict=True):
                if tool is not None and tool_filter.admits(tool):
                    found.append((index, tool))
            start += size
        following = found[size:]
        return ToolPage(
            tuple(tool for _, tool in found[:size]), following[0][0] if following else None
        )


def parse_fqn(fqn: Fqn) -> ToolFqn:
    """The FQN as a value. Raises `fqn_invalid`."""
    return ToolFqn.parse(fqn) if isinstance(fqn, str) else fqn
