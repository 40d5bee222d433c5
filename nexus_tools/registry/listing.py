"""Listing tools: the registry's table of FQNs, then the tools, with parallel reads."""

from dataclasses import dataclass

from nexus_tools.client import SuiClient
from nexus_tools.errors import NotFoundError
from nexus_tools.package import Deployment, ToolState, fqn_field_id, owner_cap_id, tool_id
from nexus_tools.package.move.tool import OwnerCap, Tool
from nexus_tools.package.move.tool_registry import ToolRegistry
from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import string, u64
from nexus_tools.sui.type_tag import ASCII_STRING, Primitive, field_tag
from nexus_tools.tool import ToolFqn

_ENTRY = field_tag(Primitive.U64, ASCII_STRING)


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Which tools to list; what is None lets every tool pass.

    `owner` has the owner cap of the name; `domain` is the FQN's domain or the first labels of it;
    `search` is part of the FQN or the description, in whatever case.
    """

    owner: Address | None = None
    domain: str | None = None
    state: ToolState | None = None
    search: str | None = None

    def admits_name(self, fqn: ToolFqn) -> bool:
        """Whether a tool may pass, as far as its name tells."""
        return self.domain is None or f"{fqn.domain}.".startswith(f"{self.domain}.")

    def admits(self, tool: Tool) -> bool:
        """Whether a tool passes, its owner left aside."""
        text = f"{tool.fqn}\n{tool.definition.description}".lower()
        return (self.state is None or tool.state is self.state) and (
            self.search is None or self.search.lower() in text
        )


async def read_fqns(
    client: SuiClient,
    deployment: Deployment,
    registry: ToolRegistry,
    start: int = 0,
    stop: int | None = None,
) -> tuple[ToolFqn, ...]:
    """The FQNs from the `start`th registration on, up to the `stop`th."""
    end = registry.fqns.size if stop is None else min(stop, registry.fqns.size)
    ids = [fqn_field_id(registry.fqns.id, index) for index in range(start, end)]
    fqns = []
    for value in await client.objects(ids):
        if value is None:
            raise NotFoundError(
                "registry_incomplete",
                "the node does not know an entry of the registry's list",
                hint="it may lag behind: try again, or use another node",
            )
        fqns.append(ToolFqn.parse(deployment.decode_entry(value, u64, string, _ENTRY)))
    return tuple(fqns)


@dataclass(frozen=True, slots=True)
class ToolPage:
    """Some of the tools that pass; `next` is where the next page begins, None after the last."""

    tools: tuple[Tool, ...]
    next: int | None


async def read_page(
    client: SuiClient,
    deployment: Deployment,
    registry: ToolRegistry,
    tool_filter: ToolFilter,
    *,
    start: int,
    size: int,
) -> ToolPage:
    """At most `size` tools that pass, from the `start`th registration on, in that order."""
    names = None
    if tool_filter.owner is not None:
        names = await owned_names(client, deployment, tool_filter.owner)
    found: list[tuple[int, Tool]] = []
    end = registry.fqns.size
    # A filter may let few pass: look at as many registrations as it takes to fill the page, and
    # one more, which tells whether there is a next page.
    while start < end and len(found) <= size:
        fqns = await read_fqns(client, deployment, registry, start, start + size)
        wanted = {
            index: tool_id(deployment.tool_registry, fqn)
            for index, fqn in enumerate(fqns, start)
            if tool_filter.admits_name(fqn) and (names is None or fqn.unversioned in names)
        }
        for index, value in zip(wanted, await client.objects([*wanted.values()]), strict=True):
            if value is not None and tool_filter.admits(tool := deployment.decode(value, Tool)):
                found.append((index, tool))
        start += size
    following = found[size:]
    return ToolPage(tuple(tool for _, tool in found[:size]), following[0][0] if following else None)


async def owned_names(client: SuiClient, deployment: Deployment, owner: Address) -> frozenset[str]:
    """The unversioned names that an address owns."""
    owned = await client.owned_objects(owner, deployment.type_of(OwnerCap))
    caps = [deployment.decode(value, OwnerCap) for value in owned]
    registry = deployment.tool_registry
    return frozenset(cap.name for cap in caps if cap.id == owner_cap_id(registry, cap.name))
