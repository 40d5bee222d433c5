"""The manifest of a Move package, with its dependencies and named addresses.

The module supports both formats of manifests: the older format has `[addresses]` and
`[dev-dependencies]`. In the newer format, the name of a package is also the name of its address.
Source: "Move.toml" in Sui's documentation.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM

FRAMEWORK_FOLDERS = {
    "move-stdlib": MOVE_STDLIB,
    "sui-framework": SUI_FRAMEWORK,
    "sui-system": SUI_SYSTEM,
}
"""The addresses of the framework packages, by their folders in Sui's repository."""

# The settings of a package that the compiler receives in addition to the package's name.
_SETTINGS = ("edition", "implicit-dependencies", "published-at")
_OPEN = "_"
_REPOSITORY = "https://github.com/MystenLabs/sui.git"
_PACKAGES = "crates/sui-framework/packages"
_TEST_MODE = "test"
_ADDRESS_BYTES = 32
_ADDRESS = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_HEADER = re.compile(r"\s*\[([^\[\]]+)\]")
_KEY = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*=")


class Dependency(Struct, frozen=True):
    """An entry of `[dependencies]`. `source` contains all values of the entry.

    `assigned` and `aliases` come from the entry's `addr_subst`. `assigned` has values for named
    addresses of the dependency. `aliases` maps names in the importing package to names in the
    dependency.
    """

    alias: str
    source: Mapping[str, Any]
    assigned: Mapping[str, bytes]
    aliases: Mapping[str, str]

    @property
    def is_framework(self) -> bool:
        """Whether the dependency is a Sui framework package, which does not need a folder."""
        return "system" in self.source or framework_folder(self.source) is not None

    @property
    def local(self) -> str | None:
        """The folder of the dependency, relative to the manifest, or None if it is not local."""
        folder = self.source.get("local")
        return folder if isinstance(folder, str) else None

    @property
    def is_renamed(self) -> bool:
        """Whether the importing package uses the entry's name for the dependency."""
        return "rename-from" in self.source


class Manifest(Struct, frozen=True):
    """A parsed manifest. An open (unassigned) address, written as `_`, is None.

    `settings` are the entries of `[package]` that affect compilation. `published_at` is the id of
    the newest on-chain version of the package. If `has_addresses` is set, the manifest has the
    older format.
    """

    name: str
    settings: Mapping[str, Any]
    published_at: bytes | None
    has_addresses: bool
    addresses: Mapping[str, bytes | None]
    dependencies: tuple[Dependency, ...]


def parse_manifest(text: str, place: str, *, for_tests: bool) -> Manifest:
    """Parse a manifest, with or without its test entries. Error messages call the manifest `place`.

    Raises:
        ValidationError: The manifest is invalid (`manifest_invalid`). The message has the line.
    """
    try:
        document = tomllib.loads(text)
        return _manifest(document, for_tests=for_tests)
    except tomllib.TOMLDecodeError as error:
        raise ValidationError("manifest_invalid", f"{place}: invalid TOML: {error}") from None
    except _MismatchError as error:
        raise ValidationError(
            "manifest_invalid", f"{place}{_line(text, error.path)}: {error}"
        ) from None


def framework_folder(source: Mapping[str, Any]) -> str | None:
    """Return the folder of a framework package, or None for any other package."""
    path = str(source.get("subdir") or source.get("local") or "")
    folder = path.rstrip("/").rsplit("/", 1)[-1]
    return folder if folder in FRAMEWORK_FOLDERS else None


def framework_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dependency entry for a framework package in generated manifests.

    All manifests must have equal entries. If the entries had different folders or repositories, the
    compiler would treat the package as two packages.
    """
    folder = framework_folder(source)
    if folder is None:  # the entry has `system` instead of a source
        return dict(source)
    return {"git": _REPOSITORY, "subdir": f"{_PACKAGES}/{folder}", "rev": "framework"}


def parse_address(text: Any) -> bytes:
    """Parse an address in a manifest and return its 32 bytes. Raises `ValueError`."""
    if isinstance(text, str) and _ADDRESS.fullmatch(text):
        number = int(text, 16)
        if number < 1 << (8 * _ADDRESS_BYTES):
            return number.to_bytes(_ADDRESS_BYTES, "big")
    raise ValueError(f"expected an address with up to 64 hexadecimal digits, got {text!r}")


class _MismatchError(Exception):
    """A value of the wrong type in a manifest. `path` has the keys that lead to the value."""

    def __init__(self, path: tuple[str, ...], problem: str) -> None:
        super().__init__(f"{'.'.join(path)}: {problem}")
        self.path = path


def _manifest(document: Mapping[str, Any], *, for_tests: bool) -> Manifest:
    package = _table(document, ("package",))
    name = package.get("name")
    if not isinstance(name, str):
        raise _MismatchError(("package", "name"), "expected the name of the package")
    return Manifest(
        name,
        {key: package[key] for key in _SETTINGS if key in package},
        _address(package["published-at"], ("package", "published-at"))
        if "published-at" in package
        else None,
        any(table in document for table in _tables("addresses", for_tests=True)),
        _addresses(document, for_tests=for_tests),
        tuple(_dependencies(document, for_tests=for_tests)),
    )


def _table(document: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    table = document.get(path[-1], {})
    if not isinstance(table, dict):
        raise _MismatchError(path, f"expected a table, got {table!r}")
    return table


def _address(text: Any, path: tuple[str, ...]) -> bytes:
    try:
        return parse_address(text)
    except ValueError as error:
        raise _MismatchError(path, str(error)) from None


def _line(text: str, path: tuple[str, ...]) -> str:
    """Return `:LINE` for a key, or "" if the line of the key cannot be found."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = tuple(part.strip("\"' ") for part in header[1].split("."))
            if table == path:
                return f":{number}"
        elif (key := _KEY.match(line)) and (*table, key[1]) in (path, path[:2]):
            return f":{number}"
    return ""


def _addresses(document: Mapping[str, Any], *, for_tests: bool) -> Mapping[str, bytes | None]:
    """Return the named addresses.

    For tests, an open address has its value in `dev-addresses`, if that table contains the address.
    """
    addresses: dict[str, bytes | None] = {}
    for table in _tables("addresses", for_tests=for_tests):
        for name, text in _table(document, (table,)).items():
            if addresses.get(name) is None:
                addresses[name] = None if text == _OPEN else _address(text, (table, name))
    return addresses


def _dependencies(document: Mapping[str, Any], *, for_tests: bool) -> Iterator[Dependency]:
    """Yield the dependencies that are not restricted to a mode.

    For tests, also yield dependencies that are restricted to the test mode.
    """
    for table in _tables("dependencies", for_tests=for_tests):
        entries = _table(document, (table,))
        for alias in entries:
            source = _table(entries, (table, alias))
            modes = source.get("modes", [_TEST_MODE] if for_tests else None)
            if not isinstance(modes, list | None):
                raise _MismatchError((table, alias, "modes"), f"expected a list, got {modes!r}")
            if modes is None or (for_tests and _TEST_MODE in modes):
                yield _dependency(alias, source, (table, alias))


def _tables(name: str, *, for_tests: bool) -> tuple[str, ...]:
    return (name, f"dev-{name}") if for_tests else (name,)


def _dependency(alias: str, source: Mapping[str, Any], path: tuple[str, ...]) -> Dependency:
    key = "addr_subst" if "addr_subst" in source else "addr-subst"
    substitutions = _table(source, (*path, key)).items()
    assigned, aliases = {}, {}
    for name, value in substitutions:
        if isinstance(value, str) and not value.startswith("0x"):
            aliases[name] = value
        else:
            assigned[name] = _address(value, (*path, key, name))
    return Dependency(alias, source, assigned, aliases)
