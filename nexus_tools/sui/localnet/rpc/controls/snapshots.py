"""Snapshots over HTTP. `POST /snapshot` takes a snapshot, and `POST /revert` restores one."""

import json
from typing import Any

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.ledger import Snapshot
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.digest import Digest


def take_snapshot(node: Node, _: bytes) -> tuple[int, dict[str, Any]]:
    """Return a snapshot of the chain as `{"checkpoint": number, "digest": base58}`."""
    return 200, _as_json(node.snapshot())


def revert(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Revert the chain to a snapshot. The request has the format of `take_snapshot`'s response."""
    try:
        snapshot = _parse(json.loads(body))
        node.revert(snapshot)
    except (ValueError, RecursionError, TypeError) as error:
        return 400, {"error": f"invalid request: {error}"}
    except NexusError as error:
        return 409 if error.code == "snapshot_not_found" else 400, {"error": str(error)}
    return 200, _as_json(node.snapshot())


def _as_json(snapshot: Snapshot) -> dict[str, Any]:
    return {"checkpoint": snapshot.checkpoint, "digest": str(snapshot.digest)}


def _parse(request: Any) -> Snapshot:
    if not isinstance(request, dict):
        raise TypeError("expected a JSON object")
    checkpoint, digest = request.get("checkpoint"), request.get("digest")
    if type(checkpoint) is not int or checkpoint < 0 or not isinstance(digest, str):
        raise TypeError("a snapshot needs the number and the digest of a checkpoint")
    return Snapshot(checkpoint, Digest.parse(digest))
