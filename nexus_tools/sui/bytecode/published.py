"""The modules of published packages, by the names that other modules use."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from nexus_tools.sui.bytecode.format.deserializer import deserialize
from nexus_tools.sui.bytecode.linking import Dependencies, ModuleId
from nexus_tools.sui.bytecode.module import CompiledModule
from nexus_tools.sui.bytecode.package import original_id
from nexus_tools.sui.types.object import MovePackage


class PublishedModule(NamedTuple):
    """A published module and its package."""

    package: MovePackage
    data: bytes


def published_modules(packages: Iterable[MovePackage]) -> dict[ModuleId, PublishedModule]:
    """Return the modules of packages by their address in bytecode and their name."""
    return {
        (bytes(original_id(package)), name): PublishedModule(package, data)
        for package in packages
        for name, data in package.modules
    }


def published_module_finder(
    published: Mapping[ModuleId, PublishedModule], own: Iterable[CompiledModule] = ()
) -> Dependencies:
    """Return a function that finds published modules, and unpublished ones in `own`."""
    unpublished = {(module.address, module.name): module for module in own}

    @cache
    def find(module_id: ModuleId) -> CompiledModule | None:
        published_module = published.get(module_id)
        return (
            unpublished.get(module_id)
            if published_module is None
            else deserialize(published_module.data)
        )

    return find
