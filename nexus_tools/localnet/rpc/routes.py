"""Plain HTTP: the faucet, epochs, snapshots, traces, and whether the network is up."""

import json
from collections.abc import Callable
from typing import Any

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.rpc.advance_epoch import advance_epoch
from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.cors import Headers, cors_headers, preflight_headers
from nexus_tools.localnet.rpc.faucet import request_gas, request_gas_v1
from nexus_tools.localnet.rpc.info_headers import info_headers
from nexus_tools.localnet.rpc.snapshots import revert, take_snapshot

Route = Callable[[Backend, bytes], tuple[int, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response of HTTP."""

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


def _trace(backend: Backend, body: bytes) -> tuple[int, dict[str, Any]]:
    from nexus_tools.localnet.rpc.traces import serve_trace  # noqa: PLC0415 - 30 ms at start

    return serve_trace(backend.node, body)


_ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/health"): _health,
    ("POST", "/gas"): lambda backend, body: request_gas_v1(backend.node, body),
    ("POST", "/v1/gas"): lambda backend, body: request_gas_v1(backend.node, body),
    ("POST", "/v2/gas"): lambda backend, body: request_gas(backend.node, body),
    ("POST", "/advance-epoch"): lambda backend, body: advance_epoch(backend.node, body),
    ("POST", "/snapshot"): lambda backend, body: take_snapshot(backend.node, body),
    ("POST", "/revert"): lambda backend, body: revert(backend.node, body),
    ("POST", "/trace"): _trace,
}


def answer_route(backend: Backend, method: str, target: str, body: bytes) -> Answer:
    """Serve a request that is not gRPC; `target` may have a query, which is overlooked."""
    path = target.partition("?")[0]
    if method == "OPTIONS":
        return Answer(200, [("content-length", "0"), *preflight_headers()], b"")
    route = _ROUTES.get(("GET" if method == "HEAD" else method, path))
    if route is not None:
        return json_answer(backend, *route(backend, body))
    if any(path == known for _, known in _ROUTES):
        return json_answer(backend, 405, {"error": f"{path} is not served with {method}"})
    if path in backend.messages.procedures:
        return _no_call(backend, method, path)
    return json_answer(backend, 404, {"error": f"there is nothing at {path[:200]}"})


def _no_call(backend: Backend, method: str, path: str) -> Answer:
    if method != "POST":
        return json_answer(backend, 405, {"error": f"{path} is not served with {method}"})
    return json_answer(
        backend, 415, {"error": f"{path} is served as gRPC over HTTP/2, and as gRPC-web"}
    )


def json_answer(backend: Backend, status: int, value: dict[str, Any]) -> Answer:
    """A JSON object as a response, with the headers of all responses."""
    body = json.dumps(value).encode()
    headers = [
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        *info_headers(backend.node),
        *cors_headers(),
    ]
    return Answer(status, headers, body)
