"""Tells why a call of an on-chain tool failed: because of its function, or of others.

In all of this, `place` is the command that calls the function. The commands before it put the
inputs together. The next one closes the invocation, and the one after that brings the answer into
the execution. The steps of the execution follow. Storage is charged after the last command.
"""

from enum import Enum, auto

from nexus_tools.contracts.move_bindings import invocation as invocations
from nexus_tools.contracts.move_bindings import on_chain_call
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure, MoveAbort
from nexus_tools.tool import FailureReason


def reason_of(status: ExecutionFailure, place: int) -> FailureReason | None:
    """Return why the invocation of a failed simulation fails.

    None if neither the tool nor the requester is the reason.
    """
    abort, command = status.error.data, status.command
    code = abort.code if isinstance(abort, MoveAbort) else None
    if command in (place, None):
        return FailureReason.ABORTED
    if command < place:
        return None if code is None else FailureReason.INPUT_INVALID
    assert command is not None
    module = abort.location.module if isinstance(abort, MoveAbort) else ""
    return _AT_CLOSING.get((module, code)) if command == place + 1 else None


class Blame(Enum):
    """Who has caused that a transaction failed after its simulation succeeded."""

    TOOL = auto()
    UNCLEAR = auto()
    """The function, or a change of the execution meanwhile, took more gas than expected."""
    OTHERS = auto()
    """The requester, the execution's owner, another leader, or the network."""


def blame(status: ExecutionFailure, place: int, *, execution_changed: bool) -> Blame:
    """Return who has caused that a transaction failed after its simulation succeeded.

    `execution_changed` says whether the execution is not the one that the simulation saw.
    """
    command, error = status.command, status.error
    if error.kind in _CANCELLED or (command is not None and command < place):
        return Blame.OTHERS
    if command == place:
        return Blame.TOOL
    abort = error.data
    if command is None or not isinstance(abort, MoveAbort):
        return Blame.UNCLEAR if execution_changed else Blame.TOOL
    module = abort.location.module
    # Steps abort because of what the execution's owner or the next tool's owner has changed.
    is_step = command > place + 2 or module == "execution"
    is_other = module == "invocation" and abort.code in _OTHERS_DOING
    return Blame.OTHERS if is_step or is_other else Blame.TOOL


_AT_CLOSING = {
    ("on_chain_call", on_chain_call.ENotFinished.code): FailureReason.ABORTED,
    ("invocation", invocations.EOutcomeTooLarge.code): FailureReason.OUTPUT_TOO_LARGE,
}
# A lost race, or a change of the leader, its workers or the package.
_OTHERS_DOING = {
    invocations.EClosed.code,
    invocations.ENotResponsible.code,
    invocations.ENotWorker.code,
    invocations.ELeaderSuspended.code,
    invocations.ETooEarly.code,
    invocations.EWrongVersion.code,
}
_CANCELLED = {
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION,
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_RANDOMNESS_UNAVAILABLE,
    ErrorKind.INSUFFICIENT_FUNDS_FOR_WITHDRAW,
}
