"""A Move package in a folder, with its dependencies in other folders.

The compiler receives generated manifests in which all packages are in sibling folders. An
unpublished package gets a temporary address for the compilation.
"""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import tomli_w
from msgspec import Struct, field

from nexus_tools.sui.errors import NotFoundError, ValidationError
from nexus_tools.sui.localnet.compiler.address_names import distinct_names, rename_addresses
from nexus_tools.sui.localnet.compiler.manifest import (
    Dependency,
    Manifest,
    framework_source,
    parse_address,
    parse_manifest,
)
from nexus_tools.sui.localnet.compiler.sources import MANIFEST, published_sources, read_sources

_MODULE = re.compile(r"^\s*(?:#\[[^\]]*\]\s*)*module\s+(\w+)\s*::", re.MULTILINE)
_LITERAL = re.compile(r"0x[0-9a-fA-F]{1,64}")
_UNPUBLISHED = bytes(32)
# The first temporary address for packages without an address.
_FIRST_ADDRESS = 0x1000
# If the root package has this name, the compiler does not set the package's own address to 0x0.
_NAME_AS_ROOT = "nexus_tools_compiled_alone"


class DependencySources(Struct, frozen=True):
    """A package on which another package depends.

    `location` is the folder in the generated manifests. `path` is the real folder, relative to the
    requested package. `sources` has the files by path, without the manifest.
    """

    location: str
    path: str
    sources: Mapping[str, str]
    manifest: Mapping[str, Any]
    is_published: bool

    @property
    def name(self) -> str:
        """The package's name in its manifest."""
        return str(self.manifest["package"]["name"])

    @property
    def files(self) -> Mapping[str, str]:
        """The files that the compiler needs for packages that depend on this package."""
        return {MANIFEST: self.manifest_text, **self.sources}

    @property
    def manifest_text(self) -> str:
        """The manifest for the compilation of packages that depend on this package."""
        return tomli_w.dumps(self.manifest)

    @property
    def manifest_as_root(self) -> str:
        """The manifest for the compilation of the package itself at its own address."""
        return tomli_w.dumps(_with_own_address(self.manifest))


class PackageSources(Struct, frozen=True):
    """A package's files by path, and its dependencies, each after the packages it needs."""

    sources: Mapping[str, str]
    dependencies: tuple[DependencySources, ...]


Bundle = Literal["unpublished", "all"]
"""The selection of dependencies that become part of the published package."""

NO_CHECKOUTS: Mapping[str, Path] = MappingProxyType({})
NO_PUBLISHED_ADDRESSES: Mapping[str, bytes] = MappingProxyType({})


def read_package(
    folder: Path,
    *,
    for_tests: bool = False,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
    bundle: Bundle | None = None,
    published: Mapping[str, bytes] = NO_PUBLISHED_ADDRESSES,
) -> PackageSources:
    """Read the package in a folder with all dependencies. `for_tests` includes test dependencies.

    `checkouts` maps names of dependencies to folders, which override the sources in the manifests.
    The dependencies that `bundle` selects have the address 0x0, like the package itself, because
    they are published as part of the package. `published` has the addresses of published packages
    whose manifests do not contain the address.

    Raises `NotFoundError` if a folder has no `Move.toml`, and `ValidationError` for an invalid
    manifest, a dependency without a folder, a cycle, an open address, or an unused checkout.
    """
    reader = _Reader(for_tests=for_tests, checkouts=checkouts, published=published)
    root = reader.read(folder, ())
    _check_checkouts(root, checkouts, reader.order)
    _assign_addresses(reader.order, bundle=bundle, for_tests=for_tests)
    _separate_names(reader.order)
    return PackageSources(
        {**root.sources, MANIFEST: tomli_w.dumps(_root_manifest(root))},
        tuple(
            DependencySources(
                node.location,
                Path(os.path.relpath(node.folder, root.folder)).as_posix(),
                {path: text for path, text in node.sources.items() if path != MANIFEST},
                _manifest(node),
                bundle != "all" and _published_address(node) is not None,
            )
            for node in reader.order
            if node is not root
        ),
    )


class _Node(Struct, eq=False):
    """The state of a package while it is read. `name` is the package's address name in its modules.

    `given` are the addresses that importing packages assign, and `addresses` are the resolved
    addresses. `published_at` is the address if the manifest lacks it. If an address name has a
    different meaning elsewhere in the graph, `names` maps it to a distinct name for the compiler.
    """

    folder: Path
    location: str
    manifest: Manifest
    sources: Mapping[str, str]
    name: str
    children: list[tuple[Dependency, "_Node"]] = field(default_factory=list)
    given: dict[str, bytes] = field(default_factory=dict)
    addresses: dict[str, bytes] = field(default_factory=dict)
    published_at: bytes | None = None
    names: dict[str, str] = field(default_factory=dict)

    @property
    def package_name(self) -> str:
        """The package name for the compiler, which also uses it as an address name.

        Only manifests without `[addresses]` use the package name as an address.
        """
        is_label = self.manifest.has_addresses and self.name in self.addresses
        return self.names.get(self.name, self.name if is_label else self.manifest.name)


class _Reader:
    """A reader of package folders. `order` has each package after its dependencies."""

    def __init__(
        self,
        *,
        for_tests: bool,
        checkouts: Mapping[str, Path],
        published: Mapping[str, bytes],
    ) -> None:
        self._for_tests = for_tests
        self._checkouts = checkouts
        self._published = published
        self._nodes: dict[Path, _Node] = {}
        self.order: list[_Node] = []

    def read(self, folder: Path, importers: tuple[_Node, ...]) -> _Node:
        path = folder.resolve()
        if any(importer.folder == path for importer in importers):
            names = " -> ".join(node.manifest.name for node in (*importers, self._nodes[path]))
            raise ValidationError(
                "move_dependency_cycle", f"the dependencies form a cycle: {names}"
            )
        return self._nodes.get(path) or self._read(path, importers)

    def _read(self, folder: Path, importers: tuple[_Node, ...]) -> _Node:
        sources = _sources(folder, importers, for_tests=self._for_tests)
        manifest_path = str(folder / MANIFEST)
        manifest = parse_manifest(sources[MANIFEST], manifest_path, for_tests=self._for_tests)
        location = f"../{len(self._nodes)}"
        name = _name(manifest, sources)
        node = _Node(folder, location, manifest, sources, name)
        node.published_at = self._published.get(name)
        self._nodes[folder] = node
        for dependency in manifest.dependencies:
            if dependency.is_framework:
                continue
            child = self.read(self._place(node, dependency), (*importers, node))
            node.children.append((dependency, child))
        self.order.append(node)
        return node

    def _place(self, importer: _Node, dependency: Dependency) -> Path:
        checkout = self._checkouts.get(dependency.alias)
        if checkout is not None:
            return checkout
        if dependency.local is None:
            raise _unsupported_dependency(importer.manifest, dependency)
        return importer.folder / dependency.local


def _check_checkouts(root: _Node, checkouts: Mapping[str, Path], order: list[_Node]) -> None:
    aliases = {dependency.alias for node in order for dependency, _ in node.children}
    for name in checkouts.keys() - aliases:
        raise ValidationError(
            "dependency_unknown",
            f"{root.manifest.name} does not depend on {name}; its dependencies are:"
            f" {', '.join(sorted(aliases)) or 'none'}",
            hint="Use the name in Move.toml.",
        )


def _sources(folder: Path, importers: tuple[_Node, ...], *, for_tests: bool) -> Mapping[str, str]:
    """Return a package's files. For tests, include dependencies' tests."""
    if not importers:
        return read_sources(folder)
    try:
        sources = read_sources(folder)
        return sources if for_tests else published_sources(sources)
    except NotFoundError as error:
        importer = importers[-1]
        error.hint = f"Check the folder of this dependency in {importer.folder / MANIFEST}."
        raise


def _unsupported_dependency(importer: Manifest, dependency: Dependency) -> ValidationError:
    source = dependency.source.get("git") or dependency.source.get("r") or dict(dependency.source)
    return ValidationError(
        "move_dependency_unsupported",
        f"{importer.name} depends on {dependency.alias} from {_source_text(source)}, but"
        " nexus-tools does not download packages",
        hint="Check out the sources of the dependency, and specify the folder with"
        f" `--dependency {dependency.alias}=FOLDER`, or with"
        f' `{dependency.alias} = {{ local = "FOLDER" }}` in Move.toml.',
    )


def _source_text(source: Any) -> str:
    """Return the source of a dependency as text, which is a URL or a registry and a name."""
    if isinstance(source, Mapping):
        return ", ".join(f"{key} {value}" for key, value in source.items())
    return str(source)


def _name(manifest: Manifest, sources: Mapping[str, str]) -> str:
    """Return the name or the literal that a package's modules use for the package's address."""
    names = [match[1] for text in sources.values() for match in _MODULE.finditer(text)]
    declared = {*manifest.addresses, manifest.name}
    return next((name for name in names if name in declared), (*names, manifest.name)[0])


def _assign_addresses(order: list[_Node], *, bundle: Bundle | None, for_tests: bool) -> None:
    """Assign addresses to all names.

    Importing packages come first, because they may assign addresses.

    The requested package is at 0x0, like every package before publication. In tests, the package
    has its own address. For example, the tests of Wormhole create an upgrade cap for `@wormhole`,
    which must not be 0x0.
    """
    declared = {address for node in order for address in node.manifest.addresses.values()}
    free_addresses = repeat(_UNPUBLISHED) if bundle else _free_addresses(declared)
    for node in reversed(order):
        manifest_addresses = node.manifest.addresses.items()
        resolved = {name: address or node.given.get(name) for name, address in manifest_addresses}
        if node is not order[-1]:
            published_address = None if bundle == "all" else _published_address(node)
            resolved[node.name] = published_address or next(free_addresses)
        else:
            own_address = _published_address(node) if for_tests else None
            if own_address or node.name in resolved:
                resolved[node.name] = own_address or _UNPUBLISHED
        node.addresses = {
            key: _require_address(node, key, value) for key, value in resolved.items()
        }
        for dependency, child in node.children:
            assigned = {**node.given, **node.addresses, **dependency.assigned}
            child.given = {**assigned, **child.given}


def _free_addresses(taken: set[bytes | None]) -> Iterator[bytes]:
    number = _FIRST_ADDRESS
    while True:
        address = number.to_bytes(len(_UNPUBLISHED), "big")
        if address not in taken:
            yield address
        number += 1


def _published_address(node: _Node) -> bytes | None:
    """Return a dependency's address in its modules, or None if the dependency is not published.

    The manifest of the first version has the address, or 0x0 and `published-at`. The manifest of an
    upgraded package has the newest address in `published-at`.
    """
    names = node.manifest.addresses
    address = names.get(node.name) or (node.given.get(node.name) if node.name in names else None)
    if address is not None and address != _UNPUBLISHED:
        return address
    return _literal(node.name) or node.manifest.published_at or node.published_at


def _literal(name: str) -> bytes | None:
    """Return the address that a literal in the sources has, or None if `name` is not a literal."""
    return parse_address(name) if _LITERAL.fullmatch(name) else None


def _require_address(node: _Node, name: str, address: bytes | None) -> bytes:
    if address is None:
        raise ValidationError(
            "address_unassigned",
            f"{node.folder / MANIFEST} does not assign the address {name}",
            hint="Assign it in [addresses] of the package that imports it, or in [dev-addresses]"
            " for tests only.",
        )
    return address


def _root_manifest(root: _Node) -> Mapping[str, Any]:
    """Return the manifest of the requested package, with 0x0 or, in tests, its own address."""
    manifest, own_address = _manifest(root), root.addresses.get(root.name, _UNPUBLISHED)
    return manifest if own_address == _UNPUBLISHED else _with_own_address(manifest)


def _with_own_address(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest that makes the compiler keep the package's own address."""
    package = {**manifest["package"], "name": _NAME_AS_ROOT}
    package.pop("published-at", None)  # the compiler would use this address
    return {**manifest, "package": package}


def _manifest(node: _Node) -> Mapping[str, Any]:
    """Return the manifest of a package that the compiler receives."""
    locations = {id(dependency): child.location for dependency, child in node.children}
    settings = dict(node.manifest.settings)
    if node.addresses.get(node.name) == _UNPUBLISHED:  # an older version may be published
        settings.pop("published-at", None)
    return {
        "package": {"name": node.package_name, **settings},
        "dependencies": {
            dependency.alias: {"local": locations[id(dependency)]}
            if id(dependency) in locations
            else framework_source(dependency.source)
            for dependency in node.manifest.dependencies
        },
        "addresses": {key: f"0x{value.hex()}" for key, value in _manifest_addresses(node).items()},
    }


def _manifest_addresses(node: _Node) -> dict[str, bytes]:
    """Return the addresses for a manifest. Package names are resolved in the package's own graph.

    Names are local to a package, so packages with the same name in other parts of the graph keep
    their addresses.
    """
    graph_addresses = {p.name: p.addresses[p.name] for p in _graph(node) if p.name in p.addresses}
    addresses = {
        name: graph_addresses.get(name, address)
        for name, address in (node.addresses | _aliases(node)).items()
    }
    names = ((node.names.get(key, key), key) for key in addresses if not _LITERAL.fullmatch(key))
    return {new: addresses[key] for new, key in names}


def _separate_names(order: list[_Node]) -> None:
    """Rename packages that share a name, both in their own sources and in their importers."""
    taken = {name for node in order for name in (node.name, *node.addresses)}
    distinct = distinct_names({id(node): node.name for node in order}, taken)
    for node in order if distinct else ():
        graph_names = {package.name: distinct.get(id(package)) for package in _graph(node)}
        node.names = {name: new for name, new in graph_names.items() if new is not None}
        node.sources = {
            path: rename_addresses(text, node.names, str(node.folder / path))
            for path, text in node.sources.items()
        }


def _graph(node: _Node) -> Iterator[_Node]:
    """Yield all dependencies of a package, the most distant first, and then the package."""
    level, levels = [node], []
    while level:
        levels.append(level)
        level = list({id(child): child for p in level for _, child in p.children}.values())
    for level in reversed(levels):
        yield from level


def _aliases(node: _Node) -> dict[str, bytes]:
    """Return the addresses of the dependencies that a package renames, by their new names."""
    aliases = {}
    for dependency, child in node.children:
        if dependency.is_renamed:
            aliases[dependency.alias] = child.addresses[child.name]
        for name, value in dependency.aliases.items():
            if value in child.addresses:
                aliases[name] = child.addresses[value]
    return aliases
