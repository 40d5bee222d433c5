"""Which tools of the registry are on offer to MCP clients, read from the chain."""

from dataclasses import dataclass

from nexus_tools.errors import ValidationError
from nexus_tools.leader.chain import FoundTool
from nexus_tools.leader.interfaces import Interface, Interfaces
from nexus_tools.registry import ToolFilter, ToolRegistry, tool_id
from nexus_tools.registry.listing import owned_names, read_fqns
from nexus_tools.registry.objects import TOOL, ToolRegistryObject, decode
from nexus_tools.sui.object import Object
from nexus_tools.tool import ToolDefinition, ToolFqn, ToolType

_INTERFACES_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as it stands on chain, with its definition checked and its schemas compiled."""

    found: FoundTool
    interface: Interface

    @property
    def definition(self) -> ToolDefinition:
        """What it is."""
        return self.interface.definition

    @property
    def place(self) -> int:
        """Its place in the registry's list."""
        return self.found.tool.index


class Offers:
    """The tools that are active, reached by HTTP, well-defined, and let pass by the filter.

    `max_price_mist` is what an invocation of one may cost at most.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        tool_filter: ToolFilter,
        *,
        max_price_mist: int | None = None,
    ) -> None:
        self._registry = registry
        self._filter = tool_filter
        self._max_price_mist = max_price_mist
        self._interfaces = Interfaces(_INTERFACES_KEPT)
        self._type = registry.deployment.type("tool", "Tool")

    async def state(self) -> ToolRegistryObject:
        """The registry itself, with the list of names."""
        return await self._registry.state()

    async def owned(self) -> frozenset[str] | None:
        """The names that the filter's owner has; None if anybody's may pass."""
        if self._filter.owner is None:
            return None
        registry = self._registry
        return await owned_names(registry.client, registry.deployment, self._filter.owner)

    async def between(
        self, state: ToolRegistryObject, begin: int, end: int, owned: frozenset[str] | None
    ) -> list[Offer]:
        """What is on offer of the registrations from `begin` up to `end`, which is excluded."""
        fqns = await read_fqns(self._registry.client, state, begin, end)
        return await self._read([fqn for fqn in fqns if self._admits(fqn, owned)])

    async def find(self, fqn: ToolFqn) -> Offer | None:
        """The tool as it is now, or None if it is not on offer."""
        if not self._admits(fqn, await self.owned()):
            return None
        return next(iter(await self._read([fqn])), None)

    async def _read(self, fqns: list[ToolFqn]) -> list[Offer]:
        registry = self._registry.deployment.tool_registry
        values = await self._registry.client.objects([tool_id(registry, fqn) for fqn in fqns])
        offers = [self._offer(value) for value in values if value is not None]
        return [offer for offer in offers if offer is not None]

    def _admits(self, fqn: ToolFqn, owned: frozenset[str] | None) -> bool:
        return self._filter.admits_name(fqn) and (owned is None or fqn.unversioned in owned)

    def _offer(self, value: Object) -> Offer | None:
        found = FoundTool(decode(value, self._type, TOOL), value.version)
        tool = found.tool
        is_dear = self._max_price_mist is not None and tool.price_mist > self._max_price_mist
        if is_dear or not tool.is_active or not self._filter.admits(tool):
            return None
        try:
            offer = Offer(found, self._interfaces.of(found))
        except ValidationError:
            return None  # what strangers register need not be a definition
        return offer if offer.definition.type is ToolType.OFFCHAIN else None
