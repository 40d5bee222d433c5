"""Readable errors for failed transactions, from their effects and the node's abort details."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from nexus_tools.sui.client.coins.address_balances import check_abort
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.transactions.unverified_package import explain_unverified
from nexus_tools.sui.errors import NexusError, NotFoundError, RefusedOnChainError
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import TransactionEffects
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    MoveAbort,
)
from nexus_tools.sui.types.transaction import Command

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import CleverError

_MAX_VALUE = 1_000


def parse_clever_error(message: Any) -> "CleverError | None":
    """Parse the details of an `#[error]` abort from a `sui.rpc.v2.TransactionEffects` message.

    The node reads these details from the bytecode, because the BCS effects do not contain them.
    Returns None if the node did not report details, or if the transaction did not abort.
    """
    abort = message.status.error.abort
    if not abort.HasField("clever_error"):
        return None
    from nexus_tools.sui.bytecode import CleverError  # noqa: PLC0415 - only needed for this error

    report = abort.clever_error
    return CleverError(
        report.line_number,
        report.error_code if report.HasField("error_code") else None,
        report.constant_name or None,
        report.rendered if report.HasField("rendered") else None,
        report.raw if report.HasField("raw") else None,
    )


def raise_for_status(
    effects: TransactionEffects, clever: "CleverError | None", digest: Digest | None = None
) -> None:
    """Raise `RefusedOnChainError` if the effects are those of a failed transaction.

    The error for an abort has the code `move_abort` and the details `package`, `module`,
    `function`, `abort` and `abort_code`. `abort_code` is the abort code in the effects. `abort` is
    the code inside a clever error's abort code, if any. Otherwise, `abort` is equal to
    `abort_code`. For an `#[error]`, the details also contain the `constant`, its `value` (the
    message) and the `line` that the node reports. The code of any other error is the failure's
    `ErrorKind` in lower case. For an executed transaction, the details also contain its `digest`,
    and its cost as `gas_mist`.
    """
    if not isinstance(effects.status, ExecutionFailure):
        return
    error, command = effects.status.error, effects.status.command
    details: dict[str, Any] = {"command": command}
    if digest is not None:
        details |= {"digest": str(digest), "gas_mist": effects.gas_used.net}
    if isinstance(error.data, MoveAbort):
        raise _abort(error.data, clever, details)
    position = "" if command is None else f" in command {command}"
    raise RefusedOnChainError(
        error.kind.name.lower(),
        f"the chain refused the transaction{position}: {_words(error)}",
        hint=_HINTS.get(error.kind, ""),
        details=details,
    )


@asynccontextmanager
async def explain_refusals(
    connection: Connection, commands: Sequence[Command]
) -> AsyncGenerator[None, None]:
    """Add the reason to the error if the chain refuses a transaction with these commands.

    Raises `address_balances_unsupported` if the chain refuses a deposit because the chain does not
    support address balances.
    """
    try:
        yield
    except RefusedOnChainError as error:
        try:
            await check_abort(connection, error)
            explained = await explain_unverified(connection, commands, error)
        except NexusError as other:
            other.details = error.details | other.details
            raise
        if explained is None:
            raise
        raise explained from error


@contextmanager
def name_uncertain_transaction(digest: Digest) -> Iterator[None]:
    """Add the digest to an error after which the execution of the transaction is uncertain.

    After a refusal, the transaction was certainly not executed, so the error is not changed. The
    digest is added to a `CancelledError` as a note.
    """
    try:
        yield
    except (RefusedOnChainError, NotFoundError):
        raise
    except NexusError as error:
        add_uncertain_transactions(error, [digest])
        raise
    except CancelledError as cancelled:
        cancelled.add_note(is_uncertain([digest]))
        raise


def add_uncertain_transactions(error: NexusError, digests: Sequence[Digest]) -> None:
    """Add the digests of transactions that the network may have executed to an error."""
    error.details["digest"] = str(digests[-1])
    error.hint = is_uncertain(digests)


def is_uncertain(digests: Sequence[Digest]) -> str:
    """Return a hint to check whether the network has executed one of these transactions."""
    names = " or ".join(map(str, digests))
    commands = " and ".join(f"`nexus-tools network transaction {digest}`" for digest in digests)
    return (
        f"the transaction {names} may have been executed: look it up with {commands}"
        " before you send another transaction"
    )


def failure_gas_mist(error: NexusError) -> int | None:
    """Return the gas cost, in MIST, of a transaction that ended with this error.

    Returns 0 if the transaction was not executed, and None if its execution is uncertain (see
    `name_uncertain_transaction`).
    """
    return error.details.get("gas_mist") if "digest" in error.details else 0


def _abort(
    abort: MoveAbort, clever: "CleverError | None", details: dict[str, Any]
) -> RefusedOnChainError:
    location = abort.location
    function = location.function_name or str(location.function)
    return RefusedOnChainError(
        "move_abort",
        f"{location.package.short()}::{location.module}::{function} {_aborts(abort, clever)}",
        details=details
        | {
            "package": str(location.package),
            "module": location.module,
            "function": location.function_name,
            "abort": abort.code if clever is None or clever.code is None else clever.code,
            "abort_code": abort.code,
        }
        | _clever_details(clever),
    )


def _aborts(abort: MoveAbort, clever: "CleverError | None") -> str:
    """Describe an abort, such as `aborts with ELocked in line 83: The box is locked.`."""
    if clever is None:
        return f"aborts with {abort.code}"
    name = clever.constant_name or clever.code
    reason = "aborts" if name is None else f"aborts with {name}"
    value = "" if clever.rendered is None else f": {one_line(clever.rendered, _MAX_VALUE)}"
    return f"{reason} in line {clever.line_number}{value}"


def _clever_details(clever: "CleverError | None") -> dict[str, Any]:
    if clever is None:
        return {}
    details = {
        "constant": clever.constant_name,
        "value": clever.rendered,
        "line": clever.line_number,
    }
    return {name: value for name, value in details.items() if value is not None}


def _words(error: ExecutionError) -> str:
    kind = error.kind.name.lower().replace("_", " ")
    return kind if error.data is None else f"{kind} ({error.data})"


_HINTS = {
    ErrorKind.INSUFFICIENT_GAS: "Increase the budget, or omit the budget so that it is estimated.",
    ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR: (
        "To find the reason on a localnet, run `nexus-tools localnet trace DIGEST`. If the"
        " transaction was not sent, run `nexus-tools localnet trace --simulate FILE`."
    ),
    ErrorKind.INSUFFICIENT_COIN_BALANCE: "Use an amount that does not exceed the coin's balance.",
}
