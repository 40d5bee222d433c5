"""Descriptions of failures: Rust's `{:?}` format of `ExecutionFailureStatus`, by hand."""

import pytest

from nexus_tools.sui.localnet.rpc.rendering.execution_error_text import describe
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    MoveAbort,
    MoveLocation,
    PackageUpgradeError,
    TypeArgumentError,
    TypeArgumentErrorKind,
    UpgradeErrorKind,
)

TWO = f"{2:0>64}"
PLACE = MoveLocation(Address.of(2), "balance", 7, 10, "split")
PLACE_TEXT = (
    f'MoveLocation {{ module: ModuleId {{ address: {TWO}, name: Identifier("balance") }},'
    ' function: 7, instruction: 10, function_name: Some("split") }'
)


def describe_failure(kind, data=None, command=None):
    return describe(ExecutionFailure(ExecutionError(kind, data), command))


def test_text_names_the_failed_command():
    assert describe_failure(ErrorKind.INSUFFICIENT_GAS) == "InsufficientGas"
    assert describe_failure(ErrorKind.INSUFFICIENT_GAS, command=0) == "InsufficientGas in command 0"


def test_text_of_an_abort_has_location_and_code():
    found = describe_failure(ErrorKind.MOVE_ABORT, MoveAbort(PLACE, 2), 3)
    assert found == f"MoveAbort({PLACE_TEXT}, 2) in command 3"


def test_text_of_an_instruction_error_may_have_a_location():
    kind = ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR
    expected = f"MovePrimitiveRuntimeError(MoveLocationOpt(Some({PLACE_TEXT})))"
    assert describe_failure(kind, PLACE) == expected
    assert describe_failure(kind) == "MovePrimitiveRuntimeError(MoveLocationOpt(None))"


def test_text_of_a_function_without_a_name_has_none():
    place = MoveLocation(Address.of(2), "m", 0, 0, None)
    found = describe_failure(ErrorKind.MOVE_ABORT, MoveAbort(place, 1))
    assert found.endswith("function_name: None }, 1)")


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        (ErrorKind.VM_INVARIANT_VIOLATION, None, "VMInvariantViolation"),
        (
            ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR,
            None,
            "VMVerificationOrDeserializationError",
        ),
        (
            ErrorKind.MOVE_OBJECT_TOO_BIG,
            (3, 2),
            "MoveObjectTooBig { object_size: 3, max_object_size: 2 }",
        ),
        (
            ErrorKind.MOVE_RAW_VALUE_TOO_BIG,
            (3, 2),
            "MoveRawValueTooBig { value_size: 3, max_scaled_size: 2 }",
        ),
        (
            ErrorKind.UNUSED_VALUE_WITHOUT_DROP,
            (1, 0),
            "UnusedValueWithoutDrop { result_idx: 1, secondary_idx: 0 }",
        ),
        (
            ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE,
            4,
            "InvalidPublicFunctionReturnType { idx: 4 }",
        ),
        (
            ErrorKind.CIRCULAR_OBJECT_OWNERSHIP,
            Address.of(2),
            f"CircularObjectOwnership {{ object: 0x{TWO} }}",
        ),
        (
            ErrorKind.ADDRESS_DENIED_FOR_COIN,
            (Address.of(2), '2::a::A"'),
            f'AddressDeniedForCoin {{ address: 0x{TWO}, coin_type: "2::a::A\\"" }}',
        ),
        (
            ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION,
            (Address.of(2),) * 2,
            (
                "ExecutionCancelledDueToSharedObjectCongestion { congested_objects:"
                f" CongestedObjects([0x{TWO}, 0x{TWO}]) }}"
            ),
        ),
        (
            ErrorKind.COMMAND_ARGUMENT_ERROR,
            CommandArgumentError(1, ArgumentErrorKind.INVALID_BCS_BYTES),
            "CommandArgumentError { arg_idx: 1, kind: InvalidBCSBytes }",
        ),
        (
            ErrorKind.COMMAND_ARGUMENT_ERROR,
            CommandArgumentError(0, ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS, (2, 3)),
            (
                "CommandArgumentError { arg_idx: 0, kind: SecondaryIndexOutOfBounds"
                " { result_idx: 2, secondary_idx: 3 } }"
            ),
        ),
        (
            ErrorKind.TYPE_ARGUMENT_ERROR,
            TypeArgumentError(0, TypeArgumentErrorKind.CONSTRAINT_NOT_SATISFIED),
            "TypeArgumentError { argument_idx: 0, kind: ConstraintNotSatisfied }",
        ),
        (
            ErrorKind.PACKAGE_UPGRADE_ERROR,
            PackageUpgradeError(UpgradeErrorKind.INCOMPATIBLE_UPGRADE),
            "PackageUpgradeError { upgrade_error: IncompatibleUpgrade }",
        ),
        (
            ErrorKind.PACKAGE_UPGRADE_ERROR,
            PackageUpgradeError(UpgradeErrorKind.DIGEST_DOES_NOT_MATCH, b"\1\2"),
            "PackageUpgradeError { upgrade_error: DigestDoesNotMatch { digest: [1, 2] } }",
        ),
        (
            ErrorKind.PACKAGE_UPGRADE_ERROR,
            PackageUpgradeError(UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY, 7),
            "PackageUpgradeError { upgrade_error: UnknownUpgradePolicy { policy: 7 } }",
        ),
        (
            ErrorKind.PACKAGE_UPGRADE_ERROR,
            PackageUpgradeError(
                UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH, (Address.of(2), Address.of(2))
            ),
            (
                "PackageUpgradeError { upgrade_error: PackageIDDoesNotMatch"
                f" {{ package_id: 0x{TWO}, ticket_id: 0x{TWO} }} }}"
            ),
        ),
    ],
)
def test_text_has_the_fields_of_an_error_in_braces(kind, data, text):
    assert describe_failure(kind, data) == text
