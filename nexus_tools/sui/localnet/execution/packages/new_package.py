"""Making a `MovePackage` of compiled modules: read, moved to its id, linked, with type origins.

Source: `sui-types/src/move_package.rs`.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from nexus_tools.sui.bytecode import (
    CompiledModule,
    MalformedModule,
    UnpublishableModule,
    check_publishable,
    deserialize,
    original_id,
    relocate_module,
)
from nexus_tools.sui.localnet.execution.environment import ObjectStore
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.execution.gas import package_bytes
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import MAX_MOVE_PACKAGE_SIZE, Linkage, MovePackage, TypeOrigin

Dependencies = Mapping[Address, MovePackage]
"""What a package that is published may link to, by original ids."""


class NewModule(Struct, frozen=True):
    """A module at the address of its package: as bytes, and as what they mean."""

    data: bytes
    compiled: CompiledModule


def read_modules(files: Sequence[bytes]) -> list[CompiledModule]:
    """Modules that are to be published. Raises `CommandFailed`."""
    try:
        modules = [deserialize(data) for data in files]
        for module in modules:
            check_publishable(module)
    except (MalformedModule, UnpublishableModule) as error:
        raise _bad_module(str(error)) from None
    return modules


def move_modules(
    files: Sequence[bytes], modules: Sequence[CompiledModule], address: Address
) -> list[NewModule]:
    """Modules at the address of their package instead of 0x0. Raises `CommandFailed`."""
    moved = []
    for data, compiled in zip(files, modules, strict=True):
        if compiled.address != ZERO:
            raise CommandFailed(
                ErrorKind.PUBLISH_ERROR_NON_ZERO_ADDRESS,
                message=f"Publishing module {compiled.name} with non-zero address is not allowed",
            )
        moved.append(NewModule(*relocate_module(data, compiled, address)))
    if len({module.compiled.name for module in moved}) != len(moved):
        raise _bad_module("two modules have the same name")
    return moved


def _bad_module(message: str) -> CommandFailed:
    return CommandFailed(ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR, message=message)


def new_package(
    package_id: Address, modules: Sequence[NewModule], dependencies: Dependencies
) -> MovePackage:
    """The first version of a package. Raises `CommandFailed`."""
    origins = tuple(
        TypeOrigin(module, datatype, package_id) for module, datatype in _datatypes(modules)
    )
    linkage = _linkage(_immediate_dependencies(modules), dependencies)
    return _checked(MovePackage(package_id, 1, _files(modules), origins, linkage))


def upgraded_package(
    package_id: Address,
    previous: MovePackage,
    modules: Sequence[NewModule],
    dependencies: Dependencies,
) -> MovePackage:
    """The next version of a package: known types keep their origins. Raises `CommandFailed`."""
    known = {(origin.module, origin.datatype): origin.package for origin in previous.type_origins}
    origins = tuple(
        TypeOrigin(module, datatype, known.get((module, datatype), package_id))
        for module, datatype in _datatypes(modules)
    )
    linkage = _linkage(_immediate_dependencies(modules), dependencies)
    version = previous.version + 1
    return _checked(MovePackage(package_id, version, _files(modules), origins, linkage))


def _checked(package: MovePackage) -> MovePackage:
    """The package, unless it is too large."""
    size = package_bytes(package)
    if size > MAX_MOVE_PACKAGE_SIZE:
        raise CommandFailed(ErrorKind.MOVE_PACKAGE_TOO_BIG, (size, MAX_MOVE_PACKAGE_SIZE))
    return package


def _files(modules: Iterable[NewModule]) -> tuple[tuple[str, bytes], ...]:
    return tuple(sorted((module.compiled.name, module.data) for module in modules))


def _datatypes(modules: Iterable[NewModule]) -> Iterable[tuple[str, str]]:
    """Module and name of each struct and enum, in the order of the definitions."""
    for module in modules:
        for name in module.compiled.datatype_names:
            yield module.compiled.name, name


def _immediate_dependencies(modules: Sequence[NewModule]) -> set[Address]:
    """The packages that modules name, by their original ids."""
    named = {
        Address(module.compiled.module_id(handle)[0])
        for module in modules
        for handle in range(len(module.compiled.module_handles))
    }
    return named - {Address(modules[0].compiled.address)}


def dependencies_of(package_ids: Iterable[Address], store: ObjectStore) -> Dependencies:
    """The packages with these ids, each in one version. Raises `CommandFailed`."""
    packages: dict[Address, MovePackage] = {}
    for package in sorted(set(package_ids)):
        found = fetch_package(store, package)
        original = original_id(found)
        if original in packages:
            raise CommandFailed(
                ErrorKind.INVALID_LINKAGE,
                message=f"{packages[original].id} and {package} are versions of one package",
            )
        packages[original] = found
    return packages


def _linkage(immediate: set[Address], dependencies: Dependencies) -> tuple[Linkage, ...]:
    """Which version of each dependency is used, sorted by original id.

    All that modules name has to be there, and all that a dependency itself uses, no older.
    """
    if not immediate <= dependencies.keys():
        raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY)
    # A package that uses X in version 3 may be linked with X in version 3 or later: what is public
    # in an earlier one is still there.
    for original in immediate:
        for link in dependencies[original].linkage:
            ours = dependencies.get(link.original_id)
            if ours is None:
                raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY)
            if ours.version < link.upgraded_version:
                raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_DEPENDENCY_DOWNGRADE)
    return tuple(
        Linkage(original, dependencies[original].id, dependencies[original].version)
        for original in sorted(dependencies)
    )


def fetch_package(store: ObjectStore, package: Address) -> MovePackage:
    """A package of the ledger. Raises `CommandFailed`."""
    found = store.get(package)
    if found is None or not isinstance(found.data, MovePackage):
        raise CommandFailed(
            ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY,
            message=f"Missing dependencies: {package}",
        )
    return found.data
