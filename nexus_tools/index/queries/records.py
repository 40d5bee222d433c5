"""The results of queries.

An index proposes, and the chain decides: a result may be older than the chain. Read the object with
the result's ID on chain before you rely on it. Names, descriptions and URLs are untrusted texts.
Times are in ms since 1970, and amounts in MIST.
"""

from collections.abc import Mapping
from typing import Generic, TypeVar

from msgspec import Struct

from nexus_tools.contracts import LeaderState, ScheduleState, ToolState
from nexus_tools.sui.types.address import Address

T = TypeVar("T")


class IndexPage(Struct, Generic[T], frozen=True):
    """Items of an index at a checkpoint.

    `next` is None on the last page. Otherwise, it is the text to pass as `after` for the next page.
    With a filter, a page may be short or empty and still have a next page.
    """

    items: tuple[T, ...]
    next: str | None
    checkpoint: int


class SearchStatus(Struct, frozen=True):
    """The state of the search of an index.

    `engine` is the search engine of the text index, or None if no usable text index exists. `tools`
    is the number of tools in it, and `pending_changes` the number of changed tools that it does not
    contain yet. `vectors` is the number of tools with a vector of `vector_model`, the digest of the
    intent model, or None. `pending_vectors` is the maximum number of tools that need a new vector.
    """

    engine: str | None
    tools: int
    pending_changes: int
    vectors: int
    vector_model: str | None
    pending_vectors: int = 0


class IndexStatus(Struct, frozen=True):
    """The state of an index.

    The index contains all events from the checkpoint `complete_since` to `checkpoint`. The time of
    the newest request or closing is `newest_ms`, or 0 if there is none. A rebuild changes
    `generation`. `pending_definitions` is the number of tools whose definition has not been read.
    `unknown_events` is the number of events that this version of the program does not know.
    """

    chain_id: str
    package: Address
    checkpoint: int
    complete_since: int
    newest_ms: int
    last_change: int
    generation: str
    tools: int
    leaders: int
    workflows: int
    events: int
    pending_definitions: int
    unknown_events: int
    bytes: int
    search: SearchStatus


class Performance(Struct, frozen=True):
    """The closings of a tool or leader in a period, or for some requesters.

    `outcomes` has the number of closings by outcome: `settled`, a failure reason, `expired`, or
    `missed` for a leader that did not close in time. `volume_mist` is the sum of prices of a tool,
    or of fees of a leader. `p50_ms` and `p95_ms` are latencies from request to answer, at most 19 %
    off, or None without an answer. `requesters` is the number of accounts, or None if it was not
    counted. Anyone can create many accounts and invocations, so these numbers are weak evidence.
    """

    outcomes: Mapping[str, int]
    volume_mist: int
    p50_ms: int | None
    p95_ms: int | None
    requesters: int | None

    @property
    def closed(self) -> int:
        """The number of closings."""
        return sum(self.outcomes.values())

    @property
    def settled(self) -> int:
        """The number of closings with an answer."""
        return self.outcomes.get("settled", 0)


class IndexedTool(Struct, frozen=True):
    """A tool.

    `record` is its performance in the last 30 days for all requesters, and `mine` for the
    requesters of the query. `reputation` is the smoothed share of requesters whose last closing was
    not the tool's failure, from 0 to 1, and ½ for a new tool.
    """

    id: Address
    fqn: str
    tool_type: str
    owner: Address
    url: str
    description: str
    timeout_ms: int
    price_mist: int
    payout: Address
    accepts_any_leader: bool
    requires_signed_outcome: bool
    revision: int
    registration: int
    registered_at_ms: int
    state: ToolState
    definition_pending: bool
    reputation: float
    volume_mist: int
    last_seen_ms: int
    checkpoint: int
    record: Performance
    mine: Performance | None = None


class Windows(Struct, frozen=True):
    """The performance in the last 24 hours, 7 days and 30 days."""

    last_24_hours: Performance
    last_7_days: Performance
    last_30_days: Performance


class ToolDetail(Struct, frozen=True):
    """A tool with its accepted leaders, and its performance in several periods."""

    tool: IndexedTool
    leaders: tuple[Address, ...]
    windows: Windows


class IndexedLeader(Struct, frozen=True):
    """A leader. `record`, `mine` and `reputation` are as those of `IndexedTool`."""

    id: Address
    name: str
    owner: Address
    state: LeaderState
    registration: int
    registered_at_ms: int
    reputation: float
    volume_mist: int
    last_seen_ms: int
    checkpoint: int
    record: Performance
    mine: Performance | None = None


class LeaderDetail(Struct, frozen=True):
    """A leader with its performance in several periods."""

    leader: IndexedLeader
    windows: Windows


class IndexedInvocation(Struct, frozen=True):
    """An invocation. `outcome` and the fields after it are None or 0 while it is open.

    `fqn` is None if the registration of the tool is older than the index. `price_mist` and
    `fee_mist` are the amounts that the tool and the leader received.
    """

    id: Address
    tool: Address
    fqn: str | None
    requester: Address
    leaders: tuple[Address, ...]
    requested_at_ms: int
    expires_at_ms: int
    payment_mist: int
    execution: Address | None
    checkpoint: int
    outcome: str | None
    closed_by: Address | None
    closed_at_ms: int | None
    latency_ms: int | None
    price_mist: int
    fee_mist: int
    refund_mist: int
    is_deleted: bool


class IndexedWorkflow(Struct, frozen=True):
    """A published workflow. `digest` is the SHA-256 digest of its document."""

    id: Address
    fqn: str
    owner: Address
    description: str
    digest: bytes
    vertices: int
    checkpoint: int


class IndexedExecution(Struct, frozen=True):
    """An execution of a workflow. `steps` and `refund_mist` are None until it has ended."""

    id: Address
    workflow: Address
    fqn: str | None
    owner: Address
    schedule: Address | None
    status: str
    funds_mist: int
    deadline_ms: int
    started_at_ms: int | None
    ended_at_ms: int | None
    steps: int | None
    refund_mist: int | None
    checkpoint: int
    is_deleted: bool


class IndexedSchedule(Struct, frozen=True):
    """A schedule. `executions` is the number of started executions."""

    id: Address
    workflow: Address
    fqn: str | None
    owner: Address
    state: ScheduleState
    next_at_ms: int | None
    funds_mist: int
    funds_per_execution_mist: int
    keeper_fee_mist: int
    executions: int
    failures: int
    checkpoint: int
    is_deleted: bool


class DayStats(Struct, frozen=True):
    """The closings of all tools on a day, which starts at `start_ms`."""

    start_ms: int
    performance: Performance
