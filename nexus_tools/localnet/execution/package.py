"""Making a `MovePackage` of compiled modules: linkage and type origins.

Source: `sui-types/src/move_package.rs`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nexus_tools.localnet.bytecode import (
    CompiledModule,
    MalformedModule,
    UnpublishableModule,
    check_publishable,
    deserialize,
    relocate_module,
)
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.limits import MAX_MOVE_PACKAGE_SIZE
from nexus_tools.localnet.execution.storage import package_bytes
from nexus_tools.sui.address import ZERO, Address
from nexus_tools.sui.execution_status import ErrorKind
from nexus_tools.sui.object import Linkage, MovePackage, TypeOrigin


@dataclass(frozen=True, slots=True)
class NewModule:
    """A module at the address of its package: as bytes, and as what they mean."""

    data: bytes
    compiled: CompiledModule


def read_modules(files: Sequence[bytes], address: Address) -> list[NewModule]:
    """Check modules that are to be published, and move them from 0x0 to `address`."""
    modules = []
    for data in files:
        try:
            compiled = deserialize(data)
            if compiled.address != ZERO:
                raise CommandFailed(
                    ErrorKind.PUBLISH_ERROR_NON_ZERO_ADDRESS,
                    message=f"Publishing module {compiled.name} with non-zero address is not"
                    " allowed",
                )
            check_publishable(compiled)
        except (MalformedModule, UnpublishableModule) as error:
            raise CommandFailed(
                ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR, message=str(error)
            ) from None
        moved = relocate_module(data, compiled, address)
        modules.append(NewModule(moved, deserialize(moved)))
    if len({module.compiled.name for module in modules}) != len(modules):
        raise CommandFailed(
            ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR,
            message="two modules have the same name",
        )
    return modules


def new_package(
    context: ExecutionContext,
    package_id: Address,
    modules: Sequence[NewModule],
    dependencies: Sequence[Address],
) -> MovePackage:
    """The first version of a package. Raises `CommandFailed`."""
    origins = tuple(
        TypeOrigin(module, datatype, package_id) for module, datatype in _datatypes(modules)
    )
    linkage = _linkage(context, _immediate_dependencies(modules), dependencies)
    return _checked(MovePackage(package_id, 1, _files(modules), origins, linkage))


def upgraded_package(
    context: ExecutionContext,
    package_id: Address,
    previous: MovePackage,
    modules: Sequence[NewModule],
    dependencies: Sequence[Address],
) -> MovePackage:
    """The next version of a package: known types keep their origins. Raises `CommandFailed`."""
    known = {(origin.module, origin.datatype): origin.package for origin in previous.type_origins}
    origins = tuple(
        TypeOrigin(module, datatype, known.get((module, datatype), package_id))
        for module, datatype in _datatypes(modules)
    )
    linkage = _linkage(context, _immediate_dependencies(modules), dependencies)
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
        compiled = module.compiled
        handles = [row.handle for row in compiled.struct_definitions]
        handles += [row.handle for row in compiled.enum_definitions]
        for handle in handles:
            yield compiled.name, compiled.datatype_id(handle)[2]


def _immediate_dependencies(modules: Sequence[NewModule]) -> set[Address]:
    """The packages that modules name, by their original ids."""
    named = {
        Address(module.compiled.module_id(handle)[0])
        for module in modules
        for handle in range(len(module.compiled.module_handles))
    }
    return named - {Address(modules[0].compiled.address)}


def _linkage(
    context: ExecutionContext, immediate: set[Address], dependencies: Sequence[Address]
) -> tuple[Linkage, ...]:
    """Which version of each dependency is used, sorted by original id.

    All that modules name has to be there, and all that a dependency itself uses, no older.
    """
    table: dict[Address, Linkage] = {}
    packages: dict[Address, MovePackage] = {}
    for package in sorted(set(dependencies)):
        found = fetch_package(context, package)
        original = original_id(context, package)
        if original in table:
            raise CommandFailed(
                ErrorKind.INVALID_LINKAGE,
                message=f"{table[original].upgraded_id} and {package} are versions of one package",
            )
        packages[original] = found
        table[original] = Linkage(original, package, found.version)
    if not immediate <= set(table):
        raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY)
    for original in immediate:
        for link in packages[original].linkage:
            ours = table.get(link.original_id)
            if ours is None:
                raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY)
            if ours.upgraded_version < link.upgraded_version:
                raise CommandFailed(ErrorKind.PUBLISH_UPGRADE_DEPENDENCY_DOWNGRADE)
    return tuple(table[original] for original in sorted(table))


def fetch_package(context: ExecutionContext, package: Address) -> MovePackage:
    """A package of the ledger. Raises `CommandFailed`."""
    found = context.store.get(package)
    if found is None or not isinstance(found.data, MovePackage):
        raise CommandFailed(
            ErrorKind.PUBLISH_UPGRADE_MISSING_DEPENDENCY,
            message=f"Missing dependencies: {package}",
        )
    return found.data


def original_id(context: ExecutionContext, package: Address) -> Address:
    """The id of the first version of a package, by which all modules name it."""
    loaded = context.machine.package(package)
    assert loaded is not None  # it was fetched from the ledger before
    return loaded.original_id
