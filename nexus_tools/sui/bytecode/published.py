"""The modules of published packages, found by the names that other modules have for them."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from nexus_tools.sui.bytecode.format.deserializer import deserialize
from nexus_tools.sui.bytecode.linking import Dependencies, ModuleId
from nexus_tools.sui.bytecode.module import CompiledModule
from nexus_tools.sui.bytecode.package import original_id
from nexus_tools.sui.types.object import MovePackage


class PublishedModule(NamedTuple):
    """A module as it is published, and the package that it is in."""

    package: MovePackage
    data: bytes


def published_modules(packages: Iterable[MovePackage]) -> dict[ModuleId, PublishedModule]:
    """The modules of packages by the address that they have in bytecode, and their name."""
    return {
        (bytes(original_id(package)), name): PublishedModule(package, data)
        for package in packages
        for name, data in package.modules
    }


def find_published(
    published: Mapping[ModuleId, PublishedModule], own: Iterable[CompiledModule] = ()
) -> Dependencies:
    """What finds published modules, and those that are `own` and not published yet."""
    unpublished = {(module.address, module.name): module for module in own}

    @cache
    def find(module_id: ModuleId) -> CompiledModule | None:
        found = published.get(module_id)
        return unpublished.get(module_id) if found is None else deserialize(found.data)

    return find
