"""The tables of an index file.

Event rows are append-only: `events`, `requests`, `closings`, `deletions` and `unknown_events`. They
share one sequence number `seq`, which is their order on chain. All other tables are derived from
event rows, except `definitions`, which come from objects on chain, `marks`, and `vectors`, which
the search by intent derives from texts. `identity.vector_model` is the digest of their model. Tools
whose change number is larger than `identity.vector_change` may lack a current vector. The sort
values of tools and leaders are those at the event `cursor.ranked_seq`, whose time is
`cursor.ranked_ms`.

`addresses` maps each address or object ID to a small number, which the other tables contain.
"""

from nexus_tools.index.outcomes import BUCKETS, OUTCOMES

APPLICATION_ID = 0x4E585431
FORMAT = 3
"""The version of the tables. A file of another version is rebuilt."""

LATENCIES = tuple(f"latency_{bucket}" for bucket in range(BUCKETS))
COUNTS = (*OUTCOMES, "volume_mist", *LATENCIES)
"""The columns that add up: closings by outcome, the amount in MIST, and latencies by bucket."""
LAST = ("last_requesters", "last_good", "last_bad")
"""Columns that count requesters by their last closing in the period."""


def _counters(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} INTEGER NOT NULL DEFAULT 0" for name in names)


_META = f"""
CREATE TABLE identity (
    chain_id TEXT NOT NULL, package BLOB NOT NULL, workflows BLOB, generation TEXT NOT NULL,
    complete_since INTEGER NOT NULL, vector_model TEXT, vector_change INTEGER NOT NULL
) STRICT;
CREATE TABLE cursor (
    only INTEGER PRIMARY KEY CHECK (only = 0), value TEXT NOT NULL, checkpoint INTEGER NOT NULL,
    newest_ms INTEGER NOT NULL, last_seq INTEGER NOT NULL, last_change INTEGER NOT NULL,
    ranked_seq INTEGER NOT NULL, ranked_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE marks (
    checkpoint INTEGER PRIMARY KEY, transaction_index INTEGER, digest BLOB NOT NULL
) STRICT;
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY, address BLOB NOT NULL UNIQUE, checkpoint INTEGER NOT NULL
) STRICT;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
"""

# An invocation ID is found by its first 8 bytes, because an index of whole IDs would be larger than
# all other indices together.
_EVENTS = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, checkpoint INTEGER NOT NULL, subject INTEGER NOT NULL,
    kind TEXT NOT NULL, contents BLOB NOT NULL
) STRICT;
CREATE TABLE unknown_events (
    seq INTEGER PRIMARY KEY, checkpoint INTEGER NOT NULL, transaction_index INTEGER NOT NULL,
    event_index INTEGER NOT NULL, type TEXT NOT NULL, sender BLOB NOT NULL, contents BLOB NOT NULL
) STRICT;
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY, checkpoint INTEGER NOT NULL, invocation BLOB NOT NULL,
    tool INTEGER NOT NULL, requester INTEGER NOT NULL, leader INTEGER, backup INTEGER,
    requested_at_ms INTEGER NOT NULL, expires_after_ms INTEGER NOT NULL,
    price_mist INTEGER NOT NULL, payment_mist INTEGER NOT NULL, execution INTEGER,
    is_open INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_by_invocation ON requests (substr(invocation, 1, 8));
CREATE INDEX requests_by_tool ON requests (tool, seq);
CREATE INDEX requests_by_requester ON requests (requester, seq);
CREATE INDEX requests_by_execution ON requests (execution, seq) WHERE execution IS NOT NULL;
CREATE TABLE closings (
    seq INTEGER PRIMARY KEY, checkpoint INTEGER NOT NULL, request INTEGER, invocation BLOB,
    tool INTEGER NOT NULL, requester INTEGER NOT NULL, leader INTEGER, missed INTEGER,
    also_missed INTEGER, outcome INTEGER NOT NULL, is_open INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, latency_ms INTEGER, price_mist INTEGER NOT NULL,
    fee_mist INTEGER NOT NULL, refund_mist INTEGER NOT NULL
) STRICT;
CREATE INDEX closings_by_request ON closings (request) WHERE request IS NOT NULL;
CREATE INDEX closings_by_leader ON closings (leader, seq) WHERE leader IS NOT NULL;
CREATE TABLE deletions (
    seq INTEGER PRIMARY KEY, checkpoint INTEGER NOT NULL, request INTEGER NOT NULL
) STRICT;
CREATE INDEX deletions_by_request ON deletions (request);
"""

_STATE = """
CREATE TABLE collateral (
    object INTEGER PRIMARY KEY, required_mist INTEGER NOT NULL, balance_mist INTEGER NOT NULL,
    unregistered_at_ms INTEGER, state TEXT NOT NULL
) STRICT;
CREATE TABLE tools (
    id INTEGER PRIMARY KEY, fqn TEXT NOT NULL UNIQUE, domain TEXT NOT NULL, name TEXT NOT NULL,
    version TEXT NOT NULL, tool_type TEXT NOT NULL, name_object INTEGER NOT NULL,
    owner INTEGER NOT NULL, url TEXT NOT NULL, description TEXT NOT NULL,
    timeout_ms INTEGER NOT NULL, price_mist INTEGER NOT NULL, payout INTEGER NOT NULL,
    accepts_any_leader INTEGER NOT NULL, requires_signed_outcome INTEGER NOT NULL,
    revision INTEGER NOT NULL, registration INTEGER NOT NULL, registered_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL, checkpoint INTEGER NOT NULL, seq INTEGER NOT NULL,
    change INTEGER NOT NULL, definition_pending INTEGER NOT NULL DEFAULT 1,
    reputation REAL NOT NULL DEFAULT 0.5, volume_mist INTEGER NOT NULL DEFAULT 0,
    last_seen_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tools_by_registration ON tools (registration);
CREATE INDEX tools_by_owner ON tools (owner, registration);
CREATE INDEX tools_by_state ON tools (state, tool_type, fqn);
CREATE INDEX tools_by_price ON tools (price_mist, registration);
CREATE INDEX tools_by_reputation ON tools (reputation, registration);
CREATE INDEX tools_by_volume ON tools (volume_mist, registration);
CREATE INDEX tools_by_last_seen ON tools (last_seen_ms, registration);
CREATE INDEX tools_by_change ON tools (change);
CREATE INDEX tools_by_name_object ON tools (name_object);
CREATE INDEX tools_pending ON tools (id) WHERE definition_pending;
CREATE TABLE tool_leaders (
    tool INTEGER NOT NULL, leader INTEGER NOT NULL, PRIMARY KEY (tool, leader)
) STRICT, WITHOUT ROWID;
CREATE TABLE removed_tools (
    tool INTEGER PRIMARY KEY, fqn TEXT NOT NULL, change INTEGER NOT NULL
) STRICT;
CREATE INDEX removed_tools_by_change ON removed_tools (change);
CREATE TABLE definitions (
    tool INTEGER PRIMARY KEY, seq INTEGER NOT NULL, words TEXT NOT NULL
) STRICT;
CREATE TABLE vectors (
    tool INTEGER PRIMARY KEY, text_digest BLOB NOT NULL, vector BLOB NOT NULL
) STRICT;
CREATE TABLE leaders (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner INTEGER NOT NULL,
    accepting INTEGER NOT NULL, state TEXT NOT NULL, registration INTEGER NOT NULL,
    registered_at_ms INTEGER NOT NULL, checkpoint INTEGER NOT NULL,
    reputation REAL NOT NULL DEFAULT 0.5, volume_mist INTEGER NOT NULL DEFAULT 0,
    last_seen_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX leaders_by_registration ON leaders (registration);
CREATE INDEX leaders_by_reputation ON leaders (reputation, registration);
CREATE TABLE workflows (
    id INTEGER PRIMARY KEY, fqn TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL,
    publisher INTEGER NOT NULL, name_object INTEGER NOT NULL, description TEXT NOT NULL,
    digest BLOB NOT NULL, vertices INTEGER NOT NULL, checkpoint INTEGER NOT NULL,
    seq INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX workflows_by_owner ON workflows (owner, seq);
CREATE INDEX workflows_by_name_object ON workflows (name_object);
CREATE TABLE executions (
    id INTEGER PRIMARY KEY, workflow INTEGER NOT NULL, owner INTEGER NOT NULL, schedule INTEGER,
    funds_mist INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, status TEXT NOT NULL,
    steps INTEGER, refund_mist INTEGER, ended_at_ms INTEGER, is_deleted INTEGER NOT NULL DEFAULT 0,
    checkpoint INTEGER NOT NULL, seq INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX executions_by_owner ON executions (owner, seq);
CREATE INDEX executions_by_workflow ON executions (workflow, seq);
CREATE INDEX executions_by_schedule ON executions (schedule, seq) WHERE schedule IS NOT NULL;
CREATE TABLE schedules (
    id INTEGER PRIMARY KEY, workflow INTEGER NOT NULL, owner INTEGER NOT NULL,
    next_at_ms INTEGER, funds_mist INTEGER NOT NULL, funds_per_execution_mist INTEGER NOT NULL,
    keeper_fee_mist INTEGER NOT NULL, state TEXT NOT NULL, is_paused INTEGER NOT NULL DEFAULT 0,
    executions INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
    is_deleted INTEGER NOT NULL DEFAULT 0, checkpoint INTEGER NOT NULL, seq INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX schedules_by_owner ON schedules (owner, seq);
CREATE INDEX schedules_by_workflow ON schedules (workflow, seq);
"""

# The last hours are read for one subject, but written for many subjects and then deleted. With the
# period first, the rows of an hour are beside each other, and 48 lookups read a subject.
_TOTALS = f"""
CREATE TABLE days (
    subject INTEGER NOT NULL, period INTEGER NOT NULL, {_counters((*COUNTS, *LAST))},
    PRIMARY KEY (subject, period)
) STRICT, WITHOUT ROWID;
CREATE INDEX days_by_period ON days (period, subject);
CREATE TABLE hours (
    subject INTEGER NOT NULL, period INTEGER NOT NULL, {_counters((*COUNTS, *LAST))},
    PRIMARY KEY (period, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE pairs (
    subject INTEGER NOT NULL, requester INTEGER NOT NULL, {_counters(COUNTS)},
    last_hour INTEGER NOT NULL, last_verdict INTEGER, PRIMARY KEY (subject, requester)
) STRICT, WITHOUT ROWID;
"""

SCHEMA = _META + _EVENTS + _STATE + _TOTALS

EVENT_TABLES = (
    *("events", "unknown_events", "requests", "closings", "deletions"),
    *("addresses", "marks"),
)
"""The tables with a checkpoint from which a rollback deletes rows."""
STATE_TABLES = (
    *("collateral", "tools", "tool_leaders", "leaders"),
    *("workflows", "executions", "schedules"),
)
TOTAL_TABLES = ("days", "hours", "pairs")

DESCRIPTIONS = {
    "marks": "Digests of transactions and checkpoints, to find the common part after a rollback.",
    "addresses": "Addresses and object IDs with the small numbers that other tables contain.",
    "requests": "One row for each invocation request.",
    "closings": "One row for each closed invocation. `outcome` is the position in the outcomes.",
    "deletions": "One row for each deleted invocation.",
    "events": "Other events in BCS, from which the state is derived.",
    "unknown_events": "Events that the version of the program did not know.",
    "tools": "Tools with their current state.",
    "definitions": "Names and descriptions of the ports of tools.",
    "vectors": "Vectors of the meaning of tools, in int8, with digests of the encoded texts.",
    "leaders": "Leaders with their current state.",
    "workflows": "Published workflows.",
    "executions": "Executions of workflows.",
    "schedules": "Schedules.",
    "days": "Totals of each tool or leader (`subject`) per day since 1970.",
    "hours": "Totals of each tool or leader (`subject`) per hour since 1970, of the last two days.",
    "pairs": "Totals of each tool or leader (`subject`) per requester, for the own experience.",
}
"""The descriptions of tables for datasette."""
