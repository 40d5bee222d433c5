"""The events of the Move package as values: one class for each struct of the module `events`.

Amounts are in MIST, times in ms since 1970.
"""

from dataclasses import dataclass, fields
from typing import Any, get_args

from nexus_tools.client import EventFilter
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import Codec, boolean, option, string, struct, u64, vector
from nexus_tools.sui.event import Event as ChainEvent

MODULE = "events"

# --- Tools


@dataclass(frozen=True, slots=True)
class ToolRegistered:
    """A tool was registered."""

    tool: Address
    fqn: str
    tool_type: str
    owner_cap: Address
    url: str
    description: str
    timeout_ms: int
    price_mist: int
    payout: Address
    collateral_mist: int
    unregister_delay_ms: int
    index: int
    registered_at_ms: int


@dataclass(frozen=True, slots=True)
class ToolUpdated:
    """Something of a tool was set: this is all of it that may change."""

    tool: Address
    fqn: str
    url: str
    description: str
    timeout_ms: int
    price_mist: int
    payout: Address
    verified: bool


@dataclass(frozen=True, slots=True)
class ToolUnregistered:
    """A tool was unregistered."""

    tool: Address
    fqn: str
    unregistered_at_ms: int
    claimable_at_ms: int


@dataclass(frozen=True, slots=True)
class UnregisterCancelled:
    """A tool's unregistration was taken back."""

    tool: Address
    fqn: str


@dataclass(frozen=True, slots=True)
class CollateralClaimed:
    """What was left of a tool's collateral was returned to the sender."""

    tool: Address
    fqn: str
    amount_mist: int


@dataclass(frozen=True, slots=True)
class ToolReRegistered:
    """A claimed tool came back."""

    tool: Address
    fqn: str
    collateral_mist: int
    unregister_delay_ms: int
    registered_at_ms: int


@dataclass(frozen=True, slots=True)
class ToolSlashed:
    """A tool was slashed, and is suspended unless it is unregistered."""

    tool: Address
    fqn: str
    amount_mist: int
    remaining_mist: int
    reason: str


@dataclass(frozen=True, slots=True)
class ToolToppedUp:
    """A slashed tool's collateral was made whole again."""

    tool: Address
    fqn: str
    amount_mist: int


@dataclass(frozen=True, slots=True)
class OperatorChanged:
    """An operator cap began or ceased to be valid for a tool."""

    tool: Address
    fqn: str
    operator_cap: Address
    valid: bool


@dataclass(frozen=True, slots=True)
class ToolSettingsChanged:
    """The settings for tools were set."""

    collateral_mist: int
    unregister_delay_ms: int
    min_timeout_ms: int
    max_timeout_ms: int
    max_schema_bytes: int


# --- Leaders


@dataclass(frozen=True, slots=True)
class LeaderRegistered:
    """A leader was registered."""

    leader: Address
    name: str
    bond_mist: int
    unregister_delay_ms: int


@dataclass(frozen=True, slots=True)
class LeaderActivityChanged:
    """A leader began or ceased to become responsible for new invocations."""

    leader: Address
    active: bool


@dataclass(frozen=True, slots=True)
class LeaderUnregistered:
    """A leader was unregistered."""

    leader: Address
    claimable_at_ms: int


@dataclass(frozen=True, slots=True)
class LeaderUnregisterCancelled:
    """A leader's unregistration was taken back."""

    leader: Address


@dataclass(frozen=True, slots=True)
class LeaderBondClaimed:
    """What was left of a leader's bond was returned to the sender."""

    leader: Address
    amount_mist: int


@dataclass(frozen=True, slots=True)
class LeaderSlashed:
    """A leader was slashed."""

    leader: Address
    amount_mist: int
    remaining_mist: int
    reason: str


@dataclass(frozen=True, slots=True)
class LeaderToppedUp:
    """A slashed leader's bond was made whole again."""

    leader: Address
    amount_mist: int


@dataclass(frozen=True, slots=True)
class LeaderAdmissionChanged:
    """The addresses that may register as leaders were set.

    None: anyone may.
    """

    admitted: tuple[Address, ...] | None


@dataclass(frozen=True, slots=True)
class LeaderSettingsChanged:
    """The settings for leaders and invocations were set."""

    bond_mist: int
    unregister_delay_ms: int
    settle_fee_mist: int
    fail_fee_mist: int
    fee_per_input_byte_mist: int
    fee_per_outcome_byte_mist: int
    grace_ms: int
    max_ports_bytes: int


# --- Invocations


@dataclass(frozen=True, slots=True)
class InvocationRequested:
    """A call was requested."""

    invocation: Address
    tool: Address
    fqn: str
    requester: Address
    leaders: tuple[Address, ...]
    requested_at_ms: int
    timeout_ms: int
    expires_at_ms: int
    price_mist: int
    funds_mist: int
    max_outcome_bytes: int


@dataclass(frozen=True, slots=True)
class InvocationSettled:
    """An invocation got its outcome."""

    invocation: Address
    tool: Address
    fqn: str
    requester: Address
    leader: Address
    variant: str
    settled_at_ms: int
    payout: Address
    price_mist: int
    fee_mist: int
    refund_mist: int


@dataclass(frozen=True, slots=True)
class InvocationFailed:
    """An invocation got no outcome, for a reason."""

    invocation: Address
    tool: Address
    fqn: str
    requester: Address
    leader: Address
    reason: str
    detail: str
    failed_at_ms: int
    fee_mist: int
    refund_mist: int


@dataclass(frozen=True, slots=True)
class InvocationExpired:
    """No leader closed an invocation in time."""

    invocation: Address
    tool: Address
    fqn: str
    requester: Address
    leaders: tuple[Address, ...]
    refund_mist: int


@dataclass(frozen=True, slots=True)
class InvocationDeleted:
    """A closed invocation was deleted, and what was not spent returned to its requester."""

    invocation: Address
    tool: Address
    fqn: str
    requester: Address
    refund_mist: int


# --- Upgrades


@dataclass(frozen=True, slots=True)
class Migrated:
    """A registry went over to a newer version of the package; older ones stopped working on it."""

    registry: Address
    version: int


# --- All

RegistryEvent = (
    ToolRegistered
    | ToolUpdated
    | ToolUnregistered
    | UnregisterCancelled
    | CollateralClaimed
    | ToolReRegistered
    | ToolSlashed
    | ToolToppedUp
    | OperatorChanged
    | ToolSettingsChanged
    | LeaderRegistered
    | LeaderActivityChanged
    | LeaderUnregistered
    | LeaderUnregisterCancelled
    | LeaderBondClaimed
    | LeaderSlashed
    | LeaderToppedUp
    | LeaderAdmissionChanged
    | LeaderSettingsChanged
    | InvocationRequested
    | InvocationSettled
    | InvocationFailed
    | InvocationExpired
    | InvocationDeleted
    | Migrated
)

_CODEC_OF: dict[Any, Codec[Any]] = {
    Address: ADDRESS,
    str: string,
    int: u64,
    bool: boolean,
    tuple[Address, ...]: vector(ADDRESS),
    tuple[Address, ...] | None: option(vector(ADDRESS)),
}
EVENTS: dict[str, Codec[Any]] = {
    kind.__name__: struct(kind, *(_CODEC_OF[field.type] for field in fields(kind)))
    for kind in get_args(RegistryEvent)
}
"""The codec of each event, by the name of its struct."""


def parse_event(deployment: Deployment, event: ChainEvent) -> RegistryEvent | None:
    """The event as a value; None if it is not one of this package, or of a newer version of it.

    Raises `BcsError` if the bytes do not fit the event's name.
    """
    if event.type.address != deployment.original_id or event.type.module != MODULE:
        return None
    codec = EVENTS.get(event.type.name)
    return None if codec is None else codec.decode(event.contents)


def event_filter(deployment: Deployment, *kinds: type[RegistryEvent]) -> EventFilter:
    """A filter for these kinds of events, or for all of the package."""
    return EventFilter(
        deployment.original_id, (MODULE,), tuple(sorted(kind.__name__ for kind in kinds))
    )
