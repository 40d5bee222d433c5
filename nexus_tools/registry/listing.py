"""Listing tools: the registry's table of FQNs, then the tools, with parallel reads."""

from dataclasses import dataclass

from nexus_tools.errors import NotFoundError
from nexus_tools.package import PackageClient, ToolState, fqn_field_id, owner_cap_id, tool_id
from nexus_tools.package.move.tool import OwnerCap, Tool
from nexus_tools.package.move.tool_registry import ToolRegistry
from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import ASCII_STRING, Primitive, field_tag
from nexus_tools.tool import FqnPatterns, ToolFqn

_ENTRY = field_tag(Primitive.U64, ASCII_STRING)


ANY = FqnPatterns()


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Which tools to list; what is None or empty lets every tool pass.

    `owner` has the owner cap of the name; one of `domains` is the FQN's domain or the first labels
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
        text = f"{tool.fqn}\n{tool.definition.description}".lower()
        return (self.state is None or tool.state is self.state) and (
            self.search is None or self.search.lower() in text
        )


ALL = ToolFilter()


@dataclass(frozen=True, slots=True)
class ToolPage:
    """Some of the tools that pass; `next` is where the next page begins, None after the last."""

    tools: tuple[Tool, ...]
    next: int | None


class ToolListing(PackageClient):
    """The registry's list of tools."""

    async def state(self) -> ToolRegistry:
        """The registry itself: version, settings, number of tools."""
        return await self.read(self.deployment.tool_registry, ToolRegistry)

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

    async def owned_names(self, owner: Address) -> frozenset[str]:
        """The unversioned names that an address owns."""
        caps, registry = await self.owned(owner, OwnerCap), self.deployment.tool_registry
        return frozenset(cap.name for cap in caps if cap.id == owner_cap_id(registry, cap.name))

    async def _page(
        self, state: ToolRegistry, tool_filter: ToolFilter, start: int, size: int
    ) -> ToolPage:
        owner = tool_filter.owner
        names = None if owner is None else await self.owned_names(owner)
        found: list[tuple[int, Tool]] = []
        # A filter may let few pass: look at as many registrations as it takes to fill the page, and
        # one more, which tells whether there is a next page.
        while start < state.fqns.size and len(found) <= size:
            fqns = await self.fqns(state, start, start + size)
            wanted = {
                index: tool_id(self.deployment.tool_registry, fqn)
                for index, fqn in enumerate(fqns, start)
                if tool_filter.admits_name(fqn) and (names is None or fqn.unversioned in names)
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
