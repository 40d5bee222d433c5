"""The VM of a test run, with the framework's test-only code and the tested package."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from nexus_tools.sui.bytecode import (
    CompiledModule,
    FunctionDefinition,
    ModuleHandle,
    Visibility,
    deserialize,
    deserialize_published,
    relocate_module,
    serialize,
)
from nexus_tools.sui.localnet.framework import FRAMEWORK_NAMES
from nexus_tools.sui.localnet.genesis import framework_packages
from nexus_tools.sui.localnet.move_test.compilation.build import EXTENSION, MoveTestBuild
from nexus_tools.sui.localnet.move_test.natives import NATIVES as TEST_ONLY_NATIVES
from nexus_tools.sui.localnet.natives import NATIVES, NativeTable
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.object import Linkage, MovePackage, TypeOrigin

TEST_NATIVES: NativeTable = {**NATIVES, **TEST_ONLY_NATIVES}
"""All native functions, including test-only ones, by address, module name and function name."""


def machine_for_tests(build: MoveTestBuild, natives: NativeTable | None = None) -> Machine:
    """Return a VM with the packages of a test run. The tested package has the address 0x0.

    Modules at other addresses form separate packages. `natives` are additional native functions.
    """
    packages = {
        package.id: _extended_package(package, tuple(build.framework.get(bytes(package.id), ())))
        for package in framework_packages(build.release)
    }
    packages |= _tested_packages(build.modules, packages)
    machine = Machine({**TEST_NATIVES, **(natives or {})}, packages.get)
    _offer_extensions(machine, packages)
    return machine


def _tested_packages(
    modules: Sequence[bytes], others: Iterable[Address]
) -> dict[Address, MovePackage]:
    by_address: dict[Address, list[bytes]] = {ZERO: []}
    for data in modules:
        by_address.setdefault(Address(deserialize_published(data).address), []).append(data)
    addresses = dict.fromkeys((*others, *by_address))
    linkage = tuple(Linkage(package, package, 1) for package in addresses)
    packages = {}
    for address, files in by_address.items():
        compiled = [deserialize_published(data) for data in files]
        named_files, origins = _files(compiled, files), _origins(address, compiled)
        packages[address] = MovePackage(address, 1, named_files, origins, linkage)
    return packages


@lru_cache(maxsize=16)
def _extended_package(package: MovePackage, modules: tuple[bytes, ...]) -> MovePackage:
    compiled = [_with_types_of_extended(deserialize(data)) for data in modules]
    # The modules were compiled at 0x0, but they are called at the address of the framework package.
    relocated = [relocate_module(serialize(module), module, package.id)[0] for module in compiled]
    own_files = [(name, _with_public_entries(data)) for name, data in package.modules]
    files = tuple(sorted((*own_files, *_files(compiled, relocated))))
    origins = (*package.type_origins, *_origins(package.id, compiled))
    return replace(package, modules=files, type_origins=origins)


def _with_types_of_extended(module: CompiledModule) -> CompiledModule:
    """Return an extension module whose types belong to the module that it extends.

    Other code refers to the types as types of the extended module.
    """
    own_handles = {definition.handle for definition in module.struct_definitions}
    if not own_handles or not module.name.endswith(EXTENSION):
        return module
    name_index, handle_index = len(module.identifiers), len(module.module_handles)
    address = module.module_handles[module.self_handle].address
    return replace(
        module,
        identifiers=(*module.identifiers, module.name.removesuffix(EXTENSION)),
        module_handles=(*module.module_handles, ModuleHandle(address, name_index)),
        datatype_handles=tuple(
            replace(datatype, module=handle_index) if index in own_handles else datatype
            for index, datatype in enumerate(module.datatype_handles)
        ),
    )


def _with_public_entries(data: bytes) -> bytes:
    """Return a module whose entry functions are public, so that tests can call all of them."""
    module = deserialize(data)
    if all(_is_public(function) for function in module.function_definitions if function.is_entry):
        return data
    functions = tuple(
        replace(function, visibility=Visibility.PUBLIC) if function.is_entry else function
        for function in module.function_definitions
    )
    return serialize(replace(module, function_definitions=functions))


def _is_public(function: FunctionDefinition) -> bool:
    return function.visibility is Visibility.PUBLIC


def _offer_extensions(machine: Machine, packages: Mapping[Address, MovePackage]) -> None:
    for address in map(Address, FRAMEWORK_NAMES):
        loaded, package = machine.types.package(address), packages[address]
        for name, _ in package.modules:
            if loaded is None or not name.endswith(EXTENSION):
                continue
            module, extension = loaded.module(name.removesuffix(EXTENSION)), loaded.module(name)
            if module is not None and extension is not None:
                module.extend(extension)


def _files(
    compiled: Sequence[CompiledModule], modules: Sequence[bytes]
) -> tuple[tuple[str, bytes], ...]:
    names = (module.name for module in compiled)
    return tuple(sorted(zip(names, modules, strict=True)))


def _origins(package: Address, modules: Sequence[CompiledModule]) -> tuple[TypeOrigin, ...]:
    origins = []
    for module in modules:
        module_name = module.name.removesuffix(EXTENSION)
        origins += [TypeOrigin(module_name, name, package) for name in module.datatype_names]
    return tuple(origins)
