import pytest

from nexus_tools.sui.bcs import u64, vector
from nexus_tools.sui.bytecode import relocate
from nexus_tools.sui.localnet.execution import Mode, TransactionRefused
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import created_object_id
from nexus_tools.sui.types.effects import Absent, IdOperation, PackageWrite
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import Immutable, Linkage, MovePackage, Shared, TypeOrigin
from nexus_tools.sui.types.type_tag import Primitive

STDLIB, FRAMEWORK = Address.of(1), Address.of(2)


def test_published_package_has_type_origins_and_linkage(world):
    package, result = world.publish([world.probe_modules["probe"]])
    assert (package.version, package.owner) == (1, Immutable())
    assert package.id == created_object_id(result.effects.transaction_digest, 0)
    names = ("PROBE", "Thing", "Soulbound", "Potato", "Stubborn", "Wrapper", "Box", "Note", "Blob")
    assert package.data.type_origins == tuple(
        TypeOrigin("probe", name, package.id) for name in (*names, "Pair")
    )
    assert package.data.linkage == (
        Linkage(STDLIB, STDLIB, 1),
        Linkage(FRAMEWORK, FRAMEWORK, 1),
    )
    change = dict(result.effects.changed_objects)[package.id]
    assert change.input == Absent()
    assert change.output == PackageWrite(1, package.digest())
    assert change.operation is IdOperation.CREATED


def test_initializer_runs_with_its_witness(world):
    package, result = world.publish([world.probe_modules["probe"]])
    assert [event.contents for event in result.events] == [(1).to_bytes(8, "little")]
    assert result.events[0].package == package.id
    owners = {value.type.name: value.owner for value in result.written.values() if value.type}
    assert isinstance(owners["Box"], Shared)
    # Ids in the order of creation: package, box, thing, cap.
    cap = next(v for v in result.written.values() if v.type and v.type.name == "UpgradeCap")
    assert cap.id == created_object_id(result.effects.transaction_digest, 3)
    expected = bytes(cap.id) + bytes(package.id) + (1).to_bytes(8, "little") + b"\0"
    assert cap.data.contents == expected


def test_upgrade_cap_must_be_used(world, build):
    build.publish([world.probe_modules["probe"]], [STDLIB, FRAMEWORK])
    assert world.fail(build) == (ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (0, 0), None)


def test_own_package_is_published_with_its_registries(world):
    package, result = world.publish_registry()
    names = {value.type.name for value in result.written.values() if value.type}
    assert {"ToolRegistry", "LeaderRegistry", "Admin", "UpgradeCap"} <= names
    modules = [name for name, _ in package.data.modules]
    assert modules == sorted(modules)
    assert len(modules) == 28


def test_storage_of_a_package_costs_its_bytes(world):
    package, result = world.publish([world.probe_modules["probe"]])
    origins = sum(len("probe") + len(o.datatype) + 32 for o in package.data.type_origins)
    module = len("probe") + len(world.probe_modules["probe"])
    assert package.storage_rebate == (80 + 8 + module + origins + 2 * 72) * 7_600
    assert result.effects.gas_used.storage_cost == sum(
        value.storage_rebate for value in result.written.values()
    )


def test_bytes_that_are_not_a_module_are_refused(world, build):
    world.publishing(build, [b"\x00\x01\x02"])
    expected = (ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR, None, 0)
    assert world.fail(build) == expected


def test_two_modules_with_one_name_are_refused(world, build):
    world.publishing(build, [world.probe_modules["probe"]] * 2)
    assert world.fail(build)[0] is ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR


def test_module_with_a_nonzero_address_is_refused(world, build):
    module = relocate(world.probe_modules["probe"], Address.of(9))
    world.publishing(build, [module])
    assert world.fail(build) == (ErrorKind.PUBLISH_ERROR_NON_ZERO_ADDRESS, None, 0)


@pytest.mark.parametrize("dependencies", [[], [STDLIB], [FRAMEWORK]])
def test_all_dependencies_must_be_named(world, build, dependencies):
    world.publishing(build, [world.probe_modules["probe"]], dependencies)
    assert world.fail(build) == (ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY, None, 0)


def test_missing_dependency_is_refused_before_execution(world, build):
    build.publish([world.probe_modules["probe"]], [STDLIB, FRAMEWORK, Address.of(77)])
    with pytest.raises(TransactionRefused, match="Dependent package not found on-chain"):
        world.run(build)


def test_package_of_a_failed_transaction_is_unknown(world, build):
    world.publishing(build, [world.probe_modules["probe"]])
    build.move_call(
        STDLIB, "vector", "destroy_empty", [build.pure(vector(u64), [1])], [Primitive.U64]
    )
    result = world.run(build)
    assert not any(isinstance(value.data, MovePackage) for value in result.written.values())
    package = created_object_id(result.effects.transaction_digest, 0)
    assert world.executor.machine.types.package(package) is None


def test_package_that_was_too_expensive_is_unknown(world, build):
    world.publishing(build, [world.probe_modules["probe"]])
    result = world.run(build, budget=10_000_000)
    assert result.effects.status.error.kind is ErrorKind.INSUFFICIENT_GAS
    package = created_object_id(result.effects.transaction_digest, 0)
    assert world.executor.machine.types.package(package) is None


def test_simulated_package_is_unknown_afterwards(world, build):
    world.publishing(build, [world.probe_modules["probe"]])
    result = world.execute(world.data(build), Mode.SIMULATE)
    package = next(v.id for v in result.written.values() if isinstance(v.data, MovePackage))
    assert world.executor.machine.types.package(package) is None
