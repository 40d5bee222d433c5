"""`tool`: a tool as it stands in the registry, and the caps that rule it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nexus_tools.registry.objects.bond import BOND, Bond
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import (
    Codec,
    boolean,
    byte_vector,
    option,
    string,
    struct,
    u64,
    vector,
)
from nexus_tools.tool import ToolDefinition, parse_json


class ToolState(StrEnum):
    """What the bond of a tool says about it. Only an active tool takes new invocations."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    UNREGISTERED = "unregistered"
    CLAIMED = "claimed"


@dataclass(frozen=True, slots=True)
class Definition:
    """What the author declares. Schemas are JSON texts as they were registered."""

    fqn: str
    tool_type: str
    url: str
    description: str
    input_schema: bytes
    output_schema: bytes
    timeout_ms: int

    def document(self) -> dict[str, Any]:
        """The JSON document of the definition, unchecked. Raises `json_invalid`."""
        return {
            "fqn": self.fqn,
            "type": self.tool_type,
            "url": self.url,
            "description": self.description,
            "timeout": self.timeout_ms,
            "input_schema": parse_json(self.input_schema),
            "output_schema": parse_json(self.output_schema),
        }

    def parse(self) -> ToolDefinition:
        """The definition, with every rule checked: strangers write on chain what they like.

        Raises as `ToolDefinition.parse` does.
        """
        return ToolDefinition.parse(self.document())


@dataclass(frozen=True, slots=True)
class Tool:
    """A registered tool. `owner` is the `OwnerCap` of its name, `index` its place in the list."""

    id: Address
    definition: Definition
    price_mist: int
    payout: Address
    owner: Address
    operators: tuple[Address, ...]
    bond: Bond | None
    verified: bool
    index: int
    registered_at_ms: int

    @property
    def fqn(self) -> str:
        """The FQN."""
        return self.definition.fqn

    @property
    def state(self) -> ToolState:
        """The state, which follows from the bond."""
        if self.bond is None:
            return ToolState.CLAIMED
        if self.bond.released_at_ms is not None:
            return ToolState.UNREGISTERED
        return ToolState.ACTIVE if self.bond.is_whole else ToolState.SUSPENDED

    @property
    def is_active(self) -> bool:
        """Whether the tool takes new invocations."""
        return self.state is ToolState.ACTIVE

    @property
    def claimable_at_ms(self) -> int | None:
        """When the collateral of an unregistered tool can be claimed, in ms since 1970."""
        return None if self.bond is None else self.bond.reclaimable_at_ms


@dataclass(frozen=True, slots=True)
class OwnerCap:
    """The right to a name with all its versions."""

    id: Address
    name: str


@dataclass(frozen=True, slots=True)
class OperatorCap:
    """The right to run one tool day by day, while the tool lists it."""

    id: Address
    tool: Address


DEFINITION: Codec[Definition] = struct(
    Definition, string, string, string, string, byte_vector, byte_vector, u64
)
TOOL: Codec[Tool] = struct(
    Tool,
    ADDRESS,
    DEFINITION,
    u64,
    ADDRESS,
    ADDRESS,
    vector(ADDRESS),
    option(BOND),
    boolean,
    u64,
    u64,
)
OWNER_CAP: Codec[OwnerCap] = struct(OwnerCap, ADDRESS, string)
OPERATOR_CAP: Codec[OperatorCap] = struct(OperatorCap, ADDRESS, ADDRESS)
