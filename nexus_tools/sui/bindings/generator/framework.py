"""The framework types that other types contain; the whole framework would be much larger."""

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

# The types in a collection's dynamic fields, which none of its own fields names: the type, and
# the indices of its type parameters that are not phantom.
_ENTRIES = {(SUI_FRAMEWORK, "linked_table", "LinkedTable"): ("Node", (0, 1))}

Framework = Callable[[Address], Sequence[bytes]]
"""A function that returns the modules of a framework package."""


def framework_types(
    held: Iterable[Named], framework: Framework, ours: Collection[Address]
) -> dict[Address, tuple[ModuleContents, ...]]:
    """Return the framework modules, by package, reduced to the types that are used.

    Types that need no class, and those of the packages `ours`, are left out. Raises
    `framework_missing`.
    """
    reader = _FrameworkReader(framework)
    met: dict[tuple[Address, str], set[str]] = defaultdict(set)
    # A definition may contain further types: continue until there are no new ones.
    waiting = list(held)
    wanted = set(FRAMEWORK_NAMES) - set(ours)
    while waiting:
        named = waiting.pop()
        names = met[named.address, named.module]
        is_wanted = named.address in wanted and named.id not in KNOWN
        if is_wanted and named.name not in names:
            names.add(named.name)
            definition = reader.definition(named)
            waiting += [inner for type_ in definition.types for inner in held_types(type_)]
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
        f"the available framework does not have {name}",
        hint="generate from a published package: pass its ID on a network",
    )
