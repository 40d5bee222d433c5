"""Which packages are generated, and where: the asked one, others in folders inside of its own."""

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
from nexus_tools.sui.bindings.generator.move_types import Named
from nexus_tools.sui.bindings.runtime.framework import KNOWN
from nexus_tools.sui.bindings.runtime.names import free_name, is_importable, module_name
from nexus_tools.sui.bytecode import MalformedModule, deserialize
from nexus_tools.sui.errors import UsageError, ValidationError
from nexus_tools.sui.types.address import Address


class PackageSource(Struct, frozen=True):
    """A package to generate: its module files, and its sources as path -> text if there are any.

    `origin` says where it comes from, for the header of what is generated; `dependencies` are the
    packages that it was compiled with, by their names.
    """

    origin: str
    modules: tuple[bytes, ...]
    sources: Mapping[str, str]
    dependencies: "Mapping[str, PackageSource]" = MappingProxyType({})


class Place(Struct, frozen=True):
    """A package with the folder that its bindings are in; that of the asked one is empty."""

    folder: str
    origin: str
    address: Address
    modules: tuple[ModuleContents, ...]

    @property
    def is_framework(self) -> bool:
        """Whether all networks have it at this address."""
        return self.address in FRAMEWORK_NAMES

    def defines(self, named: Named) -> bool:
        """Whether a type is of this package.

        Compilers may give the address 0x0 to several packages that are not published yet.
        """
        return named.address == self.address and self.definition(named) is not None

    def definition(self, named: Named) -> StructContents | EnumContents | None:
        """Return what defines a type, by the names of its module and its own."""
        found = (module.definition(named) for module in self.modules if module.name == named.module)
        return next(found, None)


class Plan(Struct, frozen=True):
    """All packages, the asked one first."""

    places: tuple[Place, ...]

    def place_of(self, address: Address) -> Place:
        """The package with an address."""
        return next(place for place in self.places if place.address == address)

    def definition(self, named: Named) -> StructContents | EnumContents:
        """What defines a type."""
        found = self.place_of(named.address).definition(named)
        assert found is not None  # the plan would not have been made
        return found


def make_plan(
    package: PackageSource, along: Mapping[str, PackageSource], framework: Framework
) -> Plan:
    """Decide what is generated.

    Of the framework those types are that the others are made of; `framework` gives its modules.
    Raises `types_not_generated` if a type of yet another package is met.
    """
    places = [_place("", package), *(_place(name, each) for name, each in along.items())]
    taken = {module_name(module.name) for module in places[0].modules}
    _check_folders(places[1:], taken)
    ours = {place.address for place in places}
    if len(ours) < len(places):
        raise UsageError(
            "package_twice",
            "two of the packages have the same address in their bytecode",
            hint="name one that the package depends on without its folder: --with NAME; others"
            " have to be published, and named by their ids",
        )
    held = [named for place in places for module in place.modules for named in module.held()]
    taken |= {place.folder for place in places}
    places += [
        _framework_place(address, modules, taken)
        for address, modules in framework_types(held, framework, ours).items()
    ]
    missing = {named for named in held if _is_missing(named, places)}
    if missing:
        raise _not_generated(missing, package.dependencies)
    return Plan(tuple(places))


def _place(folder: str, package: PackageSource) -> Place:
    try:
        found = read_contents(package.modules, package.sources)
    except MalformedModule as error:
        raise ValidationError("module_malformed", f"{package.origin}: {error}") from None
    if len(found) != 1:
        raise UsageError(
            "package_ambiguous",
            f"{package.origin} has the modules of {len(found)} packages",
            hint="give the modules of one package, and the others by --with",
        )
    ((address, modules),) = found.items()
    _check_names(package.origin, modules)
    in_order = sorted(modules, key=lambda module: module.name)
    return Place(folder, package.origin, address, tuple(in_order))


def _check_names(origin: str, modules: Sequence[ModuleContents]) -> None:
    names = [module.name for module in modules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            "module_twice", f"{origin} has two modules of the same name: {', '.join(twice)}"
        )


def _check_folders(places: Sequence[Place], taken: Collection[str]) -> None:
    for place in places:
        if place.folder in taken or not is_importable(place.folder):
            raise UsageError(
                "bindings_name_taken",
                f"bindings cannot be in a folder {place.folder!r}: it is the name of a module,"
                " or none that Python can import",
                hint="give the package another name: --with NAME=...",
            )


def _framework_place(
    address: Address, modules: tuple[ModuleContents, ...], taken: Collection[str]
) -> Place:
    name = FRAMEWORK_NAMES[address]
    origin = f"the package `{name}` of the framework"
    return Place(free_name(name, taken), origin, address, modules)


def _is_missing(named: Named, places: Sequence[Place]) -> bool:
    return named.id not in KNOWN and not any(place.defines(named) for place in places)


def _not_generated(
    missing: Collection[Named], dependencies: Mapping[str, PackageSource]
) -> ValidationError:
    """Packages that are published nowhere are named, for their addresses are made up."""
    names = {_address(each): name for name, each in dependencies.items() if each.modules}
    found = sorted({names[named.address] for named in missing if named.address in names})
    ways = [f"--with {name if is_importable(name) else f'NAME={name}'}" for name in found]
    if any(named.address not in names for named in missing):
        ways.append("--with NAME=FOLDER, or --with NAME=ID of a network")
    types = sorted({_text(named, names) for named in missing})
    return ValidationError(
        "types_not_generated",
        f"fields have types of other packages: {', '.join(types)}",
        hint=f"generate their packages, too: {' '.join(ways)}",
        details={"types": types},
    )


def _address(package: PackageSource) -> Address:
    return Address(deserialize(package.modules[0]).address)


def _text(named: Named, names: Mapping[Address, str]) -> str:
    package = names.get(named.address, named.address.short())
    return f"{package}::{named.module}::{named.name}"
