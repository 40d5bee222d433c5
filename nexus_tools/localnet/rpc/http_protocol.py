"""Plain HTTP/1.1 on the same port: the faucet, snapshots, and whether the network is up."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import h11

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.faucet import request_gas, request_gas_v1
from nexus_tools.localnet.rpc.info_headers import info_headers
from nexus_tools.localnet.rpc.snapshots import revert, take_snapshot

_LOG = logging.getLogger(__name__)
_HEADER_BYTES = 16 * 1024

Route = Callable[[Backend, bytes], tuple[int, dict[str, Any]]]


def _health(backend: Backend, _: bytes) -> tuple[int, dict[str, Any]]:
    latest = backend.node.ledger.latest.summary
    return 200, {
        "status": "ok",
        "chain_id": str(backend.node.chain_id),
        "checkpoint": latest.sequence_number,
        "timestamp_ms": latest.timestamp_ms,
    }


_ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/health"): _health,
    ("POST", "/gas"): lambda backend, body: request_gas_v1(backend.node, body),
    ("POST", "/v1/gas"): lambda backend, body: request_gas_v1(backend.node, body),
    ("POST", "/v2/gas"): lambda backend, body: request_gas(backend.node, body),
    ("POST", "/snapshot"): lambda backend, body: take_snapshot(backend.node, body),
    ("POST", "/revert"): lambda backend, body: revert(backend.node, body),
}


class HttpConnection(asyncio.Protocol):
    """One HTTP/1.1 connection; requests are served in order."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADER_BYTES)
        self._request: h11.Request | None = None
        self._body = bytearray()
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's word
        """End."""
        self._timer.cancel()

    def _wait(self) -> None:
        """Close the connection if nothing more comes for a while."""
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._backend.limits.idle_seconds, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        self._timer.cancel()
        self._wait()
        try:
            self._http.receive_data(data)
            self._read()
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint)
        except Exception:  # noqa: BLE001 - the edge of the server
            _LOG.exception("an HTTP request failed")
            self._refuse(500)

    def _read(self) -> None:
        while not self._transport.is_closing():
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._request, self._body = event, bytearray()
            elif isinstance(event, h11.Data):
                self._body += event.data
                if len(self._body) > self._backend.limits.http_body_bytes:
                    self._refuse(413)
            elif isinstance(event, h11.EndOfMessage):
                self._serve()
            elif isinstance(event, h11.ConnectionClosed):
                self._transport.close()
            else:  # NEED_DATA, or PAUSED until the response to the request before has gone
                return

    def _serve(self) -> None:
        assert self._request is not None
        method = self._request.method.decode("ascii")
        path = self._request.target.decode("ascii").partition("?")[0]
        route = _ROUTES.get((method, path))
        if route is not None:
            self._respond(*route(self._backend, bytes(self._body)))
        elif any(path == known for _, known in _ROUTES):
            self._respond(405, {"error": f"{path} is not served with {method}"})
        else:
            self._respond(404, {"error": f"there is nothing at {path[:200]}"})
        if self._http.our_state is h11.MUST_CLOSE:
            self._transport.close()
        else:
            self._http.start_next_cycle()

    def _refuse(self, status: int) -> None:
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._respond(status, {"error": "the request is not understood"}, close=True)
        self._transport.close()

    def _respond(self, status: int, answer: dict[str, Any], *, close: bool = False) -> None:
        body = json.dumps(answer).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            *info_headers(self._backend.node),
        ]
        if close:
            headers.append(("connection", "close"))
        events: tuple[h11.Event, ...] = (
            h11.Response(status_code=status, headers=headers),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        self._transport.write(b"".join(self._http.send(event) or b"" for event in events))
