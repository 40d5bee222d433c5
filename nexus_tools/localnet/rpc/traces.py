"""Traces of transactions over HTTP: `POST /trace`."""

import json
from typing import Any

from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.trace import Form, as_json, as_text, trace_document, trace_transaction
from nexus_tools.sui.digest import Digest

_FORMS: dict[str, Form] = {"json": as_json, "text": as_text}


def serve_trace(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Serve `{"digest": base58}` with the trace of that transaction.

    Beside `digest`, `values` says how values are given: as `json`, or as `text` for people. An
    error has its stable word as `code`.
    """
    try:
        digest, form = _parse(body)
        return 200, trace_document(trace_transaction(node, digest), form)
    except NexusError as error:
        return _status(error), {"error": str(error), "code": error.code}


def _parse(body: bytes) -> tuple[Digest, Form]:
    try:
        request = json.loads(body)
        digest, form = Digest.parse(request["digest"]), _FORMS[request.get("values", "json")]
    except (ValueError, RecursionError, TypeError, AttributeError, LookupError) as error:
        raise ValidationError(
            "request_invalid", f"the request is not understood: {error!r}"
        ) from None
    return digest, form


def _status(error: NexusError) -> int:
    if isinstance(error, ValidationError):
        return 400
    return 404 if isinstance(error, NotFoundError) else 409
