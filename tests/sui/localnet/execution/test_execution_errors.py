"""Every kind of `ExecutionFailureStatus` with a transaction, or the reason why there is none.

The data of the errors and the failing commands are those of Sui's own node.
"""

import pytest

from nexus_tools.sui.bcs import byte_vector, u8, u64
from nexus_tools.sui.bytecode import (
    CompiledModule,
    ModuleHandle,
    clever_error,
    package_digest,
    relocate,
    serialize,
)
from nexus_tools.sui.localnet.vm import ErrorKind as VmErrorKind
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    PackageUpgradeError,
    TypeArgumentError,
    TypeArgumentErrorKind,
    UpgradeErrorKind,
)
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.transaction import InputArgument
from nexus_tools.sui.types.type_tag import GAS_COIN, StructTag

DEPENDENCIES = (MOVE_STDLIB, SUI_FRAMEWORK)
SUI_PAYMENT = 50 * 10**9
MAX_U64 = 2**64 - 1

NOT_BROUGHT_ABOUT = {
    ErrorKind.INVALID_GAS_OBJECT: "the coins of the payment are checked before",
    ErrorKind.INVARIANT_VIOLATION: "a fault of the node itself",
    ErrorKind.VM_INVARIANT_VIOLATION: "a fault of the machine; the verifier lets no such code in",
    ErrorKind.CIRCULAR_OBJECT_OWNERSHIP: "Move code cannot hold a parent as its own child",
    ErrorKind.INVALID_TRANSFER_OBJECT: "reported as an error of the argument",
    ErrorKind.MOVE_VECTOR_ELEM_TOO_BIG: "of the former executor of commands alone",
    ErrorKind.MOVE_RAW_VALUE_TOO_BIG: "of the former executor of commands alone",
    ErrorKind.SUI_MOVE_VERIFICATION_TIMEDOUT: "brought about in test_verification_limits.py",
    ErrorKind.CERTIFICATE_DENIED: "no validators who deny one",
    ErrorKind.INPUT_OBJECT_DELETED: "no consensus that orders transactions behind a deletion",
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION: "no congestion",
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_RANDOMNESS_UNAVAILABLE: "no distributed key generation",
    ErrorKind.NON_EXCLUSIVE_WRITE_INPUT_OBJECT_MODIFIED: "not switched on in protocol 105",
    ErrorKind.ADDRESS_DENIED_FOR_COIN: "brought about in tests/sui/localnet/node/test_deny_list.py",
    ErrorKind.COIN_TYPE_GLOBAL_PAUSE: "brought about in tests/sui/localnet/node/test_deny_list.py",
    ErrorKind.INSUFFICIENT_FUNDS_FOR_WITHDRAW: "no two transactions that take the same money",
}


def _cap(world):
    live = world.store.live.values()
    return next(item.id for item in live if item.type and item.type.name == "UpgradeCap")


def _upgrade(world, modules, build, *, dependencies=DEPENDENCIES):
    """Upgrade the probe to other modules."""
    cap = build.resolved(world.argument(_cap(world)))
    digest = build.pure(byte_vector, package_digest(modules, dependencies))
    ticket = build.move_call(
        SUI_FRAMEWORK, "package", "authorize_upgrade", [cap, build.pure(u8, 0), digest]
    )
    receipt = build.upgrade(modules, dependencies, world.package, ticket)
    build.move_call(SUI_FRAMEWORK, "package", "commit_upgrade", [cap, receipt])
    return build


def _upgraded_id(world, name):
    """Return the ID of the probe's next version."""
    result = world.succeed(_upgrade(world, (world.probe_modules[name],), TransactionBuilder()))
    written = result.written.values()
    return next(value.id for value in written if isinstance(value.data, MovePackage))


def insufficient_gas(world, build):
    world.call(build, "spin")


def feature_not_yet_supported(world, build):
    # The same code under another name is a new module, and has an `init`.
    other = world.probe_modules["probe"].replace(b"\x05probe", b"\x05other")
    other = other.replace(b"\x05PROBE", b"\x05OTHER")
    _upgrade(world, (world.probe_modules["probe"], other), build)


def move_object_too_big(world, build):
    world.call(build, "big_object", [build.u64(8_000)])


def insufficient_coin_balance(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 9)))
    parts = build.split_coins(coin, [4, 6])
    build.transfer_objects([parts[0], parts[1]], world.BOB)


def coin_balance_overflow(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 9)))
    parts = build.split_coins(coin, [MAX_U64, 1])
    build.transfer_objects([parts[0], parts[1]], world.BOB)


def publish_error_non_zero_address(world, build):
    world.publishing(build, [relocate(world.probe_modules["probe"], Address.of(7))])


def sui_move_verification_error(world, build):
    world.publishing(build, [world.probe_modules["probe"].replace(b"\x02id", b"\x02no")])


def verification_or_deserialization_error(world, build):
    world.publishing(build, [b"\x00\x01\x02"])


def function_not_found(world, build):
    world.call(build, "nope")


def arity_mismatch(world, build):
    world.call(build, "nothing", [build.u64(1)])


def type_arity_mismatch(world, build):
    world.call(build, "name_of")


def non_entry_function_invoked(world, build):
    world.call(build, "hidden")


def command_argument_error(world, build):
    world.call(build, "expect", [build.u64(1), build.gas])


def type_argument_error(world, build):
    world.call(build, "name_of", (), [StructTag(world.package, "probe", "Nope")])


def unused_value_without_drop(world, build):
    world.call(build, "nothing")
    world.call(build, "potato", [build.u64(1)])


def invalid_public_function_return_type(world, build):
    thing = build.resolved(world.argument(world.new_thing()))
    world.call(build, "borrow_value", [thing])


def missing_dependency(world, build):
    world.publishing(build, [world.probe_modules["probe"]], [MOVE_STDLIB])


def package_upgrade_error(world, build):
    _upgrade(world, (world.probe_modules["function_missing"],), build)


def shared_object_operation_not_allowed(world, build):
    world.call(build, "freeze_box", [build.resolved(world.argument(world.box))])


def invalid_linkage(world, build):
    next_version = _upgraded_id(world, "compatible")
    versions = (*DEPENDENCIES, world.package, next_version)
    world.publishing(build, [world.probe_modules["probe"]], versions)


def _module(name, *named):
    """Return an empty module that names others."""
    own = (ModuleHandle(0, 0),)
    known = ("version", "flavor", "self_handle", "module_handles", "identifiers", "addresses")
    return serialize(
        CompiledModule(
            version=7,
            flavor=5,
            self_handle=0,
            module_handles=own + tuple(ModuleHandle(row, row) for row in range(1, len(named) + 1)),
            identifiers=(name, *(module for _, module in named)),
            addresses=(bytes(32), *(bytes(package) for package, _ in named)),
            **{table: () for table in CompiledModule.__struct_fields__ if table not in known},
        )
    )


def dependency_downgrade(world, build):
    probe = (world.package, "probe")
    later = _upgraded_id(world, "compatible")
    middle, _ = world.publish([_module("middle", probe)], [*DEPENDENCIES, later])
    modules = [_module("outer", probe, (middle.id, "middle"))]
    world.publishing(build, modules, [*DEPENDENCIES, world.package, middle.id])


# Kind -> (function that causes it, its data, its command).
CASES = {
    ErrorKind.INSUFFICIENT_GAS: (insufficient_gas, None, 0),
    ErrorKind.FEATURE_NOT_YET_SUPPORTED: (feature_not_yet_supported, None, 1),
    ErrorKind.MOVE_OBJECT_TOO_BIG: (move_object_too_big, (256_035, 256_000), None),
    ErrorKind.INSUFFICIENT_COIN_BALANCE: (insufficient_coin_balance, None, 0),
    ErrorKind.COIN_BALANCE_OVERFLOW: (coin_balance_overflow, None, 0),
    ErrorKind.PUBLISH_ERROR_NON_ZERO_ADDRESS: (publish_error_non_zero_address, None, 0),
    ErrorKind.SUI_MOVE_VERIFICATION_ERROR: (sui_move_verification_error, None, 0),
    ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR: (
        verification_or_deserialization_error,
        None,
        0,
    ),
    ErrorKind.FUNCTION_NOT_FOUND: (function_not_found, None, 0),
    ErrorKind.ARITY_MISMATCH: (arity_mismatch, None, 0),
    ErrorKind.TYPE_ARITY_MISMATCH: (type_arity_mismatch, None, 0),
    ErrorKind.NON_ENTRY_FUNCTION_INVOKED: (non_entry_function_invoked, None, 0),
    ErrorKind.COMMAND_ARGUMENT_ERROR: (
        command_argument_error,
        CommandArgumentError(1, ArgumentErrorKind.TYPE_MISMATCH),
        0,
    ),
    ErrorKind.TYPE_ARGUMENT_ERROR: (
        type_argument_error,
        TypeArgumentError(0, TypeArgumentErrorKind.TYPE_NOT_FOUND),
        0,
    ),
    ErrorKind.UNUSED_VALUE_WITHOUT_DROP: (unused_value_without_drop, (1, 0), None),
    ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE: (invalid_public_function_return_type, 0, 0),
    ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY: (missing_dependency, None, 0),
    ErrorKind.PACKAGE_UPGRADE_ERROR: (
        package_upgrade_error,
        PackageUpgradeError(UpgradeErrorKind.INCOMPATIBLE_UPGRADE),
        1,
    ),
    ErrorKind.SHARED_OBJECT_OPERATION_NOT_ALLOWED: (
        shared_object_operation_not_allowed,
        None,
        None,
    ),
    ErrorKind.PUBLISH_UPGRADE_DEPENDENCY_DOWNGRADE: (dependency_downgrade, None, 0),
    ErrorKind.INVALID_LINKAGE: (invalid_linkage, None, 0),
}

# Kinds whose data are locations or sizes have tests below.
PLACED = {
    ErrorKind.MOVE_ABORT,
    ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR,
    ErrorKind.MOVE_PACKAGE_TOO_BIG,
    ErrorKind.EFFECTS_TOO_LARGE,
    ErrorKind.WRITTEN_OBJECTS_TOO_LARGE,
}


def test_every_error_kind_is_produced_or_listed_as_exception():
    kinds = [*CASES, *PLACED, *NOT_BROUGHT_ABOUT]
    assert sorted(kinds) == list(ErrorKind)


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
def test_transaction_ends_with_the_error(probed, build, kind):
    fail, data, command = CASES[kind]
    fail(probed, build)
    assert probed.fail(build, budget=SUI_PAYMENT) == (kind, data, command)


# --- Where it happened


@pytest.mark.parametrize("version", [1, 2])
def test_abort_names_the_called_package_version(probed, build, version):
    package = probed.package if version == 1 else _upgraded_id(probed, "compatible")
    build.move_call(package, "probe", "nothing")
    build.move_call(package, "probe", "fail", [build.u64(3)])
    kind, abort, command = probed.fail(build)
    assert (kind, abort.code, command) == (ErrorKind.MOVE_ABORT, 3, 1)
    location = abort.location
    assert (location.package, location.module) == (package, "probe")
    assert (location.function_name, location.instruction) == ("fail", 1)  # MoveLoc, Abort


def test_arithmetic_error_names_the_first_version(probed, build):
    package = _upgraded_id(probed, "compatible")
    build.move_call(package, "probe", "overflow", [build.u64(MAX_U64)])
    kind, location, _ = probed.fail(build)
    assert kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR
    assert (location.package, location.function_name) == (probed.package, "overflow")


@pytest.mark.parametrize(("version", "constant"), [(1, "1"), (2, "2")])
def test_clever_error_uses_the_constants_of_that_version(probed, build, version, constant):
    """The constant `VERSION`, the first of the pool, is 1 in one version and 2 in the other."""
    package = probed.package if version == 1 else _upgraded_id(probed, "compatible")
    line, name, value = 33, 1, 0
    code = 0b1100 << 60 | 0xFF << 48 | line << 32 | name << 16 | value
    build.move_call(package, "probe", "fail", [build.pure(u64, code)])
    _, abort, _ = probed.fail(build)
    modules = dict(probed.store.get(abort.location.package).data.modules)
    found = clever_error(abort.code, modules[abort.location.module])
    assert (found.line_number, found.rendered) == (33, constant)


@pytest.mark.parametrize(
    ("function", "count", "place"),
    [("emit", 1_025, ("event", "emit")), ("keep_ids", 2_049, ("tx_context", "fresh_id"))],
)
def test_native_function_exceeds_a_limit(probed, build, function, count, place):
    probed.call(build, function, [build.u64(count)])
    result = probed.run(build, budget=SUI_PAYMENT)
    status = result.effects.status
    location = status.error.data
    assert status.error.kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR
    assert (location.package, location.instruction) == (SUI_FRAMEWORK, 0)
    assert (location.module, location.function_name) == place
    assert VmErrorKind.MEMORY_LIMIT_EXCEEDED in result.failure


# --- Sizes


def test_package_has_at_most_100_kib(world, build):
    probe = world.probe_modules["probe"]
    names = [f"mod{number:02}" for number in range(110_000 // len(probe))]
    modules = [
        probe.replace(b"probe", name.encode()).replace(b"PROBE", name.upper().encode())
        for name in names
    ]
    world.publishing(build, modules)
    kind, (size, limit), command = world.fail(build, budget=SUI_PAYMENT)
    assert (kind, limit, command) == (ErrorKind.MOVE_PACKAGE_TOO_BIG, 102_400, 0)
    assert size > sum(map(len, modules))


def test_written_objects_have_at_most_5_mb(probed, build):
    for _ in range(20):
        probed.call(build, "big_object", [build.u64(7_900)])
    kind, (size, limit), command = probed.fail(build, budget=SUI_PAYMENT)
    assert (kind, limit, command) == (ErrorKind.WRITTEN_OBJECTS_TOO_LARGE, 5_000_000, None)
    assert size > 20 * 7_900 * 32


def test_estimated_effects_have_at_most_512_kib(probed, build):
    parent = probed.new_thing()
    fields = TransactionBuilder()
    argument = fields.resolved(probed.argument(parent))
    probed.call(fields, "add_many_fields", [argument, fields.u64(998)])
    probed.succeed(fields, budget=SUI_PAYMENT)
    thing = build.resolved(probed.argument(parent))
    for key in range(998):
        probed.call(build, "set_field", [thing, build.u64(key), build.u64(9_999)])
    for _ in range(24):
        other = build.resolved(probed.argument(probed.new_thing()))
        probed.call(build, "set", [other, build.u64(1)])
    probed.call(build, "keep_ids", [build.u64(2_048)])
    # New: 2 048. Changed, and so counted twice: 998 fields, 1 + 24 things, the coin. Packages: 1.
    size = 210 + 2_000 + 128 * (2_048 + 2 * (998 + 25 + 1)) + 40 * (25 + 1 + 1)
    expected = (ErrorKind.EFFECTS_TOO_LARGE, (size, 524_288), None)
    assert probed.fail(build, budget=SUI_PAYMENT) == expected


# --- Which mistake is reported


def test_arguments_are_located_before_they_are_typed(probed, build):
    probed.call(build, "expect", [build.gas, InputArgument(7)])
    wrong = CommandArgumentError(1, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, (7,))
    assert probed.fail_argument(build) == (wrong, 0)


def test_arguments_are_typed_before_visibility_is_checked(probed, build):
    probed.call(build, "words", [build.gas])
    wrong = CommandArgumentError(0, ArgumentErrorKind.TYPE_MISMATCH)
    assert probed.fail_argument(build) == (wrong, 0)


def test_borrowed_gas_coin_cannot_be_merged(probed, build):
    build.merge_coins(build.gas, [build.gas])
    wrong = CommandArgumentError(1, ArgumentErrorKind.INVALID_GAS_COIN_USAGE)
    assert probed.fail_argument(build) == (wrong, 0)


def test_ticket_has_a_separate_value_for_each_type(probed, build):
    parent = probed.new_thing()
    child = probed.new_thing(owner=parent)
    ticket = build.resolved(probed.receiving(child))
    coin = StructTag(SUI_FRAMEWORK, "transfer", "Receiving", (GAS_COIN,))
    build.make_move_vec([ticket], coin)
    argument = build.resolved(probed.argument(parent))
    received = probed.call(build, "receive", [argument, ticket])
    probed.call(build, "destroy", [received])
    probed.succeed(build)


def test_value_copied_while_borrowed_remains_unused(probed, build):
    value = probed.call(build, "stubborn")
    probed.call(build, "take_stubborn", [value])
    probed.call(build, "look_at_stubborn", [value])
    assert probed.fail(build) == (ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (0, 0), None)
