"""`invocation`: one requested call of one tool, and what became of it."""

from dataclasses import dataclass

from nexus_tools.registry.objects.value import PORTS, Ports
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import Codec, choice, string, struct, u64, vector


@dataclass(frozen=True, slots=True)
class Requested:
    """No leader has closed the invocation yet."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The tool answered: a variant with ports."""

    variant: str
    ports: Ports
    leader: Address
    settled_at_ms: int


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no outcome, for a reason; `detail` is for people."""

    reason: str
    detail: str
    leader: Address
    failed_at_ms: int


@dataclass(frozen=True, slots=True)
class Expired:
    """No leader closed the invocation in time."""


State = Requested | Settled | Failed | Expired


@dataclass(frozen=True, slots=True)
class Invocation:
    """A requested call. Amounts are in MIST, times in ms since 1970, `window_ms` in ms."""

    id: Address
    tool: Address
    fqn: str
    requester: Address
    inputs: Ports
    leaders: tuple[Address, ...]
    requested_at_ms: int
    timeout_ms: int
    window_ms: int
    price_mist: int
    payout: Address
    settle_fee_mist: int
    fail_fee_mist: int
    fee_per_outcome_byte_mist: int
    max_outcome_bytes: int
    funds_mist: int
    state: State

    @property
    def is_closed(self) -> bool:
        """Whether it is settled, failed or expired, and so never changes again."""
        return not isinstance(self.state, Requested)

    @property
    def expires_at_ms(self) -> int:
        """When the last window ends."""
        return self.requested_at_ms + len(self.leaders) * self.window_ms

    def window_of(self, leader: Address) -> tuple[int, int] | None:
        """From when (inclusive) until when (exclusive) a leader may close it; None if never."""
        if leader not in self.leaders:
            return None
        begin = self.requested_at_ms + self.leaders.index(leader) * self.window_ms
        return begin, self.expires_at_ms


STATE: Codec[State] = choice(
    "State",
    (Requested, struct(Requested)),
    (Settled, struct(Settled, string, PORTS, ADDRESS, u64)),
    (Failed, struct(Failed, string, string, ADDRESS, u64)),
    (Expired, struct(Expired)),
)
INVOCATION: Codec[Invocation] = struct(
    Invocation,
    ADDRESS,
    ADDRESS,
    string,
    ADDRESS,
    PORTS,
    vector(ADDRESS),
    u64,
    u64,
    u64,
    u64,
    ADDRESS,
    u64,
    u64,
    u64,
    u64,
    u64,
    STATE,
)
