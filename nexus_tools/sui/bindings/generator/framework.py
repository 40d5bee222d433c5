"""The types of the framework that others are made of: all of it would be much more."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec.structs import replace

from nexus_tools.sui.bindings.generator.contents import (
    EnumContents,
    ModuleContents,
    StructContents,
    read_contents,
)
from nexus_tools.sui.bindings.generator.move_types import Named, held_types
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

# What a collection has in its dynamic fields, to which none of its own fields leads: the type, and
# the places of its type parameters that are not phantom.
_ENTRIES = {(SUI_FRAMEWORK, "linked_table", "LinkedTable"): ("Node", (0, 1))}

Framework = Callable[[Address], Sequence[bytes]]
"""Gives the modules of a package of the framework."""


def framework_types(
    held: Iterable[Named], framework: Framework, ours: Collection[Address]
) -> dict[Address, tuple[ModuleContents, ...]]:
    """The modules of the framework with those types that are met, and nothing else, by package.

    Left out are types that need no class, and those of the packages `ours`. Raises
    `framework_missing`.
    """
    reader = _FrameworkReader(framework)
    met: dict[tuple[Address, str], set[str]] = defaultdict(set)
    # What is found may hold further types: on until nothing new is met.
    waiting = list(held)
    wanted = set(FRAMEWORK_NAMES) - set(ours)
    while waiting:
        named = waiting.pop()
        names = met[named.address, named.module]
        is_wanted = named.address in wanted and named.id not in KNOWN
        if is_wanted and named.name not in names:
            names.add(named.name)
            definition = reader.definition(named)
            waiting += [inner for each in definition.types for inner in held_types(each)]
            if named.id in _ENTRIES:
                name, takes = _ENTRIES[named.id]
                waiting.append(replace(named, name=name, takes=takes))
    found: dict[Address, tuple[ModuleContents, ...]] = {}
    for (address, name), names in sorted(met.items()):
        if names:
            module = _reduced(reader.module(address, name), names)
            found[address] = (*found.get(address, ()), module)
    return found


def _reduced(module: ModuleContents, names: set[str]) -> ModuleContents:
    structs = tuple(each for each in module.structs if each.name in names)
    enums = tuple(each for each in module.enums if each.name in names)
    return ModuleContents(module.name, module.doc, structs, enums, (), ())


class _FrameworkReader:
    """Reads modules when they are first asked for."""

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

    def definition(self, named: Named) -> StructContents | EnumContents:
        found = self.module(named.address, named.module).definition(named)
        if found is None:
            raise _missing(f"{named.address.short()}::{named.module}::{named.name}")
        return found

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
        f"the framework at hand has no {name}",
        hint="generate from the package as it is published on a network: by its id",
    )
