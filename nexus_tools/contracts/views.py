"""Base classes of generated Move structs, with properties that are computed from their fields."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from nexus_tools.errors import ValidationError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolDefinition, parse_json


class LeaderState(StrEnum):
    """The state of a leader. New invocations can name only an active leader."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    """The owner of the leader does not accept new invocations."""
    SUSPENDED = "suspended"
    UNREGISTERED = "unregistered"
    CLAIMED = "claimed"


class ToolState(StrEnum):
    """The state of a tool. Only an active tool accepts new invocations."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    UNREGISTERED = "unregistered"
    CLAIMED = "claimed"


_DAY_MS = 86_400_000
_NOTICE_MS = 3 * _DAY_MS  # collateral::NOTICE_MS
_EXECUTION_WINDOW_MS = _DAY_MS  # collateral::EXECUTION_WINDOW_MS


class SlashView:
    """The base class of `collateral::Slash`, a proposed slash. Times are in ms since 1970."""

    __slots__ = ()
    proposed_at_ms: int

    @property
    def executable_at_ms(self) -> int:
        """The time from which the slash can be executed."""
        return self.proposed_at_ms + _NOTICE_MS

    @property
    def expires_at_ms(self) -> int:
        """The time from which the slash can no longer be executed."""
        return self.executable_at_ms + _EXECUTION_WINDOW_MS


class CollateralView:
    """The base class of `collateral::Collateral`. Amounts are in MIST."""

    __slots__ = ()
    balance: int
    required_mist: int
    slashed_mist: int
    delay_ms: int
    unregistered_at_ms: int | None
    slash: Any

    @property
    def balance_mist(self) -> int:
        """The current balance."""
        return self.balance

    @property
    def shortfall_mist(self) -> int:
        """The slashed amount that is missing from the balance."""
        return self.required_mist - self.balance

    @property
    def slashable_mist(self) -> int:
        """The amount that can still be slashed before the owner restores the collateral."""
        return min(self.required_mist // 2 - self.slashed_mist, self.balance)

    @property
    def is_claimed(self) -> bool:
        """Whether the owner has claimed the whole collateral."""
        return self.required_mist == 0

    @property
    def is_sufficient(self) -> bool:
        """Whether the balance is the required amount. With less, a tool or leader is suspended."""
        return not self.is_claimed and self.shortfall_mist == 0

    def pending_slash(self, now_ms: int) -> Any:
        """Return the proposed `Slash`, or None if it was executed, cancelled, or has expired."""
        return self.slash if self.slash and now_ms < self.slash.expires_at_ms else None

    @property
    def claimable_at_ms(self) -> int | None:
        """The time from which the owner can claim the collateral.

        The time is None unless the tool or leader is unregistered.
        """
        return None if self.unregistered_at_ms is None else self.unregistered_at_ms + self.delay_ms


class DefinitionView:
    """The base class of `definition::Definition`."""

    __slots__ = ()
    fqn: str
    tool_type: str
    url: str
    description: str
    input_schema: bytes
    output_schema: bytes
    timeout_ms: int
    function: Any

    @property
    def gas_mist(self) -> int:
        """The gas payment for the caller of an on-chain tool's function, or 0 for other tools."""
        return self.function.gas_mist if self.function else 0

    def document(self) -> dict[str, Any]:
        """Return the JSON document of the definition without validation. Raises `json_invalid`."""
        function = {"function": _function(self.function)} if self.function else {}
        return {
            "fqn": self.fqn,
            "type": self.tool_type,
            "url": self.url,
            "description": self.description,
            "timeout": self.timeout_ms,
            "input_schema": parse_json(self.input_schema),
            "output_schema": parse_json(self.output_schema),
            **function,
        }

    def parse(self, *, check_schemas: bool = True) -> ToolDefinition:
        """Return the validated definition. Definitions on chain are untrusted.

        For `check_schemas` and the errors, see `ToolDefinition.parse`.
        """
        return ToolDefinition.parse(self.document(), check_schemas=check_schemas)


class ToolView:
    """The base class of `tool::Tool`."""

    __slots__ = ()
    definition: Any
    collateral: Any
    accepts_any_leader: bool
    leaders: Any
    price_mist: int

    @property
    def charge_mist(self) -> int:
        """The part of an invocation's cost that the tool determines: its price and its gas."""
        gas_mist: int = self.definition.gas_mist
        return self.price_mist + gas_mist

    @property
    def fqn(self) -> str:
        """The FQN of the tool."""
        fqn: str = self.definition.fqn
        return fqn

    @property
    def state(self) -> ToolState:
        """The state of the tool, which is computed from its collateral."""
        if self.collateral.is_claimed:
            return ToolState.CLAIMED
        if self.collateral.unregistered_at_ms is not None:
            return ToolState.UNREGISTERED
        return ToolState.ACTIVE if self.collateral.is_sufficient else ToolState.SUSPENDED

    @property
    def is_active(self) -> bool:
        """Whether the tool accepts new invocations."""
        return self.state is ToolState.ACTIVE

    @property
    def claimable_at_ms(self) -> int | None:
        """The time from which an unregistered tool's collateral is claimable, in ms since 1970."""
        at_ms: int | None = self.collateral.claimable_at_ms
        return at_ms

    def accepts(self, leader: Address) -> bool:
        """Return whether an invocation of the tool may name this leader."""
        return self.accepts_any_leader or leader in self.leaders.entries


class LeaderView:
    """The base class of `leader::Leader`."""

    __slots__ = ()
    accepting: bool
    collateral: Any

    @property
    def state(self) -> LeaderState:
        """The state of the leader, computed from its collateral and the owner's setting."""
        if self.collateral.is_claimed:
            return LeaderState.CLAIMED
        if self.collateral.unregistered_at_ms is not None:
            return LeaderState.UNREGISTERED
        if not self.collateral.is_sufficient:
            return LeaderState.SUSPENDED
        return LeaderState.ACTIVE if self.accepting else LeaderState.INACTIVE

    @property
    def is_active(self) -> bool:
        """Whether new invocations can name this leader."""
        return self.state is LeaderState.ACTIVE


class SettlementView:
    """The base class of `invocation::InvocationRequested`, with the terms of the settlement."""

    __slots__ = ()
    settlement: Any

    @property
    def signers(self) -> tuple[bytes, ...]:
        """The public keys, one of which must sign the answer, or empty without a signature."""
        keys: tuple[bytes, ...] = getattr(self.settlement, "keys", ())
        return keys

    @property
    def is_closable_by_anyone(self) -> bool:
        """Whether anyone may settle the invocation, by calling the tool's Move function."""
        closable_by_anyone: bool = getattr(self.settlement, "closable_by_anyone", False)
        return closable_by_anyone


class InvocationView(SettlementView):
    """The base class of `invocation::Invocation`. Times are in ms since 1970."""

    __slots__ = ()
    leaders: tuple[Address, ...]
    requested_at_ms: int
    window_ms: int
    payment: int
    state: Any

    @property
    def is_closed(self) -> bool:
        """Whether the invocation is settled, failed or expired. A closed state is final."""
        # The variant classes are in the generated module, so only their names are known here.
        return type(self.state).__name__ != "Requested"

    @property
    def payment_mist(self) -> int:
        """The prepayment in MIST, which is 0 after the closing has refunded the unused part."""
        return self.payment

    @property
    def expires_at_ms(self) -> int:
        """The expiry of the invocation: the end of the last leader's time window."""
        return self.requested_at_ms + len(self.leaders) * self.window_ms

    def is_expired_at(self, now_ms: int) -> bool:
        """Return whether the invocation has expired, even if its on-chain state is still open."""
        if self.is_closed:
            return type(self.state).__name__ == "Expired"
        return now_ms >= self.expires_at_ms


class ScheduleState(StrEnum):
    """The state of a schedule. Only an active schedule starts executions."""

    ACTIVE = "active"
    PAUSED = "paused"
    """The owner paused the schedule, or the schedule paused because executions failed."""
    FINISHED = "finished"
    """No more executions are planned."""
    CANCELLED = "cancelled"


class ScheduleView:
    """The base class of `schedule::Schedule`. Amounts are in MIST."""

    __slots__ = ()
    funds: int
    next_at_ms: int | None
    is_paused: bool
    is_cancelled: bool

    @property
    def funds_mist(self) -> int:
        """The remaining funds."""
        return self.funds

    @property
    def state(self) -> ScheduleState:
        """The state, which decides whether the schedule starts executions."""
        if self.is_cancelled:
            return ScheduleState.CANCELLED
        if self.next_at_ms is None:
            return ScheduleState.FINISHED
        return ScheduleState.PAUSED if self.is_paused else ScheduleState.ACTIVE


class RemoteReference(NamedTuple):
    """The location of a remote value: the name of a storage, and the key in that storage."""

    storage: str
    key: bytes

    def as_json(self) -> dict[str, str]:
        """Return the JSON object that represents the remote value in the output of commands."""
        return {"storage": self.storage, "key": self.key.decode(errors="replace")}


class PortsView:
    """The base class of `value::Ports`."""

    __slots__ = ()
    values: tuple[tuple[str, Any], ...]
    bcs: ClassVar[Any]

    def remote(self) -> Iterator[tuple[str, RemoteReference]]:
        """Yield the port and the location of each remote value, including elements of lists."""
        for name, value in self.values:
            for location in _places(value):
                yield name, location

    def as_json(self, fetched: Mapping[RemoteReference, Any] | None = None) -> dict[str, Any]:
        """Return the values by port name. `fetched` contains the remote values by location.

        Raises `json_invalid`, or `remote_value_unavailable` if `fetched` lacks a remote value.
        """
        return {name: _json(name, value, fetched or {}) for name, value in self.values}

    def with_locations(self) -> dict[str, Any]:
        """Return the result of `as_json`, with locations instead of remote values."""
        return self.as_json({location: location.as_json() for _, location in self.remote()})

    def size(self) -> int:
        """Return the size of the ports in bytes, which determines the leaders' fees."""
        return len(self.bcs.encode(self))


def _function(function: Any) -> dict[str, Any]:
    """Return the field `function` of a definition document. Move omits `0x` in type names."""
    return {
        "witness": f"0x{function.witness}",
        "type_arguments": list(function.type_arguments),
        "objects": [str(object_id) for object_id in function.objects],
        "gas": function.gas_mist,
        "closed_by": "anyone" if function.closable_by_anyone else "leaders",
    }


def _places(value: Any) -> tuple[RemoteReference, ...]:
    match type(value).__name__:
        case "Remote":
            return (RemoteReference(value.storage, value.key),)
        case "RemoteList":
            return tuple(RemoteReference(value.storage, key) for key in value.keys)
    return ()


def _json(name: str, value: Any, fetched: Mapping[RemoteReference, Any]) -> Any:
    match type(value).__name__:
        case "Inline":
            return parse_json(value.pos0)
        case "InlineChunks":
            return parse_json(b"".join(value.pos0))
        case "InlineList":
            return [parse_json(text) for part in value.pos0 for text in part]
    try:
        values = [fetched[location] for location in _places(value)]
    except KeyError:
        raise ValidationError(
            "remote_value_unavailable",
            f"the value of port {name} is in the storage {value.storage}, not on chain",
            hint="Fetch it from that storage.",
        ) from None
    return values if type(value).__name__ == "RemoteList" else values[0]


BASES = {
    name: f"{__name__}:{base.__name__}"
    for name, base in {
        "collateral::Collateral": CollateralView,
        "collateral::Slash": SlashView,
        "definition::Definition": DefinitionView,
        "tool::Tool": ToolView,
        "leader::Leader": LeaderView,
        "invocation::Invocation": InvocationView,
        "invocation::InvocationRequested": SettlementView,
        "workflows::schedule::Schedule": ScheduleView,
        "value::Ports": PortsView,
    }.items()
}
"""The base classes of structs, in the form that the generator of the bindings expects."""
