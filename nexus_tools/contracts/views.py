"""What follows from the fields of the package's objects: bases of their generated classes."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from nexus_tools.errors import ValidationError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolDefinition, parse_json


class LeaderState(StrEnum):
    """Whether a leader can be named in new invocations, and why not."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    """Its owner wants no new invocations."""
    SUSPENDED = "suspended"
    UNREGISTERED = "unregistered"
    CLAIMED = "claimed"


class ToolState(StrEnum):
    """What the collateral of a tool says about it. Only an active tool takes new invocations."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    UNREGISTERED = "unregistered"
    CLAIMED = "claimed"


_DAY_MS = 86_400_000
_NOTICE_MS = 3 * _DAY_MS  # collateral::NOTICE_MS
_EXECUTABLE_MS = _DAY_MS  # collateral::EXECUTABLE_MS


class SlashView:
    """Of `collateral::Slash`, a proposal. Times are in ms since 1970."""

    __slots__ = ()
    proposed_at_ms: int

    @property
    def due_at_ms(self) -> int:
        """From when on it can be executed."""
        return self.proposed_at_ms + _NOTICE_MS

    @property
    def void_at_ms(self) -> int:
        """From when on it can be executed no longer."""
        return self.due_at_ms + _EXECUTABLE_MS


class CollateralView:
    """Of `collateral::Collateral`. Amounts are in MIST."""

    __slots__ = ()
    balance: int
    required_mist: int
    slashed_mist: int
    delay_ms: int
    unregistered_at_ms: int | None
    slash: Any

    @property
    def balance_mist(self) -> int:
        """What is there."""
        return self.balance

    @property
    def shortfall_mist(self) -> int:
        """What was slashed of it."""
        return self.required_mist - self.balance

    @property
    def slashable_mist(self) -> int:
        """What may still be slashed until it is locked anew or topped up."""
        return min(self.required_mist // 2 - self.slashed_mist, self.balance)

    @property
    def is_claimed(self) -> bool:
        """Whether all of it was claimed."""
        return self.required_mist == 0

    @property
    def is_whole(self) -> bool:
        """Whether everything that is required is there; if not, its owner is suspended."""
        return not self.is_claimed and self.shortfall_mist == 0

    def pending_slash(self, now_ms: int) -> Any:
        """The `Slash` that is proposed, and neither executed nor cancelled nor void; else None."""
        return self.slash if self.slash and now_ms < self.slash.void_at_ms else None

    @property
    def claimable_at_ms(self) -> int | None:
        """When it can be claimed; None if its owner is not unregistered."""
        return None if self.unregistered_at_ms is None else self.unregistered_at_ms + self.delay_ms


class DefinitionView:
    """Of `definition::Definition`."""

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
        """What whoever calls its function gets for the gas; 0 for a tool that has none."""
        return self.function.gas_mist if self.function else 0

    def document(self) -> dict[str, Any]:
        """The JSON document of the definition, unchecked. Raises `json_invalid`."""
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

    def parse(self) -> ToolDefinition:
        """The definition, with every rule checked: strangers write on chain what they like.

        Raises as `ToolDefinition.parse` does.
        """
        return ToolDefinition.parse(self.document())


class ToolView:
    """Of `tool::Tool`."""

    __slots__ = ()
    definition: Any
    collateral: Any
    open: bool
    leaders: Any
    price_mist: int

    @property
    def charge_mist(self) -> int:
        """What an invocation costs beyond the leader's fees: price, and gas of an on-chain tool."""
        gas_mist: int = self.definition.gas_mist
        return self.price_mist + gas_mist

    @property
    def fqn(self) -> str:
        """The FQN."""
        fqn: str = self.definition.fqn
        return fqn

    @property
    def state(self) -> ToolState:
        """The state, which follows from the collateral."""
        if self.collateral.is_claimed:
            return ToolState.CLAIMED
        if self.collateral.unregistered_at_ms is not None:
            return ToolState.UNREGISTERED
        return ToolState.ACTIVE if self.collateral.is_whole else ToolState.SUSPENDED

    @property
    def is_active(self) -> bool:
        """Whether the tool takes new invocations."""
        return self.state is ToolState.ACTIVE

    @property
    def claimable_at_ms(self) -> int | None:
        """When the collateral of an unregistered tool can be claimed, in ms since 1970."""
        at_ms: int | None = self.collateral.claimable_at_ms
        return at_ms

    def accepts(self, leader: Address) -> bool:
        """Whether a leader may be named in an invocation."""
        return self.open or leader in self.leaders.entries


class LeaderView:
    """Of `leader::Leader`."""

    __slots__ = ()
    accepting: bool
    collateral: Any

    @property
    def state(self) -> LeaderState:
        """What follows from its collateral and from what its owner wants."""
        if self.collateral.is_claimed:
            return LeaderState.CLAIMED
        if self.collateral.unregistered_at_ms is not None:
            return LeaderState.UNREGISTERED
        if not self.collateral.is_whole:
            return LeaderState.SUSPENDED
        return LeaderState.ACTIVE if self.accepting else LeaderState.INACTIVE

    @property
    def is_active(self) -> bool:
        """Whether new invocations can name it."""
        return self.state is LeaderState.ACTIVE


class SettlingView:
    """Of `invocation::InvocationRequested`: how the invocation is settled."""

    __slots__ = ()
    settling: Any

    @property
    def signers(self) -> tuple[bytes, ...]:
        """The keys of the tool of which one has to sign the answer; with none, nobody has to."""
        keys: tuple[bytes, ...] = getattr(self.settling, "keys", ())
        return keys

    @property
    def is_for_anyone(self) -> bool:
        """Whether anyone may settle it, by a call of the tool's function."""
        for_anyone: bool = getattr(self.settling, "for_anyone", False)
        return for_anyone


class InvocationView(SettlingView):
    """Of `invocation::Invocation`. Times are in ms since 1970."""

    __slots__ = ()
    leaders: tuple[Address, ...]
    requested_at_ms: int
    window_ms: int
    payment: int
    state: Any

    @property
    def is_closed(self) -> bool:
        """Whether it is settled, failed or expired, and so never changes again."""
        # The class of the variant is defined where this one is inherited: here it has but a name.
        return type(self.state).__name__ != "Requested"

    @property
    def payment_mist(self) -> int:
        """What is prepaid; 0 once it is closed, when what was not spent has gone back."""
        return self.payment

    @property
    def expires_at_ms(self) -> int:
        """When the last window ends."""
        return self.requested_at_ms + len(self.leaders) * self.window_ms

    def is_expired_at(self, now_ms: int) -> bool:
        """Whether no leader has closed it in time, though nobody may have said so on chain yet."""
        if self.is_closed:
            return type(self.state).__name__ == "Expired"
        return now_ms >= self.expires_at_ms


class ScheduleState(StrEnum):
    """Whether a schedule begins executions, and why not."""

    ACTIVE = "active"
    PAUSED = "paused"
    """By its owner, or since executions failed."""
    FINISHED = "finished"
    """Nothing more is planned."""
    CANCELLED = "cancelled"


class ScheduleView:
    """Of `schedule::Schedule`. Amounts are in MIST."""

    __slots__ = ()
    funds: int
    next_at_ms: int | None
    is_paused: bool
    is_cancelled: bool

    @property
    def funds_mist(self) -> int:
        """What is left of its funds."""
        return self.funds

    @property
    def state(self) -> ScheduleState:
        """Whether it begins executions."""
        if self.is_cancelled:
            return ScheduleState.CANCELLED
        if self.next_at_ms is None:
            return ScheduleState.FINISHED
        return ScheduleState.PAUSED if self.is_paused else ScheduleState.ACTIVE


class RemotePlace(NamedTuple):
    """Where a value is that is outside the chain."""

    storage: str
    key: bytes

    def as_json(self) -> dict[str, str]:
        """As it is shown in the place of the value."""
        return {"storage": self.storage, "key": self.key.decode(errors="replace")}


class PortsView:
    """Of `value::Ports`."""

    __slots__ = ()
    values: tuple[tuple[str, Any], ...]
    bcs: ClassVar[Any]

    def remote(self) -> Iterator[tuple[str, RemotePlace]]:
        """The port and the place of each value, or element of a list, that is outside the chain."""
        for name, value in self.values:
            for place in _places(value):
                yield name, place

    def as_json(self, fetched: Mapping[RemotePlace, Any] | None = None) -> dict[str, Any]:
        """The values by port name, with those that were `fetched`.

        Raises `json_invalid`, or `value_remote` for what is outside the chain and was not fetched.
        """
        return {name: _json(name, value, fetched or {}) for name, value in self.values}

    def with_places(self) -> dict[str, Any]:
        """As `as_json`, with the places of values that are outside the chain."""
        return self.as_json({place: place.as_json() for _, place in self.remote()})

    def size(self) -> int:
        """The bytes that the ports take in an object, by which leaders are paid."""
        return len(self.bcs.encode(self))


def _function(function: Any) -> dict[str, Any]:
    """The `function` of a definition document. Move writes types without `0x`."""
    return {
        "witness": f"0x{function.witness}",
        "type_arguments": list(function.type_arguments),
        "objects": [str(each) for each in function.objects],
        "gas": function.gas_mist,
        "closed_by": "anyone" if function.for_anyone else "leaders",
    }


def _places(value: Any) -> tuple[RemotePlace, ...]:
    match type(value).__name__:
        case "Remote":
            return (RemotePlace(value.storage, value.key),)
        case "RemoteList":
            return tuple(RemotePlace(value.storage, key) for key in value.keys)
    return ()


def _json(name: str, value: Any, fetched: Mapping[RemotePlace, Any]) -> Any:
    match type(value).__name__:
        case "Inline":
            return parse_json(value.pos0)
        case "InlineChunks":
            return parse_json(b"".join(value.pos0))
        case "InlineList":
            return [parse_json(text) for part in value.pos0 for text in part]
    try:
        found = [fetched[place] for place in _places(value)]
    except KeyError:
        raise ValidationError(
            "value_remote",
            f"the port {name} is kept in the storage {value.storage}, not on chain",
            hint="fetch it from there",
        ) from None
    return found if type(value).__name__ == "RemoteList" else found[0]


BASES = {
    name: f"{__name__}:{base.__name__}"
    for name, base in {
        "collateral::Collateral": CollateralView,
        "collateral::Slash": SlashView,
        "definition::Definition": DefinitionView,
        "tool::Tool": ToolView,
        "leader::Leader": LeaderView,
        "invocation::Invocation": InvocationView,
        "invocation::InvocationRequested": SettlingView,
        "workflows::schedule::Schedule": ScheduleView,
        "value::Ports": PortsView,
    }.items()
}
"""The base of each struct that has one, as `generate` takes them."""
