"""Loading of a Move package from a folder or the network, to generate bindings."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.cli.framework import Session
from nexus_tools.cli.package.compiler import Compilation
from nexus_tools.cli.package.published import require_package
from nexus_tools.errors import NexusError, NotFoundError, UsageError
from nexus_tools.sui.bindings.generator import FRAMEWORK_NAMES, PackageSource
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.support.text_file import read_text
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage

_MANIFEST = "Move.toml"
_BYTECODE = "bytecode_modules"
_PUBLISHED = re.compile(r"0x[0-9a-fA-F]{1,64}")


@dataclass(frozen=True, slots=True)
class Found:
    """A loaded package. `framework` returns modules of the package's Sui framework."""

    package: PackageSource
    framework: Callable[[Address], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class PackageReader:
    """A loader of packages. If `framework` is set, it compiles sources against that folder."""

    session: Session
    compilation: Compilation
    framework: Path | None

    async def read(self, place: str) -> Found:
        """Load the package in a folder or with an ID. Raises `package_not_found`."""
        found = await asyncio.to_thread(self._read_folder, Path(place))
        if found is not None:
            return found
        if not _PUBLISHED.fullmatch(place):
            raise UsageError(
                "package_not_found",
                f"{place} is neither a folder nor the ID of a package",
                hint="Pass a folder with Move.toml or .mv files, or an ID that starts with 0x.",
            )
        async with self.session.client() as client:
            return await _read_published(client, Address.parse(place))

    async def read_other(self, found: Found, wanted: str) -> tuple[str, PackageSource]:
        """Load the package of `--include NAME[=PLACE]`. Raises `dependency_unknown`.

        PLACE may also be the name of a dependency, if that name is not a valid Python name.
        """
        name, _, place = wanted.partition("=")
        known = found.package.dependencies
        dependency = known.get(place or name)
        if dependency is not None:
            return name, dependency
        if place:
            return name, (await self.read(place)).package
        raise NotFoundError(
            "dependency_unknown",
            f"the package has no dependency {name} with known modules. Known dependencies:"
            f" {', '.join(sorted(known)) or 'none'}",
            hint="Pass its location: --include NAME=FOLDER, or --include NAME=ID.",
        )

    def _read_folder(self, folder: Path) -> Found | None:
        """Compile the package, or load compiled modules. Return None if the folder is missing."""
        if not folder.is_dir():
            return None
        built = _built_folder(folder)
        if not (folder / _MANIFEST).is_file():
            if built is None:
                raise NotFoundError(
                    "package_not_found",
                    f"{folder} has neither {_MANIFEST} nor modules",
                    hint="Pass the folder of a Move package, or a folder with .mv files.",
                )
            return self._found(_read_built(built))
        try:
            return self._found(self._compile(folder))
        except (NexusError, ModuleNotFoundError) as error:
            if built is None:
                raise
            warning = f"compilation failed, so the modules in {built} are used: {error}"
            self.session.output.warn(warning)
            return self._found(_read_built(built))

    def _compile(self, folder: Path) -> PackageSource:
        from nexus_tools.sui.localnet.compiler import build_package

        builder, checkouts = self.compilation.builder(self.session), self.compilation.checkouts
        compiled = build_package(builder, folder, self.framework, checkouts)
        dependencies = {
            name: PackageSource(_named(name), dependency.built.modules, dependency.sources)
            for name, dependency in compiled.dependencies.items()
        }
        modules, sources = compiled.built.modules, compiled.sources
        return PackageSource(_origin(folder), modules, sources, dependencies)

    def _found(self, package: PackageSource) -> Found:
        if self.compilation.framework_from is None:
            return Found(package, self._framework_modules)
        # The modules are read now, because the node cannot be queried within an event loop.
        modules = {address: self._framework_modules(address) for address in FRAMEWORK_NAMES}
        return Found(package, lambda address: modules.get(address, ()))

    def _framework_modules(self, address: Address) -> Sequence[bytes]:
        package = self.compilation.release(self.session).packages.get(bytes(address))
        return package.modules if package else ()


# --- Networks


async def _read_published(client: SuiClient, package_id: Address) -> Found:
    package = await require_package(client, package_id)
    used = {link.original_id: link.upgraded_id for link in package.linkage}
    system = sorted(used.keys() & FRAMEWORK_NAMES.keys())
    framework = {
        original: _modules(await require_package(client, used[original])) for original in system
    }
    source = PackageSource(f"the package {package_id}", _modules(package), {})
    return Found(source, lambda address: framework.get(address, ()))


def _modules(package: MovePackage) -> tuple[bytes, ...]:
    return tuple(module for _, module in package.modules)


# --- Folders


def _built_folder(folder: Path) -> Path | None:
    """Return the folder of compiled modules: the folder itself, or Sui's build folder."""
    candidates = [folder, folder / _BYTECODE, *sorted(folder.glob(f"build/*/{_BYTECODE}"))]
    return next((candidate for candidate in candidates if any(candidate.glob("*.mv"))), None)


def _read_built(modules: Path) -> PackageSource:
    root = modules.parent if modules.name == _BYTECODE else modules
    dependencies = {
        path.name: PackageSource(_named(path.name), _files(path), {})
        for path in sorted((modules / "dependencies").glob("*"))
        if path.is_dir()
    }
    name = _named(root.resolve().name)
    return PackageSource(name, _files(modules), sources_in(root), dependencies)


def _files(folder: Path) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(folder.glob("*.mv")))


def sources_in(folder: Path) -> dict[str, str]:
    """Return Move sources by path, for names and comments. Invalid UTF-8 is replaced."""
    paths = sorted(path for path in folder.rglob("*.move") if "dependencies" not in path.parts)
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8", errors="replace")
        for path in paths
    }


def _origin(folder: Path) -> str:
    import tomllib

    manifest: dict[str, Any] = tomllib.loads(read_text(folder / _MANIFEST))
    return _named(str(manifest["package"]["name"]))


def _named(name: str) -> str:
    return f"the Move package `{name}`"
