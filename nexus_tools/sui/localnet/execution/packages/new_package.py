"""The creation of a `MovePackage` from compiled modules: ID, linkage and type origins.

Source: `sui-types/src/move_package.rs`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

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
"""The packages that a new package may link to, by original ID."""


@lru_cache(maxsize=128)
def _read_module(data: bytes) -> CompiledModule:
    """Decode a module. Clients usually simulate publications first, so the result is cached."""
    return deserialize(data)


class NewModule(Struct, frozen=True):
    """A module of a new package, relocated to its address, as bytes and in decoded form."""

    data: bytes
    compiled: CompiledModule


def read_modules(files: Sequence[bytes]) -> list[CompiledModule]:
    """Decode modules for publication.

    Raises:
        CommandFailed: a module is malformed or cannot be published.
    """
    try:
        modules = [_read_module(data) for data in files]
        for module in modules:
            check_publishable(module)
    except (MalformedModule, UnpublishableModule) as error:
        raise _bad_module(str(error)) from None
    return modules


def relocate_modules(
    files: Sequence[bytes], modules: Sequence[CompiledModule], address: Address
) -> list[NewModule]:
    """Relocate modules from 0x0 to the address of their package.

    Raises:
        CommandFailed: a module does not have the address 0x0, or two modules have the same name.
    """
    relocated = []
    for data, compiled in zip(files, modules, strict=True):
        if compiled.address != ZERO:
            raise CommandFailed(
                ErrorKind.PUBLISH_ERROR_NON_ZERO_ADDRESS,
                message=f"Publishing module {compiled.name} with non-zero address is not allowed",
            )
        relocated.append(NewModule(*relocate_module(data, compiled, address)))
    if len({module.compiled.name for module in relocated}) != len(relocated):
        raise _bad_module("two modules have the same name")
    return relocated


def _bad_module(message: str) -> CommandFailed:
    return CommandFailed(ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR, message=message)


def new_package(
    package_id: Address, modules: Sequence[NewModule], dependencies: Dependencies
) -> MovePackage:
    """Return the first version of a package.

    Raises:
        CommandFailed: a dependency is missing, or the package is too large.
    """
    origins = tuple(
        TypeOrigin(module, datatype, package_id) for module, datatype in _datatypes(modules)
    )
    linkage = _linkage(_immediate_dependencies(modules), dependencies)
    return _check_size(MovePackage(package_id, 1, _files(modules), origins, linkage))


def upgraded_package(
    package_id: Address,
    previous: MovePackage,
    modules: Sequence[NewModule],
    dependencies: Dependencies,
) -> MovePackage:
    """Return the next version of a package. Existing types keep their origins.

    Raises:
        CommandFailed: a dependency is missing, or the package is too large.
    """
    earlier_origins = {
        (origin.module, origin.datatype): origin.package for origin in previous.type_origins
    }
    origins = tuple(
        TypeOrigin(module, datatype, earlier_origins.get((module, datatype), package_id))
        for module, datatype in _datatypes(modules)
    )
    linkage = _linkage(_immediate_dependencies(modules), dependencies)
    version = previous.version + 1
    return _check_size(MovePackage(package_id, version, _files(modules), origins, linkage))


def _check_size(package: MovePackage) -> MovePackage:
    """Return the package, or fail if it is too large."""
    size = package_bytes(package)
    if size > MAX_MOVE_PACKAGE_SIZE:
        raise CommandFailed(ErrorKind.MOVE_PACKAGE_TOO_BIG, (size, MAX_MOVE_PACKAGE_SIZE))
    return package


def _files(modules: Iterable[NewModule]) -> tuple[tuple[str, bytes], ...]:
    return tuple(sorted((module.compiled.name, module.data) for module in modules))


def _datatypes(modules: Iterable[NewModule]) -> Iterable[tuple[str, str]]:
    """Yield the module and the name of each struct and enum, in the order of their definitions."""
    for module in modules:
        for name in module.compiled.datatype_names:
            yield module.compiled.name, name


def _immediate_dependencies(modules: Sequence[NewModule]) -> set[Address]:
    """Return the original IDs of the other packages to which modules refer."""
    packages = {
        Address(module.compiled.module_id(handle)[0])
        for module in modules
        for handle in range(len(module.compiled.module_handles))
    }
    return packages - {Address(modules[0].compiled.address)}


def dependencies_of(package_ids: Iterable[Address], store: ObjectStore) -> Dependencies:
    """Return the packages with these IDs, keyed by original ID.

    Raises:
        CommandFailed: a package does not exist, or the IDs are two versions of one package.
    """
    packages: dict[Address, MovePackage] = {}
    for package in sorted(set(package_ids)):
        dependency = fetch_package(store, package)
        original = original_id(dependency)
        if original in packages:
            raise CommandFailed(
                ErrorKind.INVALID_LINKAGE,
                message=f"{packages[original].id} and {package} are versions of one package",
            )
        packages[original] = dependency
    return packages


def _linkage(immediate: set[Address], dependencies: Dependencies) -> tuple[Linkage, ...]:
    """Return the linkage entries of all dependencies, sorted by original ID.

    `dependencies` must contain all packages to which modules refer. `dependencies` must also
    contain each package to which a dependency links, in the linked version or a later version.
    """
    if not immediate <= dependencies.keys():
        raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY)
    # For example, a package that links to version 3 of X also works with a later version, because
    # later versions contain all public functions and types of earlier versions.
    for original in immediate:
        for link in dependencies[original].linkage:
            dependency = dependencies.get(link.original_id)
            if dependency is None:
                raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY)
            if dependency.version < link.upgraded_version:
                raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_DEPENDENCY_DOWNGRADE)
    return tuple(
        Linkage(original, dependencies[original].id, dependencies[original].version)
        for original in sorted(dependencies)
    )


def fetch_package(store: ObjectStore, package: Address) -> MovePackage:
    """Return a package from the store.

    Raises:
        CommandFailed: the package does not exist.
    """
    value = store.get(package)
    if value is None or not isinstance(value.data, MovePackage):
        raise CommandFailed(
            ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY,
            message=f"Missing dependencies: {package}",
        )
    return value.data
