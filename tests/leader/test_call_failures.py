"""The cause of a failed call of an on-chain tool whose simulation succeeded."""

import pytest

from nexus_tools.contracts.move_bindings import invocation, on_chain_call
from nexus_tools.leader.executions.call_failures import FailureCause, failure_cause
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    MoveAbort,
    MoveLocation,
)

PLACE = 3
CONGESTION = ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION


def aborted(command, module, code):
    abort = MoveAbort(MoveLocation(Address.of(1), module, 0, 0, None), code)
    return ExecutionFailure(ExecutionError(ErrorKind.MOVE_ABORT, abort), command)


def failed(command, kind=ErrorKind.INSUFFICIENT_GAS):
    return ExecutionFailure(ExecutionError(kind), command)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (aborted(PLACE - 1, "inputs", 0), FailureCause.OTHERS),
        (failed(PLACE - 1), FailureCause.OTHERS),
        (aborted(PLACE, "badge", 1), FailureCause.TOOL),
        # A function may imitate the abort code of a lost race.
        (aborted(PLACE, "invocation", invocation.EAlreadyClosed.code), FailureCause.TOOL),
        (failed(PLACE), FailureCause.TOOL),
        (aborted(PLACE + 1, "on_chain_call", on_chain_call.ENotFinished.code), FailureCause.TOOL),
        (aborted(PLACE + 1, "invocation", invocation.EOutcomeTooLarge.code), FailureCause.TOOL),
        (aborted(PLACE + 1, "invocation", invocation.EAlreadyClosed.code), FailureCause.OTHERS),
        (aborted(PLACE + 1, "invocation", invocation.ENotWorker.code), FailureCause.OTHERS),
        (aborted(PLACE + 2, "execution", 18), FailureCause.OTHERS),
        (aborted(PLACE + 2, "walks", 0), FailureCause.TOOL),
        (aborted(PLACE + 3, "execution", 9), FailureCause.OTHERS),
        (aborted(PLACE + 3, "invocation", invocation.EToolChanged.code), FailureCause.OTHERS),
        (failed(PLACE + 3), FailureCause.TOOL),
        (failed(None), FailureCause.TOOL),
        (failed(None, ErrorKind.WRITTEN_OBJECTS_TOO_LARGE), FailureCause.TOOL),
        (failed(None, CONGESTION), FailureCause.OTHERS),
    ],
)
def test_blame_depends_on_the_command_and_the_code(status, expected):
    assert failure_cause(status, PLACE, execution_changed=False) is expected


@pytest.mark.parametrize("command", [PLACE + 1, PLACE + 3, None])
def test_blame_for_gas_is_unclear_when_the_execution_has_changed(command):
    assert failure_cause(failed(command), PLACE, execution_changed=True) is FailureCause.UNCLEAR


def test_function_is_blamed_for_its_own_gas_when_the_execution_has_changed():
    assert failure_cause(failed(PLACE), PLACE, execution_changed=True) is FailureCause.TOOL
