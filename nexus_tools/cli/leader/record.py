"""The output of leaders: state, collateral and track record."""

from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Session
from nexus_tools.cli.shared.collateral import collateral_document, describe_collateral
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import LeaderRecord, LeaderRegistry
    from nexus_tools.sui.types.address import Address

COLUMNS = {
    "leader": "Leader",
    "name": "Name",
    "state": "State",
    "settled": "Settled",
    "failed": "Failed",
    "missed": "Missed",
    "latency": "Latency",
    "collateral": "Collateral",
}


def leader_document(
    leader: "Leader", now_ms: int, record: "LeaderRecord | None" = None
) -> dict[str, Any]:
    """Return a leader as JSON, in MIST and ms, with its track record if `record` is set."""
    from msgspec.structs import asdict

    from nexus_tools.tool import format_public_key

    owner = leader.owner
    document = {
        "leader": str(leader.id),
        "name": leader.name,
        "state": leader.state.value,
        "owner": str(owner.owner),
        "pending_owner": None if owner.pending_owner is None else str(owner.pending_owner),
        "workers": [str(worker) for worker in leader.workers.entries],
        "keys": [format_public_key(key) for key in leader.keys.keys],
        "index": leader.index,
        "registered_at_ms": leader.registered_at_ms,
        **collateral_document(leader.collateral, now_ms),
    }
    return document if record is None else document | asdict(record)


def leader_for_people(document: dict[str, Any]) -> dict[str, Any]:
    """Return a leader for display: amounts in SUI, times as text, and counts instead of lists."""
    words = units.in_words(document) | describe_collateral(document)
    return words | {"workers": len(document["workers"]), "keys": len(document["keys"])}


async def leaders_with_records(
    session: Session, leaders: "LeaderRegistry", found: "Sequence[Leader]"
) -> list[dict[str, Any]]:
    """Return leaders as JSON with their track records, in the same order."""
    from nexus_tools.registry import LeaderRecord, read_histories

    histories = await read_histories(leaders, found, _caller(session))
    if histories.unread:
        session.output.warn(
            f"the node did not list the closings of {units.count(histories.unread, 'leader')}, so"
            " their track records are unknown. Use a node with an event index"
        )
    now_ms = await leaders.client.now_ms()
    return [
        leader_document(leader, now_ms, histories.records.get(leader.id, LeaderRecord()))
        for leader in found
    ]


def _caller(session: Session) -> "Address | None":
    """Return the wallet, whose missed invocations a record counts, or None without a wallet."""
    try:
        return session.own_address()
    except NexusError:
        return None
