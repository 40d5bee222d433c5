"""Listing tools: the registry's table of FQNs, then the tools, with parallel reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.client import SuiClient
from nexus_tools.errors import NotFoundError
from nexus_tools.registry.ids import fqn_field_id, owner_cap_id, tool_id
from nexus_tools.registry.objects import (
    FQN_ENTRY,
    OWNER_CAP,
    TOOL,
    Tool,
    ToolRegistryObject,
    ToolState,
    decode,
)
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.type_tag import ASCII_STRING, Primitive, StructTag
from nexus_tools.tool import ToolFqn

_ENTRY = StructTag(SUI_FRAMEWORK, "dynamic_field", "Field", (Primitive.U64, ASCII_STRING))


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
    client: SuiClient, registry: ToolRegistryObject, start: int = 0, stop: int | None = None
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
        fqns.append(ToolFqn.parse(decode(value, _ENTRY, FQN_ENTRY).value))
    return tuple(fqns)


async def read_tools(
    client: SuiClient,
    deployment: Deployment,
    registry: ToolRegistryObject,
    tool_filter: ToolFilter,
) -> tuple[Tool, ...]:
    """The tools that pass, in the order of their registration."""
    fqns: Sequence[ToolFqn] = await read_fqns(client, registry)
    if tool_filter.owner is not None:
        names = await owned_names(client, deployment, tool_filter.owner)
        fqns = [fqn for fqn in fqns if fqn.unversioned in names]
    fqns = [fqn for fqn in fqns if tool_filter.admits_name(fqn)]
    found = await client.objects([tool_id(deployment.tool_registry, fqn) for fqn in fqns])
    kind = deployment.type("tool", "Tool")
    tools = (decode(value, kind, TOOL) for value in found if value is not None)
    return tuple(tool for tool in tools if tool_filter.admits(tool))


async def owned_names(client: SuiClient, deployment: Deployment, owner: Address) -> frozenset[str]:
    """The unversioned names that an address owns."""
    kind = deployment.type("tool", "OwnerCap")
    caps = [decode(value, kind, OWNER_CAP) for value in await client.owned_objects(owner, kind)]
    registry = deployment.tool_registry
    return frozenset(cap.name for cap in caps if cap.id == owner_cap_id(registry, cap.name))
