"""The framework types that a package's types contain. Other framework types are not generated."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec.structs import replace

from nexus_tools.sui.bindings.generator.contents import (
    EnumContents,
    ModuleContents,
    StructContents,
    read_contents,
)
from nexus_tools.sui.bindings.generator.move_types import NamedType, contained_types
from nexus_tools.sui.bindings.runtime.framework import KNOWN
from nexus_tools.sui.bytecode import declared_types
from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.types.address import (
    BRIDGE_PACKAGE,
    MOVE_STDLIB,
    SUI_FRAMEWORK,
    SUI_SYSTEM,
    Address,
)

FRAMEWORK_NAMES = {
    MOVE_STDLIB: "std",
    SUI_FRAMEWORK: "sui",
    SUI_SYSTEM: "sui_system",
    BRIDGE_PACKAGE: "bridge",
}

# The types of the entries of collections. The entries are dynamic fields, so the collection's own
# fields do not mention these types. Each value of this dict is the name of an entry's type and the
# indices of the entry's non-phantom type parameters.
_ENTRIES = {(SUI_FRAMEWORK, "linked_table", "LinkedTable"): ("Node", (0, 1))}

Framework = Callable[[Address], Sequence[bytes]]
"""A function that returns the modules of a framework package."""


def framework_types(
    held: Iterable[NamedType], framework: Framework, ours: Collection[Address]
) -> dict[Address, tuple[ModuleContents, ...]]:
    """Return the framework modules by package address, with only the types that are used.

    The result omits types that need no class, and types of the packages `ours`. Raises
    `framework_missing`.
    """
    reader = _FrameworkReader(framework)
    used_names: dict[tuple[Address, str], set[str]] = defaultdict(set)
    # A definition may contain further types, so continue until no new type appears.
    waiting = list(held)
    addresses = set(FRAMEWORK_NAMES) - set(ours)
    while waiting:
        used_type = waiting.pop()
        names = used_names[used_type.address, used_type.module]
        is_wanted = used_type.address in addresses and used_type.id not in KNOWN
        if is_wanted and used_type.name not in names:
            names.add(used_type.name)
            definition = reader.definition(used_type)
            waiting += [inner for type_ in definition.types for inner in contained_types(type_)]
            if used_type.id in _ENTRIES:
                name, takes = _ENTRIES[used_type.id]
                waiting.append(replace(used_type, name=name, takes=takes))
    packages: dict[Address, tuple[ModuleContents, ...]] = {}
    for (address, name), names in sorted(used_names.items()):
        if names:
            module = _reduced(reader.module(address, name), names)
            packages[address] = (*packages.get(address, ()), module)
    return packages


def _reduced(module: ModuleContents, names: set[str]) -> ModuleContents:
    structs = tuple(struct for struct in module.structs if struct.name in names)
    enums = tuple(enum for enum in module.enums if enum.name in names)
    return ModuleContents(module.name, module.doc, structs, enums, (), ())


class _FrameworkReader:
    """A reader that parses modules at their first use."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._files: dict[Address, dict[str, bytes]] = {}
        self._modules: dict[tuple[Address, str], ModuleContents] = {}

    def module(self, address: Address, name: str) -> ModuleContents:
        key = address, name
        if key not in self._modules:
            ((module,),) = read_contents([self._file(address, name)], {}).values()
            self._modules[key] = module
        return self._modules[key]

    def definition(self, named: NamedType) -> StructContents | EnumContents:
        definition = self.module(named.address, named.module).definition(named)
        if definition is None:
            raise _missing(f"{named.address.short()}::{named.module}::{named.name}")
        return definition

    def _file(self, address: Address, name: str) -> bytes:
        if address not in self._files:
            files = self._framework(address)
            self._files[address] = {declared_types(file)[0]: file for file in files}
        if name not in self._files[address]:
            raise _missing(f"{address.short()}::{name}")
        return self._files[address][name]


def _missing(name: str) -> NotFoundError:
    return NotFoundError(
        "framework_missing",
        f"the available framework does not have {name}",
        hint="Generate the bindings from a published package: pass the package's ID.",
    )
