"""Ending the epoch over HTTP: `POST /advance-epoch`."""

from typing import Any

from nexus_tools.errors import NexusError
from nexus_tools.localnet.node import Node


def advance_epoch(node: Node, _: bytes) -> tuple[int, dict[str, Any]]:
    """Serve `{"epoch": number, "checkpoint": number, "timestamp_ms": ms}`: where the chain is."""
    try:
        epoch = node.advance_epoch()
    except NexusError as error:
        return 400, {"error": str(error)}
    latest = node.ledger.latest.summary
    return 200, {
        "epoch": epoch,
        "checkpoint": latest.sequence_number,
        "timestamp_ms": latest.timestamp_ms,
    }
