"""The plan of a generation: the packages, and the folder for the bindings of each package."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from nexus_tools.sui.bindings.generator.contents import (
    EnumContents,
    ModuleContents,
    StructContents,
    read_contents,
)
from nexus_tools.sui.bindings.generator.framework import (
    FRAMEWORK_NAMES,
    Framework,
    framework_types,
)
from nexus_tools.sui.bindings.generator.move_types import NamedType
from nexus_tools.sui.bindings.runtime.framework import KNOWN
from nexus_tools.sui.bindings.runtime.names import free_name, is_importable, module_name
from nexus_tools.sui.bytecode import MalformedModule, deserialize
from nexus_tools.sui.errors import UsageError, ValidationError
from nexus_tools.sui.types.address import Address


class PackageSource(Struct, frozen=True):
    """A package to generate bindings for: its module files, and any sources by path.

    `origin` describes the source of the package in the header of the generated files.
    `dependencies` are the packages that the package was compiled with, by name.
    """

    origin: str
    modules: tuple[bytes, ...]
    sources: Mapping[str, str]
    dependencies: "Mapping[str, PackageSource]" = MappingProxyType({})


class Place(Struct, frozen=True):
    """A package and the folder of its bindings. The requested package has the folder ""."""

    folder: str
    origin: str
    address: Address
    modules: tuple[ModuleContents, ...]

    @property
    def is_framework(self) -> bool:
        """Whether the package is a framework package, which has the same ID on all networks."""
        return self.address in FRAMEWORK_NAMES

    def defines(self, named: NamedType) -> bool:
        """Return whether the package defines a type.

        The address is not sufficient because several unpublished packages may have the address 0x0.
        """
        return named.address == self.address and self.definition(named) is not None

    def definition(self, named: NamedType) -> StructContents | EnumContents | None:
        """Return the definition of a type, by its module and name."""
        definitions = (
            module.definition(named) for module in self.modules if module.name == named.module
        )
        return next(definitions, None)


class Plan(Struct, frozen=True):
    """The packages to generate bindings for, with the requested package first."""

    places: tuple[Place, ...]

    def place_of(self, address: Address) -> Place:
        """Return the package at an address."""
        return next(place for place in self.places if place.address == address)

    def definition(self, named: NamedType) -> StructContents | EnumContents:
        """Return the definition of a type."""
        definition = self.place_of(named.address).definition(named)
        assert definition is not None  # `make_plan` raises an error if the definition is missing
        return definition


def make_plan(
    package: PackageSource, along: Mapping[str, PackageSource], framework: Framework
) -> Plan:
    """Return the plan for a package: the modules and types to generate, and their folders.

    The plan includes only the framework types that other types contain. `framework` returns the
    modules of a framework package. Raises `types_not_generated` if a type of another package is
    used.
    """
    places = [_place("", package), *(_place(name, source) for name, source in along.items())]
    used_folders = {module_name(module.name) for module in places[0].modules}
    _check_folders(places[1:], used_folders)
    addresses = {place.address for place in places}
    if len(addresses) < len(places):
        raise UsageError(
            "package_twice",
            "two of the packages have the same address in their bytecode",
            hint="Pass a dependency of the package by name only: --include NAME. Publish other"
            " packages, and pass their IDs.",
        )
    used_types = [
        named for place in places for module in place.modules for named in module.held_types()
    ]
    used_folders |= {place.folder for place in places}
    places += [
        _framework_place(address, modules, used_folders)
        for address, modules in framework_types(used_types, framework, addresses).items()
    ]
    missing_types = {named for named in used_types if _is_missing(named, places)}
    if missing_types:
        raise _not_generated(missing_types, package.dependencies)
    return Plan(tuple(places))


def _place(folder: str, package: PackageSource) -> Place:
    try:
        contents = read_contents(package.modules, package.sources)
    except MalformedModule as error:
        raise ValidationError("module_malformed", f"{package.origin}: {error}") from None
    if len(contents) != 1:
        raise UsageError(
            "package_ambiguous",
            f"{package.origin} has modules of {len(contents)} packages, expected one package",
            hint="Pass the modules of one package, and pass other packages with --include.",
        )
    ((address, modules),) = contents.items()
    _check_names(package.origin, modules)
    in_order = sorted(modules, key=lambda module: module.name)
    return Place(folder, package.origin, address, tuple(in_order))


def _check_names(origin: str, modules: Sequence[ModuleContents]) -> None:
    names = [module.name for module in modules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            "duplicate_module", f"{origin} has more than one module named {', '.join(twice)}"
        )


def _check_folders(places: Sequence[Place], taken: Collection[str]) -> None:
    for place in places:
        if place.folder in taken or not is_importable(place.folder):
            raise UsageError(
                "bindings_name_taken",
                f"bindings cannot be in a folder {place.folder!r}: a module already has this name,"
                " or Python cannot import it",
                hint="Use another name for the package: --include NAME=...",
            )


def _framework_place(
    address: Address, modules: tuple[ModuleContents, ...], taken: Collection[str]
) -> Place:
    name = FRAMEWORK_NAMES[address]
    origin = f"the package `{name}` of the framework"
    return Place(free_name(name, taken), origin, address, modules)


def _is_missing(named: NamedType, places: Sequence[Place]) -> bool:
    return named.id not in KNOWN and not any(place.defines(named) for place in places)


def _not_generated(
    missing: Collection[NamedType], dependencies: Mapping[str, PackageSource]
) -> ValidationError:
    """Return the error for types of packages that are missing.

    The hint of the error names the dependencies to include.
    """
    names = {
        _address(dependency): name
        for name, dependency in dependencies.items()
        if dependency.modules
    }
    known_names = sorted({names[named.address] for named in missing if named.address in names})
    options = [
        f"--include {name if is_importable(name) else f'NAME={name}'}" for name in known_names
    ]
    if any(named.address not in names for named in missing):
        options.append("--include NAME=FOLDER, or --include NAME=ID of a network")
    types = sorted({_text(named, names) for named in missing})
    return ValidationError(
        "types_not_generated",
        f"fields use types of other packages: {', '.join(types)}",
        hint=f"Also generate the packages of these types: {' '.join(options)}.",
        details={"types": types},
    )


def _address(package: PackageSource) -> Address:
    return Address(deserialize(package.modules[0]).address)


def _text(named: NamedType, names: Mapping[Address, str]) -> str:
    package = names.get(named.address, named.address.short())
    return f"{package}::{named.module}::{named.name}"
