"""`tool_registry`: the shared registry of tools."""

from dataclasses import dataclass

from nexus_tools.registry.objects.table import TABLE, Table, TableEntry, entry_codec
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import Codec, string, struct, u64


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What a new registration has to keep to: `tool_registry::Settings`."""

    collateral_mist: int
    unregister_delay_ms: int
    min_timeout_ms: int
    max_timeout_ms: int
    max_schema_bytes: int


@dataclass(frozen=True, slots=True)
class ToolRegistryObject:
    """The shared `tool_registry::ToolRegistry`; `fqns` maps the order of registration to FQNs."""

    id: Address
    version: int
    settings: ToolSettings
    fqns: Table


@dataclass(frozen=True, slots=True)
class AdminCap:
    """The right to change settings, to verify tools and to slash bonds."""

    id: Address


TOOL_SETTINGS: Codec[ToolSettings] = struct(ToolSettings, u64, u64, u64, u64, u64)
TOOL_REGISTRY: Codec[ToolRegistryObject] = struct(
    ToolRegistryObject, ADDRESS, u64, TOOL_SETTINGS, TABLE
)
ADMIN_CAP: Codec[AdminCap] = struct(AdminCap, ADDRESS)
FQN_ENTRY: Codec[TableEntry[int, str]] = entry_codec(u64, string)
