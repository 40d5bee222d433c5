"""Results of pysui's commands: transactions as our types, and failures as our errors."""

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

_TIMEOUT_S = 60.0  # the longest time limit that pysui sets for a call


def executed_transaction(result: Any, url: str) -> Executed:
    """Return a transaction of pysui, or the one of a `SuiRpcResult`, even if it failed."""
    executed = content_of(result, url) if hasattr(result, "is_ok") else result
    return parse_executed(_message("ExecutedTransaction", executed))


def simulated_transaction(result: Any, url: str) -> SimulatedTransaction:
    """Return the simulation of a `SuiRpcResult`, even of a transaction that fails."""
    return parse_simulated(_message("SimulateTransactionResponse", content_of(result, url)))


def _message(name: str, value: Any) -> Any:
    """Return a message of pysui as one of ours: both classes have the same encoding."""
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
    """Return the error for a failure that only pysui can explain."""
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
            hint="Check the network's URL and your connection. For a localnet without TLS, give the"
            " client a channel without TLS.",
            details={"url": url},
        ) from error


class _RpcCallError(RpcError):  # type: ignore[misc]  # grpc has no types
    """A failed call of pysui, as the gRPC library of our client reports it."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self._status = status
        self._message = message

    def code(self) -> Status:
        """Return the status, which has the names of all gRPC libraries."""
        return self._status

    def details(self) -> str:
        """Return the message of the node."""
        return self._message
