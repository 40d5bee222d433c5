import pytest

from nexus_tools.sui.bcs import byte_vector, string, u8, u64
from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ErrorKind, PackageUpgradeError, UpgradeErrorKind
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import StructTag

FRAMEWORK = Address.of(2)
DEPENDENCIES = (Address.of(1), FRAMEWORK)
COMPATIBLE, ADDITIVE, DEP_ONLY = 0, 128, 192


def upgrade(world, name, *, policy=COMPATIBLE, digest=None, package=None, commit=True):
    """Return a transaction that upgrades the probe to another build of it."""
    modules = (world.probe_modules[name],)
    digest = package_digest(modules, DEPENDENCIES) if digest is None else digest
    builder = TransactionBuilder()
    cap = builder.resolved(world.argument(cap_of(world)))
    arguments = [cap, builder.pure(u8, policy), builder.pure(byte_vector, digest)]
    ticket = builder.move_call(FRAMEWORK, "package", "authorize_upgrade", arguments)
    package = package or world.package
    receipt = builder.upgrade(modules, DEPENDENCIES, package, ticket)
    if commit:
        builder.move_call(FRAMEWORK, "package", "commit_upgrade", [cap, receipt])
    return builder


def cap_of(world):
    return next(
        value.id
        for value in world.store.live.values()
        if value.type is not None and value.type.name == "UpgradeCap"
    )


def upgraded_package(result):
    return next(v for v in result.written.values() if isinstance(v.data, MovePackage))


def refusal(world, name, **options):
    kind, error, command = world.fail(upgrade(world, name, **options))
    assert (kind, command) == (ErrorKind.PACKAGE_UPGRADE_ERROR, 1)
    return error


def test_upgrade_has_a_new_id_and_the_old_types(probed):
    before = probed.store.get(probed.package).data
    package = upgraded_package(probed.succeed(upgrade(probed, "compatible"))).data
    assert package.version == 2
    assert package.id != probed.package
    assert package.linkage == before.linkage
    origins = {origin.datatype: origin.package for origin in package.type_origins}
    assert origins.pop("Extra") == package.id
    assert set(origins.values()) == {probed.package}


def test_both_versions_can_be_called(probed, build):
    package = upgraded_package(probed.succeed(upgrade(probed, "compatible"))).id
    old = build.move_call(probed.package, "probe", "code_of_version")
    new = build.move_call(package, "probe", "code_of_version")
    build.move_call(package, "probe", "expect", [old, build.u64(1)])
    build.move_call(package, "probe", "expect", [new, build.u64(2)])
    probed.succeed(build)


def test_object_of_the_old_version_is_used_by_the_new_one(probed, build):
    package = upgraded_package(probed.succeed(upgrade(probed, "compatible"))).id
    thing = build.resolved(probed.argument(probed.new_thing(4)))
    build.move_call(package, "probe", "value", [thing])
    assert probed.returned(build) == [u64.encode(4)]


def test_type_is_named_by_its_defining_version(probed, build):
    package = upgraded_package(probed.succeed(upgrade(probed, "compatible"))).id
    tags = [StructTag(package, "probe", name) for name in ("Thing", "Extra")]
    for tag in tags:
        build.move_call(package, "probe", "name_of", (), [tag])
    build.move_call(package, "probe", "original_name_of", (), [tags[1]])
    results = probed.execute(probed.data(build), Mode.SIMULATE).command_results
    names = [result.return_values[0][1] for result in results]
    assert names == [
        string.encode(f"{bytes(probed.package).hex()}::probe::Thing"),
        string.encode(f"{bytes(package).hex()}::probe::Extra"),
        string.encode(f"{bytes(probed.package).hex()}::probe::Extra"),
    ]


def test_receipt_moves_the_cap_to_the_new_version(probed):
    package = upgraded_package(probed.succeed(upgrade(probed, "compatible")))
    contents = probed.store.get(cap_of(probed)).data.contents
    assert contents[32:64] == package.id
    assert contents[64:72] == u64.encode(2)


def test_receipt_must_be_returned(probed):
    builder = upgrade(probed, "compatible", commit=False)
    assert probed.fail(builder) == (ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (1, 0), None)


def test_modules_that_were_not_authorized_are_refused(probed):
    error = refusal(probed, "compatible", digest=bytes(32))
    modules = (probed.probe_modules["compatible"],)
    digest = package_digest(modules, DEPENDENCIES)
    assert error == PackageUpgradeError(UpgradeErrorKind.DIGEST_DOES_NOT_MATCH, digest)


def test_package_that_was_not_authorized_is_refused(probed):
    error = refusal(probed, "compatible", package=FRAMEWORK)
    expected = (FRAMEWORK, probed.package)
    assert error == PackageUpgradeError(UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH, expected)


@pytest.mark.parametrize("name", ["other_layout", "function_missing", "new_ability"])
def test_incompatible_upgrade_is_refused(probed, name):
    error = refusal(probed, name)
    assert error == PackageUpgradeError(UpgradeErrorKind.INCOMPATIBLE_UPGRADE)


@pytest.mark.parametrize(
    ("policy", "name", "allowed"),
    [
        (ADDITIVE, "additive", True),
        (ADDITIVE, "compatible", False),
        (DEP_ONLY, "probe", True),
        (DEP_ONLY, "additive", False),
    ],
)
def test_stricter_policy_allows_less(probed, policy, name, allowed):
    result = probed.run(upgrade(probed, name, policy=policy))
    assert (not hasattr(result.effects.status, "error")) is allowed


def test_unknown_policy_is_refused(probed):
    error = refusal(probed, "compatible", policy=255)
    assert error == PackageUpgradeError(UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY, 255)


def test_package_that_depends_on_an_upgrade_links_to_it(probed):
    package = upgraded_package(probed.succeed(upgrade(probed, "compatible")))
    modules = [probed.probe_modules["probe"]]
    dependent, _ = probed.publish(modules, (*DEPENDENCIES, package.id))
    link = next(row for row in dependent.data.linkage if row.original_id == probed.package)
    assert (link.upgraded_id, link.upgraded_version) == (package.id, 2)
