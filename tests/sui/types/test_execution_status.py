"""Numbers of errors: the order of `ExecutionFailureStatus`, `sui-types/src/execution_status.rs`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import (
    EXECUTION_STATUS,
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    MoveAbort,
    MoveLocation,
    PackageUpgradeError,
    Success,
    TypeArgumentError,
    TypeArgumentErrorKind,
    UpgradeErrorKind,
)

LOCATION = MoveLocation(Address.of(2), "balance", 7, 10, "split")


def test_success_is_one_byte():
    assert EXECUTION_STATUS.encode(Success()) == b"\0"


def test_abort_contains_its_location_code_and_command():
    status = ExecutionFailure(ExecutionError(ErrorKind.MOVE_ABORT, MoveAbort(LOCATION, 2)), 1)
    expected = (
        b"\1\x0c" + bytes(31) + b"\2" + b"\x07balance" + b"\7\0" + b"\x0a\0" + b"\1\5split"
        b"\2" + bytes(7) + b"\1\1" + bytes(7)
    )
    assert EXECUTION_STATUS.encode(status) == expected
    assert EXECUTION_STATUS.decode(expected) == status


def test_primitive_error_may_have_no_location():
    status = ExecutionFailure(ExecutionError(ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, None), None)
    assert EXECUTION_STATUS.encode(status) == b"\1\x0b\0\0"
    assert EXECUTION_STATUS.decode(b"\1\x0b\0\0") == status


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        (ErrorKind.INSUFFICIENT_GAS, 0),
        (ErrorKind.MOVE_ABORT, 12),
        (ErrorKind.COMMAND_ARGUMENT_ERROR, 19),
        (ErrorKind.PACKAGE_UPGRADE_ERROR, 27),
        (ErrorKind.SHARED_OBJECT_OPERATION_NOT_ALLOWED, 31),
        (ErrorKind.EXECUTION_CANCELLED_DUE_TO_RANDOMNESS_UNAVAILABLE, 36),
        (ErrorKind.INVALID_LINKAGE, 39),
    ],
)
def test_error_has_the_number_of_its_enum_index(kind, number):
    assert kind == number


@pytest.mark.parametrize(
    "error",
    [
        ExecutionError(ErrorKind.INSUFFICIENT_GAS),
        ExecutionError(ErrorKind.MOVE_OBJECT_TOO_BIG, (300_000, 256_000)),
        ExecutionError(ErrorKind.CIRCULAR_OBJECT_OWNERSHIP, Address.of(5)),
        ExecutionError(ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, LOCATION),
        ExecutionError(
            ErrorKind.COMMAND_ARGUMENT_ERROR,
            CommandArgumentError(3, ArgumentErrorKind.TYPE_MISMATCH),
        ),
        ExecutionError(
            ErrorKind.COMMAND_ARGUMENT_ERROR,
            CommandArgumentError(0, ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS, (1, 2)),
        ),
        ExecutionError(
            ErrorKind.TYPE_ARGUMENT_ERROR,
            TypeArgumentError(1, TypeArgumentErrorKind.CONSTRAINT_NOT_SATISFIED),
        ),
        ExecutionError(ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (1, 0)),
        ExecutionError(
            ErrorKind.PACKAGE_UPGRADE_ERROR,
            PackageUpgradeError(UpgradeErrorKind.DIGEST_DOES_NOT_MATCH, bytes(32)),
        ),
        ExecutionError(
            ErrorKind.PACKAGE_UPGRADE_ERROR,
            PackageUpgradeError(UpgradeErrorKind.INCOMPATIBLE_UPGRADE),
        ),
        ExecutionError(
            ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION, (Address.of(6),)
        ),
        ExecutionError(ErrorKind.ADDRESS_DENIED_FOR_COIN, (Address.of(5), "0x77::usd::USD")),
    ],
)
def test_errors_round_trip_with_their_data(error):
    status = ExecutionFailure(error, 0)
    assert EXECUTION_STATUS.decode(EXECUTION_STATUS.encode(status)) == status


def test_error_without_its_data_cannot_be_encoded():
    with pytest.raises(BcsError):
        EXECUTION_STATUS.encode(ExecutionFailure(ExecutionError(ErrorKind.MOVE_ABORT, None), None))


@given(st.binary(max_size=80))
def test_noise_is_a_status_or_is_refused(noise):
    try:
        status = EXECUTION_STATUS.decode(b"\1" + noise)
    except BcsError:
        return
    assert EXECUTION_STATUS.encode(status) == b"\1" + noise
