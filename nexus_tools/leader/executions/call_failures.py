"""The causes of failed calls of on-chain tools: the Move function, or another party.

In this module, `place` is the index of the command that calls the function. The commands before
`place` assemble the inputs. The command at `place + 1` closes the invocation, and the command at
`place + 2` passes the answer to the execution. The other commands are steps of the execution. The
chain charges for storage after the last command.
"""

from enum import Enum, auto

from nexus_tools.contracts.move_bindings import invocation as invocations
from nexus_tools.contracts.move_bindings import on_chain_call
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure, MoveAbort
from nexus_tools.tool import FailureReason


def abort_reason_of(status: ExecutionFailure, place: int) -> FailureReason | None:
    """Return the failure reason of an invocation whose call failed in the simulation.

    Return None if neither the tool nor the requester caused the failure.
    """
    abort, command = status.error.data, status.command
    code = abort.code if isinstance(abort, MoveAbort) else None
    if command in (place, None):
        return FailureReason.ABORTED
    if command < place:
        return None if code is None else FailureReason.INPUT_INVALID
    assert command is not None
    module = abort.location.module if isinstance(abort, MoveAbort) else ""
    return _CLOSING_REASONS.get((module, code)) if command == place + 1 else None


class FailureCause(Enum):
    """The party that made a transaction fail after its simulation succeeded."""

    TOOL = auto()
    UNCLEAR = auto()
    """The function or a changed execution used more gas than expected."""
    OTHERS = auto()
    """The requester, the execution's owner, another leader, or the network caused the failure."""


def failure_cause(status: ExecutionFailure, place: int, *, execution_changed: bool) -> FailureCause:
    """Return why a transaction failed after its simulation succeeded.

    `execution_changed` is whether the execution changed after the simulation.
    """
    command, error = status.command, status.error
    if error.kind in _EXTERNAL_KINDS or (command is not None and command < place):
        return FailureCause.OTHERS
    if command == place:
        return FailureCause.TOOL
    abort = error.data
    if command is None or not isinstance(abort, MoveAbort):
        return FailureCause.UNCLEAR if execution_changed else FailureCause.TOOL
    module = abort.location.module
    # Steps abort if the execution's owner or the next tool's owner has changed their objects.
    is_step = command > place + 2 or module == "execution"
    is_other = module == "invocation" and abort.code in _EXTERNAL_CODES
    return FailureCause.OTHERS if is_step or is_other else FailureCause.TOOL


_CLOSING_REASONS = {
    ("on_chain_call", on_chain_call.ENotFinished.code): FailureReason.ABORTED,
    ("invocation", invocations.EOutcomeTooLarge.code): FailureReason.OUTPUT_TOO_LARGE,
}
# Abort codes if another leader was faster, or if the leader, its workers or the package changed.
_EXTERNAL_CODES = {
    invocations.EAlreadyClosed.code,
    invocations.ENotResponsible.code,
    invocations.ENotWorker.code,
    invocations.ELeaderSuspended.code,
    invocations.ETooEarly.code,
    invocations.EWrongVersion.code,
}
_EXTERNAL_KINDS = {
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION,
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_RANDOMNESS_UNAVAILABLE,
    ErrorKind.INSUFFICIENT_FUNDS_FOR_WITHDRAW,
}
