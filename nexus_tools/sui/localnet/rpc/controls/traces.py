"""Traces of transactions over HTTP, by `POST /trace`."""

import json
from base64 import b64decode
from typing import Any

from nexus_tools.sui.errors import (
    NexusError,
    NotFoundError,
    RefusedOnChainError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.sui.localnet.execution import TransactionRefused
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.trace import (
    Form,
    TransactionTrace,
    as_json,
    as_text,
    trace_document,
    trace_simulation,
    trace_transaction,
)
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

_FORMS: dict[str, Form] = {"json": as_json, "text": as_text}
_STATUSES: dict[type[NexusError], int] = {
    ValidationError: 400,
    NotFoundError: 404,
    RefusedOnChainError: 422,
}


def serve_trace(node: Node, body: bytes) -> tuple[int, dict[str, Any]]:
    """Return the trace of the transaction that the request `{"digest": base58}` names.

    The request `{"transaction": base64}` traces a transaction that was not sent, given the BCS
    bytes of its `TransactionData`. Both requests may specify the format of Move values in `values`:
    `json`, or `text` for users. In an error response, `code` is the error's code.
    """
    try:
        subject, form = _parse(body)
        return 200, trace_document(_trace(node, subject), form)
    except NexusError as error:
        return _status(error), {"error": str(error), "code": error.code}


def _trace(node: Node, subject: Digest | bytes) -> TransactionTrace:
    if isinstance(subject, Digest):
        return trace_transaction(node, subject)
    try:
        return trace_simulation(node, TRANSACTION_DATA.decode(subject))
    except TransactionRefused:
        digest = transaction_digest(subject)
        if node.ledger.transaction(digest) is None:
            raise
        raise WrongStateError(
            "transaction_executed",
            f"transaction {digest} was already executed",
            hint="Trace the transaction by its digest.",
        ) from None


def _parse(body: bytes) -> tuple[Digest | bytes, Form]:
    """Return the digest or the bytes of the transaction to trace, and the format of values."""
    try:
        request = json.loads(body)
        form = _FORMS[request.get("values", "json")]
        (subject,) = request.keys() & {"digest", "transaction"}
        if subject == "digest":
            return Digest.parse(request["digest"]), form
        return b64decode(request["transaction"], validate=True), form
    except (ValueError, RecursionError, TypeError, AttributeError, LookupError) as error:
        raise ValidationError("request_invalid", f"invalid request: {error!r}") from None


def _status(error: NexusError) -> int:
    for kind, status in _STATUSES.items():
        if isinstance(error, kind):
            return status
    return 409
