"""A package in a folder, compiled with the packages in other folders that it depends on."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from nexus_tools.errors import ValidationError
from nexus_tools.localnet.compiler.builder import BuiltPackage, Framework, MoveBuilder
from nexus_tools.localnet.compiler.package_sources import DependencySources, read_package
from nexus_tools.localnet.compiler.sources import MANIFEST, published_sources


class CompiledPackage(Struct, frozen=True):
    """A compiled package and its sources, path -> text.

    `dependencies` are by the names of their manifests; what is published nowhere has the address
    that it was given for the compilation.
    """

    built: BuiltPackage
    sources: Mapping[str, str]
    dependencies: Mapping[str, "CompiledPackage"]


def build_package(
    builder: MoveBuilder, folder: Path, framework: Framework | None = None
) -> CompiledPackage:
    """Compile the package in a folder. Raises as `read_package` and `MoveBuilder.build` do."""
    package = read_package(folder)
    given: dict[str, Mapping[str, str]] = {}
    compiled: dict[str, CompiledPackage] = {}
    for each in package.dependencies:
        sources = published_sources(each.sources)
        built = _build_alone(builder, each, sources, framework, given)
        compiled[str(each.manifest["package"]["name"])] = CompiledPackage(built, sources, {})
        given[each.location] = {MANIFEST: each.manifest_text, **sources}
    built = builder.build(package.sources, framework, dependencies=given)
    return CompiledPackage(built, published_sources(package.sources), compiled)


def _build_alone(
    builder: MoveBuilder,
    package: DependencySources,
    sources: Mapping[str, str],
    framework: Framework | None,
    given: Mapping[str, Mapping[str, str]],
) -> BuiltPackage:
    files = {MANIFEST: package.manifest_as_root, **sources}
    try:
        return builder.build(files, framework, dependencies=given)
    except ValidationError as error:
        raise ValidationError(error.code, f"{package.path}: {error.message}") from None
