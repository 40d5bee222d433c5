"""Packages for the localnet's VM: Sui's framework, and packages that are read from files."""

from collections.abc import Iterable
from functools import cache

from nexus_tools.sui.bytecode import CompiledModule, deserialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM, Address
from nexus_tools.sui.types.object import Linkage, MovePackage, TypeOrigin

FRAMEWORK = {MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM}


@cache
def framework_modules() -> dict[tuple[bytes, str], CompiledModule]:
    """Return the modules of the framework by address and name."""
    files = [file for package in load_framework().values() for file in package.modules]
    return {(module.address, module.name): module for module in map(deserialize, files)}


@cache
def framework_packages() -> dict[Address, MovePackage]:
    """Return the framework packages by address."""
    packages = load_framework().items()
    return {
        Address(address): package_of(Address(address), package.modules)
        for address, package in packages
    }


def package_of(address: Address, files: Iterable[bytes]) -> MovePackage:
    """Return a package in its first version, linked to the first versions of its dependencies."""
    modules = [(module.name, module, file) for file in files for module in (deserialize(file),)]
    origins = [
        TypeOrigin(name, module.datatype_id(handle)[2], address)
        for name, module, _ in modules
        for handle in (
            *(struct_definition.handle for struct_definition in module.struct_definitions),
            *(enum_definition.handle for enum_definition in module.enum_definitions),
        )
    ]
    named = {Address(one) for _, module, _ in modules for one in module.addresses} - {address}
    dependencies = (named | FRAMEWORK) - {address} if named else ()
    linkage = [Linkage(one, one, 1) for one in sorted(dependencies)]
    contents = sorted((name, file) for name, _, file in modules)
    return MovePackage(address, 1, tuple(contents), tuple(origins), tuple(linkage))
