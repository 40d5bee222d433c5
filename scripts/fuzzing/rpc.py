"""The server: for any input, it responds with a defined status or closes, and stays healthy.

The first byte of an input selects the transport, and the payload follows. For native gRPC and
gRPC-web, the payload is the number of a procedure and a message. For other transports, the payload
consists of the bytes of an HTTP/1.1 or HTTP/2 connection. The client then half-closes the
connection, closes it, or resets it.
"""

import base64
import http.client
import socket
import struct
from collections.abc import Callable
from functools import cache

import grpc
from hypothesis import strategies as st

from fuzzing.connections import http1, http2
from fuzzing.finding import Broken
from fuzzing.mutation import apply, edits, weighted
from fuzzing.served import Served, served
from fuzzing.transaction_data import transactions
from fuzzing.wire import Wire
from nexus_tools.sui.rpc import Procedure
from nexus_tools.sui.types.transaction import TransactionData

_TAKE_TRANSACTIONS = ("ExecuteTransaction", "SimulateTransaction")
_NATIVE, _WEB, _WEB_TEXT, _ENDED, _LEFT, _RESET = range(6)
_SECONDS = 10.0
_WATCHING_SECONDS = 0.03
_QUIET_SECONDS = 0.3
# Statuses that clients must not receive, because they mean an unexpected error of the server.
_UNDEFINED = {2, 13}


def inputs() -> st.SearchStrategy[bytes]:
    """Return messages to every procedure, and connections that violate HTTP."""
    # Inputs are derived from the network's initial state, so a seed always gives the same inputs.
    wire, programs = Wire(served().network), transactions()
    ways = st.sampled_from([_NATIVE, _WEB, _WEB_TEXT]).map(lambda way: bytes([way]))
    messages = st.integers(0, len(_procedures()) - 1).flatmap(
        lambda number: _messages(wire, programs, number).map(lambda data: bytes([number]) + data)
    )
    return weighted(
        (4, st.builds(bytes.__add__, ways, messages)),
        (1, st.builds(bytes.__add__, _leaving(), http1())),
        (1, st.builds(bytes.__add__, _leaving(), http2())),
    )


def _leaving() -> st.SearchStrategy[bytes]:
    return st.sampled_from([_ENDED, _ENDED, _LEFT, _RESET]).map(lambda way: bytes([way]))


def _messages(
    wire: Wire, programs: st.SearchStrategy[TransactionData], number: int
) -> st.SearchStrategy[bytes]:
    procedure = _procedures()[number]
    whole = wire.message(procedure.request.DESCRIPTOR, procedure.response.DESCRIPTOR)
    changed = st.builds(apply, whole, st.lists(edits(), min_size=1, max_size=2))
    if procedure.path.rpartition("/")[2] not in _TAKE_TRANSACTIONS:
        return weighted((7, whole), (1, changed))
    sent = programs.map(lambda data: _with_transaction(procedure, data))
    return weighted((5, sent), (2, whole), (1, changed))


def _with_transaction(procedure: Procedure, data: TransactionData) -> bytes:
    """Return a request with a transaction of the network's accounts, signed if required."""
    encoded, net = data.encode(), served().network
    request = procedure.request(transaction={"bcs": {"value": encoded}})
    request.read_mask.paths.append("*")
    if procedure.path.endswith("/ExecuteTransaction"):
        for address in dict.fromkeys([data.sender, data.gas.owner]):
            account = net.account(address)
            if account is not None:
                request.signatures.add().bcs.value = account.sign(encoded)
    return bytes(request.SerializeToString())


@cache
def _procedures() -> tuple[Procedure, ...]:
    procedures = served().messages.procedures
    return tuple(procedures[path] for path in sorted(procedures))


def check(data: bytes) -> str:
    """Send the input, and check the response and the health of the server."""
    server = served()
    server.restart()
    way, rest = (data[0] if data else _ENDED), data[1:]
    if way in _CALLS and rest:
        procedure = _procedures()[rest[0] % len(_procedures())]
        code = _CALLS[way](server, procedure, rest[1:])
        if code in _UNDEFINED:
            raise Broken(f"{procedure.path} ended with {code}: {server.errors[:1]}")
        outcome = f"status {code}"
    else:
        outcome = _send(server, rest, way)
    server.check()
    return outcome


def _lasts(procedure: Procedure) -> bool:
    return "Subscribe" in procedure.path or procedure.path.endswith(("/Watch", "Info"))


# --- Calls


@cache
def _channel(port: int) -> grpc.Channel:
    return grpc.insecure_channel(f"127.0.0.1:{port}")


def _call_natively(server: Served, procedure: Procedure, message: bytes) -> int:
    channel = _channel(server.port)
    timeout = _WATCHING_SECONDS if _lasts(procedure) else _SECONDS
    try:
        if procedure.path.endswith("ServerReflectionInfo"):
            for _ in channel.stream_stream(procedure.path)(iter([message]), timeout=timeout):
                pass
        elif procedure.streaming:
            for _ in channel.unary_stream(procedure.path)(message, timeout=timeout):
                pass
        else:
            channel.unary_unary(procedure.path)(message, timeout=timeout)
    except grpc.RpcError as error:
        code = int(error.code().value[0])
        if code == 4 and not _lasts(procedure):
            raise Broken(f"{procedure.path} exceeded the time limit") from error
        return code
    return 0


def _call_on_the_web(server: Served, procedure: Procedure, message: bytes) -> int:
    body = b"\0" + len(message).to_bytes(4, "big") + message
    return _post(server, procedure, body, "application/grpc-web+proto")


def _call_on_the_web_as_text(server: Served, procedure: Procedure, message: bytes) -> int:
    body = base64.b64encode(b"\0" + len(message).to_bytes(4, "big") + message)
    return _post(server, procedure, body, "application/grpc-web-text")


def _post(server: Served, procedure: Procedure, body: bytes, content_type: str) -> int:
    headers = {"content-type": content_type, "accept": "application/grpc-web+proto"}
    if _lasts(procedure):
        headers["grpc-timeout"] = "30m"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_SECONDS)
    try:
        connection.request("POST", procedure.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Broken(f"no response to {procedure.path}:  {error!r}") from error
    finally:
        connection.close()
    status = answer.headers["grpc-status"]
    if status is None:
        status = content.rpartition(b"grpc-status:")[2].partition(b"\r")[0].decode()
    return int(status)


_CALLS: dict[int, Callable[[Served, Procedure, bytes], int]] = {
    _NATIVE: _call_natively,
    _WEB: _call_on_the_web,
    _WEB_TEXT: _call_on_the_web_as_text,
}

# --- Connections


def _send(server: Served, data: bytes, way: int) -> str:
    """Send bytes, and end the connection, or half-close it and read until the server closes it."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=_QUIET_SECONDS) as client:
        if way == _RESET:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        try:
            client.sendall(data)
            if way in {_LEFT, _RESET}:
                return "left"
            client.shutdown(socket.SHUT_WR)
            while client.recv(65_536):
                pass
        except TimeoutError:
            return "left open"
        except OSError:
            return "reset"
    return "closed"
