"""The plain HTTP routes, for the faucet, epochs, snapshots, traces and health."""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec import Struct

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.http import Exchange, Headers, OverloadedError, RequestHead
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.controls.faucet import request_gas, request_gas_v1
from nexus_tools.sui.localnet.rpc.controls.snapshots import revert, take_snapshot
from nexus_tools.sui.localnet.rpc.controls.unsupported_interfaces import unsupported_interface_error
from nexus_tools.sui.localnet.rpc.interface import CORS, PREFLIGHT, info_headers

_LOG = logging.getLogger(__name__)

Route = Callable[[Backend, bytes], tuple[int, dict[str, Any]]]


class Response(Struct, frozen=True):
    """A complete HTTP response."""

    status: int
    headers: Headers
    body: bytes


def _health(backend: Backend, _: bytes) -> tuple[int, dict[str, Any]]:
    latest = backend.node.ledger.latest.summary
    return 200, {
        "status": "ok",
        "chain_id": str(backend.node.chain_id),
        "checkpoint": latest.sequence_number,
        "timestamp_ms": latest.timestamp_ms,
    }


def _advance_epoch(backend: Backend, _: bytes) -> tuple[int, dict[str, Any]]:
    """Advance the epoch, and return the new epoch, checkpoint and time."""
    try:
        epoch = backend.node.advance_epoch()
    except NexusError as error:
        return 400, {"error": str(error)}
    latest = backend.node.ledger.latest.summary
    return 200, {
        "epoch": epoch,
        "checkpoint": latest.sequence_number,
        "timestamp_ms": latest.timestamp_ms,
    }


def _trace(backend: Backend, body: bytes) -> tuple[int, dict[str, Any]]:
    from nexus_tools.sui.localnet.rpc.controls.traces import serve_trace  # noqa: PLC0415 - 30 ms at start

    return serve_trace(backend.node, body)


_ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/health"): _health,
    ("POST", "/gas"): lambda backend, body: request_gas_v1(backend.node, body),
    ("POST", "/v1/gas"): lambda backend, body: request_gas_v1(backend.node, body),
    ("POST", "/v2/gas"): lambda backend, body: request_gas(backend.node, body),
    ("POST", "/advance-epoch"): _advance_epoch,
    ("POST", "/snapshot"): lambda backend, body: take_snapshot(backend.node, body),
    ("POST", "/revert"): lambda backend, body: revert(backend.node, body),
    ("POST", "/trace"): _trace,
}


def reads_body(backend: Backend, head: RequestHead) -> bool:
    """Return whether the server reads the body of a plain HTTP request.

    A plain request to the path of a gRPC procedure is refused without reading its body.
    """
    return head.path not in backend.messages.procedures


async def serve_control(backend: Backend, exchange: Exchange) -> None:
    """Serve a request that is not a gRPC call. Give up if the client is too slow."""
    with suppress(TimeoutError):
        async with asyncio.timeout(backend.limits.idle_seconds):
            response = await _read_and_respond(backend, exchange)
            await exchange.start(response.status, response.headers)
            await exchange.end(response.body)


async def _read_and_respond(backend: Backend, exchange: Exchange) -> Response:
    head = exchange.head
    if not reads_body(backend, head):
        return _response(backend, head, b"")
    try:
        body = await exchange.body.read_all(backend.limits.http_body_bytes)
    except OverloadedError as error:
        return _json(backend, 429, {"error": str(error)})
    if body is None:
        return _json(backend, 413, {"error": "the request is too large"})
    return _response(backend, head, body)


def _response(backend: Backend, head: RequestHead, body: bytes) -> Response:
    method, path = head.method, head.path
    if refusal := backend.refusal(head):
        return _json(backend, 403, {"error": refusal})
    if method == "OPTIONS":
        return Response(200, (("content-length", "0"), *PREFLIGHT), b"")
    try:
        if route := _ROUTES.get(("GET" if method == "HEAD" else method, path)):
            return _json(backend, *route(backend, body))
    except Exception:  # noqa: BLE001 - the server must not fail because of one request
        _LOG.exception("a control failed")
        return _json(backend, 500, {"error": "the localnet failed: see its log"})
    return _json(backend, *_refusal(backend, head, body))


def _refusal(backend: Backend, head: RequestHead, body: bytes) -> tuple[int, Any]:
    method, path = head.method, head.path
    is_call = path in backend.messages.procedures
    if is_call and method == "POST":
        return 415, {"error": f"{path} is only served as gRPC over HTTP/2 or as gRPC-web"}
    if is_call or any(path == route_path for _, route_path in _ROUTES):
        return 405, {"error": f"{path} is not served with {method}"}
    if method == "POST" and (error := unsupported_interface_error(body)) is not None:
        return 200, error
    return 404, {"error": f"the path {path[:200]} does not exist"}


def _json(backend: Backend, status: int, value: Any) -> Response:
    """Return a JSON response with the common headers."""
    body = json.dumps(value).encode()
    content = (("content-type", "application/json"), ("content-length", str(len(body))))
    return Response(status, (*content, *info_headers(backend.node), *CORS), body)
