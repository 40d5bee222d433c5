"""A Move package in a folder, with the packages in other folders that it depends on.

The compiler is given manifests of our own for all of them. The packages stand side by side there,
whatever their folders are, and each has an address: what is not published yet gets one for the
time of the compilation, so that modules of two packages may have the same name.
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
# Packages without an address have those from here on.
_FIRST_ADDRESS = 0x1000
# The compiler gives 0x0 to the root's own address, which it knows by the name of the package.
_NAME_AS_ROOT = "nexus_tools_compiled_alone"


class DependencySources(Struct, frozen=True):
    """A package that another one depends on.

    `location` is the folder that manifests name, `path` the true one as seen from the package that
    was asked for; `sources` are path -> text without the manifest, with the tests if they were
    asked for. One that is not published has an address that was made up, or is bundled.
    """

    location: str
    path: str
    sources: Mapping[str, str]
    manifest: Mapping[str, Any]
    is_published: bool

    @property
    def name(self) -> str:
        """What its manifest calls it."""
        return str(self.manifest["package"]["name"])

    @property
    def files(self) -> Mapping[str, str]:
        """What the compiler is given of it when it compiles what depends on it."""
        return {MANIFEST: self.manifest_text, **self.sources}

    @property
    def manifest_text(self) -> str:
        """The manifest for a compilation of what depends on the package."""
        return tomli_w.dumps(self.manifest)

    @property
    def manifest_as_root(self) -> str:
        """The manifest to compile the package itself, with its address in the bytecode."""
        return tomli_w.dumps(_with_own_address(self.manifest))


class PackageSources(Struct, frozen=True):
    """A package, path -> text, and the others, each after those that it depends on itself."""

    sources: Mapping[str, str]
    dependencies: tuple[DependencySources, ...]


Bundle = Literal["unpublished", "all"]
"""Which dependencies become a part of the package that is published."""

NO_CHECKOUTS: Mapping[str, Path] = MappingProxyType({})
NOTHING_PUBLISHED: Mapping[str, bytes] = MappingProxyType({})


def read_package(
    folder: Path,
    *,
    for_tests: bool = False,
    checkouts: Mapping[str, Path] = NO_CHECKOUTS,
    bundle: Bundle | None = None,
    published: Mapping[str, bytes] = NOTHING_PUBLISHED,
) -> PackageSources:
    """The package in a folder with all that it depends on, and what its tests need if asked.

    `checkouts` are folders of dependencies by the names that manifests have for them, wherever
    these say that they are. What `bundle` names is at 0x0 as the package itself is, to be published
    within it: packages that are published nowhere, or all. `published` has the addresses of those
    whose own manifests do not say that they are.

    Raises `NotFoundError` if a folder has no `Move.toml`; `ValidationError` for a manifest that is
    invalid, a dependency in no folder, dependencies in a circle, an address that is left open, a
    checkout that nothing depends on.
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
    """A package while it is read: `name` is what its modules call its address.

    `given` are the addresses that importing packages give, `addresses` those that it has;
    `published_at` is where it is, whatever its manifest does not say. `names` are the address names
    that mean another package elsewhere in the graph, with the distinct ones for the compiler.
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
        """Return the name for the compiler, for which the name of a package is an address.

        Only manifests without `[addresses]` mean that; in others the name is a mere label.
        """
        is_label = self.manifest.has_addresses and self.name in self.addresses
        return self.names.get(self.name, self.name if is_label else self.manifest.name)


class _Reader:
    """Reads packages; `order` has each after what it depends on."""

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
        place = folder.resolve()
        if any(importer.folder == place for importer in importers):
            names = " -> ".join(each.manifest.name for each in (*importers, self._nodes[place]))
            raise ValidationError(
                "move_dependency_cycle", f"packages depend on themselves: {names}"
            )
        return self._nodes.get(place) or self._read(place, importers)

    def _read(self, folder: Path, importers: tuple[_Node, ...]) -> _Node:
        sources = _sources(folder, importers, for_tests=self._for_tests)
        place = str(folder / MANIFEST)
        manifest = parse_manifest(sources[MANIFEST], place, for_tests=self._for_tests)
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
            raise _not_here(importer.manifest, dependency)
        return importer.folder / dependency.local


def _check_checkouts(root: _Node, checkouts: Mapping[str, Path], order: list[_Node]) -> None:
    known = {dependency.alias for node in order for dependency, _ in node.children}
    for name in checkouts.keys() - known:
        raise ValidationError(
            "dependency_unknown",
            f"{root.manifest.name} depends on no {name}; known are:"
            f" {', '.join(sorted(known)) or 'none'}",
            hint="use the name that Move.toml has for it",
        )


def _sources(folder: Path, importers: tuple[_Node, ...], *, for_tests: bool) -> Mapping[str, str]:
    """The files of a package; with tests of dependencies too, for other packages may use them."""
    if not importers:
        return read_sources(folder)
    try:
        sources = read_sources(folder)
        return sources if for_tests else published_sources(sources)
    except NotFoundError as error:
        importer = importers[-1]
        error.hint = f"{importer.folder / MANIFEST} names this folder"
        raise


def _not_here(importer: Manifest, dependency: Dependency) -> ValidationError:
    source = dependency.source.get("git") or dependency.source.get("r") or dict(dependency.source)
    return ValidationError(
        "move_dependency_unsupported",
        f"{importer.name} depends on {dependency.alias} from {_in_words(source)}, and no package"
        " is fetched",
        hint=f"check its sources out, and name the folder: --dependency {dependency.alias}=FOLDER,"
        f' or {dependency.alias} = {{ local = "FOLDER" }} in Move.toml',
    )


def _in_words(source: Any) -> str:
    """Where a dependency comes from: a URL, or the registry and the name there."""
    if isinstance(source, Mapping):
        return ", ".join(f"{key} {value}" for key, value in source.items())
    return str(source)


def _name(manifest: Manifest, sources: Mapping[str, str]) -> str:
    """What the modules call the package's address: a name, or an address."""
    found = [match[1] for text in sources.values() for match in _MODULE.finditer(text)]
    known = {*manifest.addresses, manifest.name}
    return next((name for name in found if name in known), (*found, manifest.name)[0])


def _assign_addresses(order: list[_Node], *, bundle: Bundle | None, for_tests: bool) -> None:
    """Give all names their addresses, importing packages first: they may decide those of others.

    The package itself is at 0x0, as everything that is published; in tests where it says: the
    tests of Wormhole make an upgrade cap for `@wormhole`, which cannot be one for 0x0.
    """
    declared = {address for node in order for address in node.manifest.addresses.values()}
    free = repeat(_UNPUBLISHED) if bundle else _free_addresses(declared)
    for node in reversed(order):
        written = node.manifest.addresses.items()
        resolved = {name: address or node.given.get(name) for name, address in written}
        if node is not order[-1]:
            published = None if bundle == "all" else _published_address(node)
            resolved[node.name] = published or next(free)
        else:
            own = _published_address(node) if for_tests else None
            if own or node.name in resolved:
                resolved[node.name] = own or _UNPUBLISHED
        node.addresses = {name: _settled(node, name, each) for name, each in resolved.items()}
        for dependency, child in node.children:
            given = {**node.given, **node.addresses, **dependency.assigned}
            child.given = {**given, **child.given}


def _free_addresses(taken: set[bytes | None]) -> Iterator[bytes]:
    number = _FIRST_ADDRESS
    while True:
        address = number.to_bytes(len(_UNPUBLISHED), "big")
        if address not in taken:
            yield address
        number += 1


def _published_address(node: _Node) -> bytes | None:
    """What the modules of a dependency have for an address, if it is published.

    Its first version has it; the manifest of a package that was upgraded says in `published-at`
    where the newest one is. A manifest with 0x0 and `published-at` is of the first one.
    """
    names = node.manifest.addresses
    address = names.get(node.name) or (node.given.get(node.name) if node.name in names else None)
    if address is not None and address != _UNPUBLISHED:
        return address
    return _literal(node.name) or node.manifest.published_at or node.published_at


def _literal(name: str) -> bytes | None:
    """The address of modules that name it as a number."""
    return parse_address(name) if _LITERAL.fullmatch(name) else None


def _settled(node: _Node, name: str, address: bytes | None) -> bytes:
    if address is None:
        raise ValidationError(
            "address_unassigned",
            f"{node.folder / MANIFEST} leaves the address {name} open",
            hint="give it in [addresses] of the package that imports it, or in [dev-addresses] for"
            " tests alone",
        )
    return address


def _root_manifest(root: _Node) -> Mapping[str, Any]:
    """The manifest of the package that was asked for: it is at 0x0, or in tests where it says."""
    manifest, own = _manifest(root), root.addresses.get(root.name, _UNPUBLISHED)
    return manifest if own == _UNPUBLISHED else _with_own_address(manifest)


def _with_own_address(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A manifest by which the compiler leaves the package at the address that it says."""
    package = {**manifest["package"], "name": _NAME_AS_ROOT}
    package.pop("published-at", None)  # the compiler would take that for the address
    return {**manifest, "package": package}


def _manifest(node: _Node) -> Mapping[str, Any]:
    """The manifest of a package for the compiler."""
    locations = {id(dependency): child.location for dependency, child in node.children}
    settings = dict(node.manifest.settings)
    if node.addresses.get(node.name) == _UNPUBLISHED:  # wherever an older one of it may be
        settings.pop("published-at", None)
    return {
        "package": {"name": node.package_name, **settings},
        "dependencies": {
            dependency.alias: {"local": locations[id(dependency)]}
            if id(dependency) in locations
            else framework_source(dependency.source)
            for dependency in node.manifest.dependencies
        },
        "addresses": {name: f"0x{address.hex()}" for name, address in _named(node).items()},
    }


def _named(node: _Node) -> dict[str, bytes]:
    """Return the addresses of a manifest. The name of a package in its graph is that package's.

    Names are local to a package: two packages of one name in other parts of the graph keep theirs.
    """
    owned = {
        each.name: each.addresses[each.name] for each in _graph(node) if each.name in each.addresses
    }
    named = {
        name: owned.get(name, address)
        for name, address in (node.addresses | _aliases(node)).items()
    }
    names = ((node.names.get(name, name), name) for name in named if not _LITERAL.fullmatch(name))
    return {new: named[name] for new, name in names}


def _separate_names(order: list[_Node]) -> None:
    """Give packages that share a name distinct ones, in their sources and those of importers."""
    taken = {name for node in order for name in (node.name, *node.addresses)}
    distinct = distinct_names({id(node): node.name for node in order}, taken)
    for node in order if distinct else ():
        seen = {each.name: distinct.get(id(each)) for each in _graph(node)}
        node.names = {name: new for name, new in seen.items() if new is not None}
        node.sources = {
            path: rename_addresses(text, node.names, str(node.folder / path))
            for path, text in node.sources.items()
        }


def _graph(node: _Node) -> Iterator[_Node]:
    """Yield a package's dependencies, and then the package; the nearest come last."""
    level, levels = [node], []
    while level:
        levels.append(level)
        level = list({id(child): child for each in level for _, child in each.children}.values())
    for level in reversed(levels):
        yield from level


def _aliases(node: _Node) -> dict[str, bytes]:
    """What a package calls its dependencies otherwise than they call themselves."""
    aliases = {}
    for dependency, child in node.children:
        if dependency.is_renamed:
            aliases[dependency.alias] = child.addresses[child.name]
        for name, value in dependency.aliases.items():
            if value in child.addresses:
                aliases[name] = child.addresses[value]
    return aliases
