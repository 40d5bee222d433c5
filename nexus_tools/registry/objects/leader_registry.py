"""`leader_registry`: the shared registry of leaders."""

from dataclasses import dataclass

from nexus_tools.registry.objects.bond import BOND, Bond
from nexus_tools.registry.objects.table import TABLE, Table, TableEntry, entry_codec
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import Codec, option, string, struct, u64, vector


@dataclass(frozen=True, slots=True)
class LeaderSettings:
    """What new leaders and new invocations have to keep to: `leader_registry::Settings`."""

    bond_mist: int
    unregister_delay_ms: int
    settle_fee_mist: int
    fail_fee_mist: int
    fee_per_input_byte_mist: int
    fee_per_outcome_byte_mist: int
    grace_ms: int
    max_ports_bytes: int


@dataclass(frozen=True, slots=True)
class Leader:
    """A registered leader."""

    name: str
    bond: Bond


@dataclass(frozen=True, slots=True)
class LeaderCap:
    """The identity of a leader, and the right to act under it."""

    id: Address


@dataclass(frozen=True, slots=True)
class LeaderRegistryObject:
    """The shared `leader_registry::LeaderRegistry`.

    `admitted` may register, or anyone if it is None; `active` become responsible for new
    invocations.
    """

    id: Address
    version: int
    settings: LeaderSettings
    admitted: tuple[Address, ...] | None
    leaders: Table
    active: tuple[Address, ...]


LEADER_SETTINGS: Codec[LeaderSettings] = struct(
    LeaderSettings, u64, u64, u64, u64, u64, u64, u64, u64
)
LEADER: Codec[Leader] = struct(Leader, string, BOND)
LEADER_CAP: Codec[LeaderCap] = struct(LeaderCap, ADDRESS)
LEADER_REGISTRY: Codec[LeaderRegistryObject] = struct(
    LeaderRegistryObject,
    ADDRESS,
    u64,
    LEADER_SETTINGS,
    option(vector(ADDRESS)),
    TABLE,
    vector(ADDRESS),
)
LEADER_ENTRY: Codec[TableEntry[Address, Leader]] = entry_codec(ADDRESS, LEADER)
