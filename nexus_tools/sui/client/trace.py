"""Traces of transactions, which a localnet creates by executing them again."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from nexus_tools.sui.errors import (
    NexusError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.tls import shared_tls

_ERRORS: dict[int, type[NexusError]] = {
    HTTPStatus.BAD_REQUEST: ValidationError,
    HTTPStatus.NOT_FOUND: NotFoundError,
    HTTPStatus.CONFLICT: WrongStateError,
    HTTPStatus.UNPROCESSABLE_ENTITY: RefusedOnChainError,
}

_TIMEOUT_S = 120.0


async def fetch_trace(
    network: Network, subject: Mapping[str, str], *, values: str
) -> dict[str, Any]:
    """Return the trace of a transaction as a document, with values as `json` or as `text`.

    `subject` is `{"digest": …}`, or `{"transaction": …}` with the bytes of a transaction in base64.

    Raises `transaction_not_found`, `trace_failed`, `transaction_executed`, or `trace_unsupported`
    if the network is not a localnet. If the chain would refuse a simulated transaction, raises
    `RefusedOnChainError`.
    """
    url = f"{network.url.rstrip('/')}/trace"
    status, found = await _post(url, {**subject, "values": values})
    if status == HTTPStatus.OK and isinstance(found, dict):
        return found
    if not isinstance(found, dict) or "code" not in found:
        raise WrongStateError(
            "trace_unsupported",
            f"{network.name} does not support traces, because it is not a localnet",
        )
    kind = _ERRORS.get(status, NexusError)
    raise kind(str(found["code"]), str(found.get("error")))


async def _post(url: str, document: dict[str, str]) -> tuple[int, Any]:
    """Return the response's status code, and its JSON body or else None."""
    import httpx  # noqa: PLC0415 - not needed to start the command line

    try:
        async with httpx.AsyncClient(verify=shared_tls(), timeout=_TIMEOUT_S) as http:
            response = await http.post(url, json=document)
    except httpx.HTTPError as error:
        raise UnreachableError("localnet_unreachable", f"{url} does not respond: {error}") from None
    try:
        return response.status_code, response.json()
    except ValueError:
        return response.status_code, None
