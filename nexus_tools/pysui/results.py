"""Conversion of pysui's results: transactions into our types, and failures into our errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grpc import RpcError
from grpclib.const import Status
from grpclib.exceptions import ProtocolError, StreamTerminatedError

from nexus_tools.errors import NexusError, UnreachableError, WrongStateError
from nexus_tools.sui.client import (
    Executed,
    SimulatedTransaction,
    explain_rpc_error,
    parse_executed,
    parse_simulated,
)
from nexus_tools.sui.rpc import SUI_PACKAGE, load_messages

TESTED_PYSUI = ">=1.3,<=1.5.1"
"""The versions of pysui with which this package was tested."""

_TIMEOUT_S = 60.0  # pysui's maximum timeout of a call


def executed_transaction(result: Any, url: str) -> Executed:
    """Convert a transaction of pysui or of a `SuiRpcResult`, even if the transaction failed."""
    executed = content_of(result, url) if hasattr(result, "is_ok") else result
    return parse_executed(_message("ExecutedTransaction", executed))


def simulated_transaction(result: Any, url: str) -> SimulatedTransaction:
    """Convert the simulation in a `SuiRpcResult`, even if the transaction would fail."""
    return parse_simulated(_message("SimulateTransactionResponse", content_of(result, url)))


def _message(name: str, value: Any) -> Any:
    """Convert a Protobuf message of pysui into our class, which has the same encoding."""
    return load_messages().message(f"{SUI_PACKAGE}.{name}").FromString(bytes(value))


def content_of(result: Any, url: str) -> Any:
    """Return the content of a `SuiRpcResult`. Raises the error of the node at `url`."""
    if result.is_ok():
        return result.result_data
    match result.result_string:
        case (Status() as status, message, *_):
            raise explain_rpc_error(_RpcCallError(status, str(message or "")), url, _TIMEOUT_S)
        case reason:
            raise pysui_failure(_text(reason))


def pysui_failure(reason: object) -> NexusError:
    """Return the error for a failure that pysui reports without an error code."""
    return WrongStateError(
        "pysui_failed",
        f"pysui cannot build or execute the transaction: {reason}",
        hint="Check the gas, the signers and the configuration of the pysui client. The tested"
        f" versions are pysui{TESTED_PYSUI}.",
    )


def _text(reason: Any) -> str:
    return ", ".join(map(str, reason)) if isinstance(reason, tuple) else str(reason)


@contextmanager
def connection_errors(url: str) -> Iterator[None]:
    """Raise `node_unreachable` if the connection of a pysui client to the node at `url` fails."""
    try:
        yield
    except (OSError, StreamTerminatedError, ProtocolError) as error:
        raise UnreachableError(
            "node_unreachable",
            f"the node at {url} does not respond to pysui: {error}",
            hint="Check the network's URL and your connection. For a localnet without TLS, pass a"
            " channel without TLS to the pysui client.",
            details={"url": url},
        ) from error


class _RpcCallError(RpcError):  # type: ignore[misc]  # grpc has no types
    """A failed RPC of pysui, as an exception of the gRPC library that our client uses."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self._status = status
        self._message = message

    def code(self) -> Status:
        """Return the status. The names of statuses are the same in all gRPC libraries."""
        return self._status

    def details(self) -> str:
        """Return the message of the node."""
        return self._message
