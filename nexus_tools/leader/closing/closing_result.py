"""The result of a closing transaction: the fees that it earned, or the reason for its failure."""

from nexus_tools.contracts import Deployment, parse_event
from nexus_tools.contracts.move_bindings import invocation as moves
from nexus_tools.sui.bindings.runtime import MoveError
from nexus_tools.sui.client import Executed
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure, MoveAbort

_REASON_BY_CODE = {reason.code: reason for reason in moves.ERRORS}


def fees_mist(deployment: Deployment, executed: Executed) -> dict[Address, int]:
    """Return the fee that a transaction earned for each invocation that it closed, in MIST."""
    events = [parse_event(deployment, event) for event in executed.events]
    return {
        event.invocation: event.fee_mist
        for event in events
        if isinstance(event, moves.InvocationSettled | moves.InvocationFailed)
    }


def failure_reason(status: ExecutionFailure) -> MoveError | ErrorKind:
    """Return the error constant of an abort in the module `invocation`, else the error kind."""
    abort = status.error.data
    if isinstance(abort, MoveAbort) and abort.location.module == "invocation":
        return _REASON_BY_CODE.get(abort.code, status.error.kind)
    return status.error.kind
