"""A package in a folder, compiled with the packages in other folders that it depends on."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.compiler.builder import BuiltPackage, Framework, MoveBuilder
from nexus_tools.sui.localnet.compiler.package_sources import (
    NO_CHECKOUTS,
    NOTHING_PUBLISHED,
    Bundle,
    DependencySources,
    PackageSources,
    read_package,
)
from nexus_tools.sui.localnet.compiler.sources import MANIFEST, published_sources
from nexus_tools.sui.move_source import is_unpublished, read_modules


class CompiledPackage(Struct, frozen=True):
    """A compiled package and its sources, path -> text.

    `dependencies` are by the names of their manifests; what is published nowhere has the address
    that it was given for the compilation.
    """

    built: BuiltPackage
    sources: Mapping[str, str]
    dependencies: Mapping[str, "CompiledPackage"]


def build_package(
    builder: MoveBuilder,
    folder: Path,
    framework: Framework | None = None,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
) -> CompiledPackage:
    """Compile the package in a folder. Raises as `read_package` and `MoveBuilder.build` do."""
    package = read_package(folder, checkouts=checkouts)
    given: dict[str, Mapping[str, str]] = {}
    compiled: dict[str, CompiledPackage] = {}
    for each in package.dependencies:
        built = _build_alone(builder, each, framework, given)
        compiled[each.name] = CompiledPackage(built, each.sources, {})
        given[each.location] = each.files
    built = builder.build(package.sources, framework, dependencies=given)
    return CompiledPackage(built, published_sources(package.sources), compiled)


def build_to_publish(
    builder: MoveBuilder,
    folder: Path,
    framework: Framework | None = None,
    *,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
    bundle: Bundle | None = None,
    published: Mapping[str, bytes] = NOTHING_PUBLISHED,
) -> BuiltPackage:
    """Compile the package in a folder as it can be published: what it depends on is published.

    The modules of what `bundle` names become modules of the package; `published` is as for
    `read_package`. Raises
    `dependency_unpublished`, `module_names_equal` for two of one name, which no package can have
    (nor by the `--with-unpublished-dependencies` of Sui's own command), and as `read_package` and
    `MoveBuilder.build` do.
    """
    package = read_package(folder, checkouts=checkouts, bundle=bundle, published=published)
    unpublished = [each for each in package.dependencies if not each.is_published]
    if unpublished and bundle is None:
        raise _unpublished(folder, unpublished[0])
    _check_module_names(folder, package, unpublished)
    given: dict[str, Mapping[str, str]] = {}
    modules: list[bytes] = []
    for each in package.dependencies:
        if each in unpublished:
            modules += _build_alone(builder, each, framework, given).modules
        given[each.location] = each.files
    built = builder.build(package.sources, framework, dependencies=given)
    return _with_modules_first(built, modules) if modules else built


def _check_module_names(
    folder: Path, package: PackageSources, bundled: Sequence[DependencySources]
) -> None:
    owners: dict[str, list[str]] = {}
    for place, sources in [(each.name, each.sources) for each in bundled] + [
        (str(folder), published_sources(package.sources))
    ]:
        for name in _module_names(sources):
            owners.setdefault(name, []).append(place)
    shared = {name: places for name, places in owners.items() if len(places) > 1}
    if shared:
        raise _equally_named(shared)


def _module_names(sources: Mapping[str, str]) -> set[str]:
    texts = (text for path, text in sources.items() if path.endswith(".move"))
    modules = [module for text in texts for module in read_modules(text)]
    return {module.name for module in modules if not is_unpublished(module.attributes)}


def _equally_named(shared: Mapping[str, Sequence[str]]) -> ValidationError:
    """The error for modules in more than one package: name -> where they are."""
    found = [f"{name} (in {' and '.join(places)})" for name, places in sorted(shared.items())]
    return ValidationError(
        "module_names_equal",
        f"one package cannot have two modules of one name: {', '.join(found)}",
        hint="publish the dependency first, and write its id into [addresses] of its Move.toml;"
        " then --bundle unpublished leaves it where it is",
    )


def _with_modules_first(built: BuiltPackage, modules: Sequence[bytes]) -> BuiltPackage:
    """The package with the modules of others, which come before those that use them."""
    together = (*modules, *built.modules)
    dependencies = tuple(each for each in built.dependencies if any(each))
    digest = package_digest(together, dependencies)
    return BuiltPackage(together, dependencies, digest, built.warnings)


def _unpublished(folder: Path, dependency: DependencySources) -> ValidationError:
    manifest = folder / dependency.path / MANIFEST
    return ValidationError(
        "dependency_unpublished",
        f"{folder} depends on {dependency.name}, which is published nowhere",
        hint=f"publish it first, and write its id into [addresses] of {os.path.normpath(manifest)},"
        " or publish it within: --bundle unpublished",
    )


def _build_alone(
    builder: MoveBuilder,
    package: DependencySources,
    framework: Framework | None,
    given: Mapping[str, Mapping[str, str]],
) -> BuiltPackage:
    files = {MANIFEST: package.manifest_as_root, **package.sources}
    try:
        return builder.build(files, framework, dependencies=given)
    except ValidationError as error:
        message = f"{package.path}: {error.message}"
        raise ValidationError(error.code, message, hint=error.hint) from None
