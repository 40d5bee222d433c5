"""The compilation of a package folder together with its dependencies in other folders."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.compiler.builder import BuiltPackage, Framework, MoveBuilder
from nexus_tools.sui.localnet.compiler.package_sources import (
    NO_CHECKOUTS,
    NO_PUBLISHED_ADDRESSES,
    Bundle,
    DependencySources,
    PackageSources,
    read_package,
)
from nexus_tools.sui.localnet.compiler.sources import MANIFEST, published_sources
from nexus_tools.sui.move_source import is_unpublished, read_modules


class CompiledPackage(Struct, frozen=True):
    """A compiled package and its sources by path.

    `dependencies` maps the name in each dependency's manifest to the dependency. Unpublished
    packages have temporary addresses.
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
    """Compile the package in a folder.

    Raises the same errors as `read_package` and `MoveBuilder.build`.
    """
    package = read_package(folder, checkouts=checkouts)
    files_by_location: dict[str, Mapping[str, str]] = {}
    compiled_dependencies: dict[str, CompiledPackage] = {}
    for dependency in package.dependencies:
        built = _build_alone(builder, dependency, framework, files_by_location)
        compiled_dependencies[dependency.name] = CompiledPackage(built, dependency.sources, {})
        files_by_location[dependency.location] = dependency.files
    built = builder.build(package.sources, framework, dependencies=files_by_location)
    return CompiledPackage(built, published_sources(package.sources), compiled_dependencies)


def build_to_publish(
    builder: MoveBuilder,
    folder: Path,
    framework: Framework | None = None,
    *,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
    bundle: Bundle | None = None,
    published: Mapping[str, bytes] = NO_PUBLISHED_ADDRESSES,
) -> BuiltPackage:
    """Compile the package in a folder for publication.

    The package's dependencies must be published.

    The modules of the dependencies that `bundle` selects become modules of the package. See
    `read_package` for `published`. Raises the same errors as `read_package` and
    `MoveBuilder.build`.

    Raises:
        ValidationError: A dependency is not published (`dependency_unpublished`), or two modules
            have the same name (`module_names_equal`). The option `--with-unpublished-dependencies`
            of the Sui CLI does not allow equal names either.
    """
    package = read_package(folder, checkouts=checkouts, bundle=bundle, published=published)
    unpublished = [dependency for dependency in package.dependencies if not dependency.is_published]
    if unpublished and bundle is None:
        raise _unpublished(folder, unpublished[0])
    _check_module_names(folder, package, unpublished)
    files_by_location: dict[str, Mapping[str, str]] = {}
    modules: list[bytes] = []
    for dependency in package.dependencies:
        if dependency in unpublished:
            modules += _build_alone(builder, dependency, framework, files_by_location).modules
        files_by_location[dependency.location] = dependency.files
    built = builder.build(package.sources, framework, dependencies=files_by_location)
    return _with_modules_first(built, modules) if modules else built


def _check_module_names(
    folder: Path, package: PackageSources, bundled: Sequence[DependencySources]
) -> None:
    owners: dict[str, list[str]] = {}
    for location, sources in [
        (package_sources.name, package_sources.sources) for package_sources in bundled
    ] + [(str(folder), published_sources(package.sources))]:
        for name in _module_names(sources):
            owners.setdefault(name, []).append(location)
    duplicates = {name: locations for name, locations in owners.items() if len(locations) > 1}
    if duplicates:
        raise _equally_named(duplicates)


def _module_names(sources: Mapping[str, str]) -> set[str]:
    texts = (text for path, text in sources.items() if path.endswith(".move"))
    modules = [module for text in texts for module in read_modules(text)]
    return {module.name for module in modules if not is_unpublished(module.attributes)}


def _equally_named(shared: Mapping[str, Sequence[str]]) -> ValidationError:
    """Return the error for modules with equal names. `shared` maps module names to packages."""
    descriptions = [
        f"{name} (in {' and '.join(locations)})" for name, locations in sorted(shared.items())
    ]
    return ValidationError(
        "module_names_equal",
        f"one package cannot have two modules with the same name: {', '.join(descriptions)}",
        hint="Publish the dependency first, and write its ID into [addresses] of its Move.toml."
        " After that, `--bundle unpublished` does not include the dependency.",
    )


def _with_modules_first(built: BuiltPackage, modules: Sequence[bytes]) -> BuiltPackage:
    """Return a package with bundled modules before its own modules, which use them."""
    all_modules = (*modules, *built.modules)
    dependencies = tuple(dependency for dependency in built.dependencies if any(dependency))
    digest = package_digest(all_modules, dependencies)
    return BuiltPackage(all_modules, dependencies, digest, built.warnings)


def _unpublished(folder: Path, dependency: DependencySources) -> ValidationError:
    manifest = folder / dependency.path / MANIFEST
    return ValidationError(
        "dependency_unpublished",
        f"{folder} depends on {dependency.name}, which is not published",
        hint="Publish the dependency first, and write its ID into [addresses] of"
        f" {os.path.normpath(manifest)},"
        " or publish it as part of the package with `--bundle unpublished`.",
    )


def _build_alone(
    builder: MoveBuilder,
    package: DependencySources,
    framework: Framework | None,
    files_by_location: Mapping[str, Mapping[str, str]],
) -> BuiltPackage:
    files = {MANIFEST: package.manifest_as_root, **package.sources}
    try:
        return builder.build(files, framework, dependencies=files_by_location)
    except ValidationError as error:
        message = f"{package.path}: {error.message}"
        raise ValidationError(error.code, message, hint=error.hint) from None
