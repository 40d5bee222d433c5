"""A package with its linkage and its type origins.

Code refers to a package by its original id. The linkage of the calling package selects a version of
each called package. The type origins of the selected version contain the version that first defined
each type.

For example, 0xA defines `m::Old`, its upgrade 0xB adds `m::New`, and 0xC is a further upgrade. All
three packages have the original id 0xA, and their bytecode refers to its own package as 0xA. The
type origins of 0xC are `m::Old` -> 0xA and `m::New` -> 0xB, so the types are 0xA::m::Old and
0xB::m::New in every version. If the linkage of a package maps 0xA to 0xC, its calls of 0xA::m
execute the code of 0xC.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any

from nexus_tools.sui.bytecode import MalformedModule, deserialize_published, original_id
from nexus_tools.sui.localnet.vm.errors import LinkError
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage


class LoadedPackage:
    """One version of a package. Modules of the package are read at first use."""

    def __init__(self, package: MovePackage, load: Callable[[Address], "LoadedPackage"]) -> None:
        self.id = package.id
        self.package = package
        self._load = load
        self._files = dict(package.modules)
        self._modules: dict[str, LoadedModule] = {}
        self.translations: dict[Hashable, Any] = {}
        """The translated functions. `Translations` adds and reads them."""
        self._origins = {
            (origin.module, origin.datatype): origin.package for origin in package.type_origins
        }

    @cached_property
    def original_id(self) -> Address:
        """The id of the package's first version. Bytecode uses this id to refer to the package."""
        if not self._files:
            raise LinkError(f"the package {self.id.short()} has no modules")
        try:
            return original_id(self.package)
        except MalformedModule as error:
            raise LinkError(f"{self.id.short()} is malformed: {error}") from error

    @cached_property
    def linkage(self) -> Mapping[Address, Address]:
        """The storage ids of the dependencies and of the package itself, by original id."""
        table = {link.original_id: link.upgraded_id for link in self.package.linkage}
        table[self.original_id] = self.id
        return table

    def module(self, name: str) -> LoadedModule | None:
        """Return the module with this name, or None.

        Raises:
            LinkError: The bytes are not a valid module.
        """
        module = self._modules.get(name)
        if module is None and name in self._files:
            try:
                compiled = deserialize_published(self._files[name])
            except MalformedModule as error:
                raise LinkError(f"{self.id.short()}::{name} is malformed: {error}") from error
            module = self._modules[name] = LoadedModule(self.id, compiled, self.type_origin)
        return module

    def modules(self) -> Iterator[LoadedModule]:
        """Yield all modules in the order of their names."""
        for name in self._files:
            module = self.module(name)
            if module is not None:
                yield module

    def type_origin(self, address: Address, module: str, name: str) -> Address:
        """Return the defining id of a type to which this package's code refers.

        Raises:
            LinkError: The linkage does not contain the type's package, or that package does not
                define the type.
        """
        if address == self.original_id:
            package: LoadedPackage = self
        else:
            storage_id = self.linkage.get(address)
            if storage_id is None:
                raise LinkError(f"{self.id.short()} is not linked to {address.short()}")
            package = self._load(storage_id)
        origin = package._origins.get((module, name))  # noqa: SLF001 - of the same class
        if origin is None:
            raise LinkError(f"{package.id.short()} has no type {module}::{name}")
        return origin
