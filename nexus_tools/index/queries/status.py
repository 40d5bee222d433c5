"""The state of an index file."""

import sqlite3

from nexus_tools.index.queries.records import IndexStatus, SearchStatus
from nexus_tools.sui.types.address import Address

_COUNTED = {
    "tools": "tools",
    "leaders": "leaders",
    "workflows": "workflows",
    "pending_definitions": "tools WHERE definition_pending",
    "unknown_events": "unknown_events",
}


def read_status(connection: sqlite3.Connection, size: int, search: SearchStatus) -> IndexStatus:
    """Return the state of an index file of `size` bytes. The connection is in a transaction."""
    chain_id, package, generation, complete_since = connection.execute(
        "SELECT chain_id, package, generation, complete_since FROM identity"
    ).fetchone()
    checkpoint, newest_ms, events, change = connection.execute(
        "SELECT checkpoint, newest_ms, last_seq, last_change FROM cursor"
    ).fetchone()
    counts = {
        name: int(connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608 - constant names
        for name, rows in _COUNTED.items()
    }
    return IndexStatus(
        chain_id=chain_id,
        package=Address(package),
        checkpoint=checkpoint,
        complete_since=complete_since,
        newest_ms=newest_ms,
        last_change=change,
        generation=generation,
        events=events,
        bytes=size,
        search=search,
        **counts,
    )
