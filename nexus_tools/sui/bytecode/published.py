"""The modules of published packages, by the module IDs that other modules use."""

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
    """Return the modules of packages by module ID.

    A module ID consists of the original ID of the module's package and the module's name.
    """
    return {
        (bytes(original_id(package)), name): PublishedModule(package, data)
        for package in packages
        for name, data in package.modules
    }


def published_module_finder(
    published: Mapping[ModuleId, PublishedModule], own: Iterable[CompiledModule] = ()
) -> Dependencies:
    """Return a function that looks up a module by its ID.

    The function searches `published`, and then `own`, which contains unpublished modules.
    """
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
