"""Going back in time over HTTP: `POST /snapshot` names the present, `/revert` returns to it."""

import json
from typing import Any

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.ledger import Snapshot
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.digest import Digest


def take_snapshot(node: Node, _: bytes) -> tuple[int, dict[str, Any]]:
    """Serve `{"checkpoint": number, "digest": base58}`: where the chain stands."""
    return 200, _as_json(node.snapshot())


def revert(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Go back to a snapshot, given as `take_snapshot` gave it."""
    try:
        snapshot = _parse(json.loads(body))
        node.revert(snapshot)
    except (ValueError, RecursionError, TypeError) as error:
        return 400, {"error": f"the request is not understood: {error}"}
    except NexusError as error:
        return 409 if error.code == "snapshot_gone" else 400, {"error": str(error)}
    return 200, _as_json(node.snapshot())


def _as_json(snapshot: Snapshot) -> dict[str, Any]:
    return {"checkpoint": snapshot.checkpoint, "digest": str(snapshot.digest)}


def _parse(request: Any) -> Snapshot:
    if not isinstance(request, dict):
        raise TypeError("it is not a JSON object")
    checkpoint, digest = request.get("checkpoint"), request.get("digest")
    if type(checkpoint) is not int or checkpoint < 0 or not isinstance(digest, str):
        raise TypeError("a snapshot is a checkpoint's number and digest")
    return Snapshot(checkpoint, Digest.parse(digest))
