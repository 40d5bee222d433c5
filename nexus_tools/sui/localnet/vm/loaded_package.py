"""A package with what its linkage and its type origins say.

Code names a package by its original id. Which version of the package that is, the linkage of the
naming package says; which version first defined a type, the type origins of that version say.

Example: 0xA defines `m::Old`, its upgrade 0xB adds `m::New`, and 0xC is a further upgrade. All
three have the original id 0xA, by which the bytecode of each names itself. The type origins of 0xC
are `m::Old` -> 0xA and `m::New` -> 0xB: so the types are 0xA::m::Old and 0xB::m::New wherever
values of them are. A package whose linkage has 0xA -> 0xC means code of 0xC when it calls 0xA::m.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from nexus_tools.sui.bytecode import MalformedModule, deserialize_published, original_id
from nexus_tools.sui.localnet.vm.errors import LinkError
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage


class LoadedPackage:
    """One version of a package; a module is read when it is first used."""

    def __init__(self, package: MovePackage, load: Callable[[Address], "LoadedPackage"]) -> None:
        self.id = package.id
        self.package = package
        self._load = load
        self._files = dict(package.modules)
        self._modules: dict[str, LoadedModule] = {}
        self._origins = {
            (origin.module, origin.datatype): origin.package for origin in package.type_origins
        }

    @cached_property
    def original_id(self) -> Address:
        """The id of the package's first version, by which all modules name it."""
        if not self._files:
            raise LinkError(f"the package {self.id.short()} has no modules")
        try:
            return original_id(self.package)
        except MalformedModule as error:
            raise LinkError(f"{self.id.short()} is malformed: {error}") from error

    @cached_property
    def linkage(self) -> Mapping[Address, Address]:
        """Original id -> storage id, of the dependencies and of the package itself."""
        table = {link.original_id: link.upgraded_id for link in self.package.linkage}
        table[self.original_id] = self.id
        return table

    def module(self, name: str) -> LoadedModule | None:
        """The module with this name. Raises `LinkError` if its bytes are no module."""
        found = self._modules.get(name)
        if found is None and name in self._files:
            try:
                compiled = deserialize_published(self._files[name])
            except MalformedModule as error:
                raise LinkError(f"{self.id.short()}::{name} is malformed: {error}") from error
            found = self._modules[name] = LoadedModule(self.id, compiled, self.type_origin)
        return found

    def modules(self) -> Iterator[LoadedModule]:
        """All modules, in the order of their names."""
        for name in self._files:
            module = self.module(name)
            if module is not None:
                yield module

    def type_origin(self, address: Address, module: str, name: str) -> Address:
        """The defining id of a type that code of this package names. Raises `LinkError`."""
        if address == self.original_id:
            package: LoadedPackage = self
        else:
            linked = self.linkage.get(address)
            if linked is None:
                raise LinkError(f"{self.id.short()} is not linked to {address.short()}")
            package = self._load(linked)
        origin = package._origins.get((module, name))  # noqa: SLF001 - of the same class
        if origin is None:
            raise LinkError(f"{package.id.short()} has no type {module}::{name}")
        return origin
