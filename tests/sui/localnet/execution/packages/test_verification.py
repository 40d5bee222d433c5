"""Modules that break a rule of Sui, made by editing the bytes of a valid one."""

from nexus_tools.sui.bcs import byte_vector, u8
from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import created_object_id
from nexus_tools.sui.types.execution_status import ErrorKind

DEPENDENCIES = (Address.of(1), Address.of(2))
REFUSED = ErrorKind.SUI_MOVE_VERIFICATION_ERROR


def nameless_ids(world):
    """Return the probe with objects whose first field has another name."""
    data = world.probe_modules["probe"]
    assert data.count(b"\x02id") == 1
    return data.replace(b"\x02id", b"\x02no")


def test_invalid_module_is_refused_with_the_networks_error(world, build):
    world.publishing(build, [nameless_ids(world)])
    result = world.run(build)
    status = result.effects.status
    assert (status.error.kind, status.error.data, status.command) == (REFUSED, None, 0)
    assert result.failure == "First field of struct Thing must be 'id', no found"


def test_refused_package_is_unknown_afterwards(world, build):
    world.publishing(build, [nameless_ids(world)])
    result = world.run(build)
    package = created_object_id(result.effects.transaction_digest, 0)
    assert world.executor.machine.types.package(package) is None
    assert list(result.written) == [world.gas]


def test_refused_package_pays_by_its_size(world, build):
    world.publishing(build, [nameless_ids(world)])
    small = world.run(build).effects.gas_used
    other = world.publishing(TransactionBuilder(), [nameless_ids(world), b"\0" * 50_000])
    large = world.run(other).effects.gas_used
    assert small.computation_cost < large.computation_cost
    assert small.storage_cost == large.storage_cost


def test_simulation_refuses_an_invalid_module(world, build):
    world.publishing(build, [nameless_ids(world)])
    status = world.execute(world.data(build), Mode.SIMULATE).effects.status
    assert status.error.kind is REFUSED


def test_upgrade_is_verified_before_the_compatibility_check(probed, build):
    modules = (nameless_ids(probed),)
    cap = next(v for v in probed.store.live.values() if v.type and v.type.name == "UpgradeCap")
    arguments = [
        build.resolved(probed.argument(cap.id)),
        build.pure(u8, 0),
        build.pure(byte_vector, package_digest(modules, DEPENDENCIES)),
    ]
    ticket = build.move_call(DEPENDENCIES[1], "package", "authorize_upgrade", arguments)
    receipt = build.upgrade(modules, DEPENDENCIES, probed.package, ticket)
    build.move_call(DEPENDENCIES[1], "package", "commit_upgrade", [arguments[0], receipt])
    assert probed.fail(build) == (REFUSED, None, 1)


def test_code_with_wrong_types_fails_without_a_python_error(world, build):
    # Bytes instead of a reference, which only unverified code could pass.
    package, _ = world.publish([world.probe_modules["probe"]])
    world.package = package.id
    original = world.executor.machine.call

    def confused(function, type_arguments, values, context):
        if function.name == "increment":
            values = [b"no reference"]
        return original(function, type_arguments, values, context)

    world.executor.machine.call = confused
    world.call(build, "increment", [build.u64(1)])
    assert world.fail(build)[0] is ErrorKind.VM_INVARIANT_VIOLATION
