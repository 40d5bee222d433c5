"""The manifest of a Move package, as far as its dependencies and named addresses ask for it.

Both formats are read: the one with `[addresses]` and `[dev-dependencies]`, and its successor, in
which a package's name is its address. Source: "Move.toml" in Sui's documentation.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from nexus_tools.errors import ValidationError
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM

FRAMEWORK_FOLDERS = {
    "move-stdlib": MOVE_STDLIB,
    "sui-framework": SUI_FRAMEWORK,
    "sui-system": SUI_SYSTEM,
}
"""The packages of the framework, by the folders that they have in its repository."""

# What is said of a package to the compiler, besides its name.
_SETTINGS = ("edition", "implicit-dependencies", "published-at")
_OPEN = "_"
_REPOSITORY = "https://github.com/MystenLabs/sui.git"
_PACKAGES = "crates/sui-framework/packages"
_TEST_MODE = "test"
_ADDRESS_BYTES = 32


class Dependency(Struct, frozen=True):
    """An entry of `[dependencies]`: `source` is all that it says.

    `assigned` and `aliases` are its `addr_subst`: named addresses of the dependency with what they
    are, and names of the importing package with those that the dependency has for them.
    """

    alias: str
    source: Mapping[str, Any]
    assigned: Mapping[str, bytes]
    aliases: Mapping[str, str]

    @property
    def is_framework(self) -> bool:
        """Whether it is a package of the Sui framework, which needs to be nowhere."""
        return "system" in self.source or framework_folder(self.source) is not None

    @property
    def local(self) -> str | None:
        """The folder, as seen from that of the manifest; None if the package is elsewhere."""
        folder = self.source.get("local")
        return folder if isinstance(folder, str) else None

    @property
    def is_renamed(self) -> bool:
        """Whether the importing package calls the dependency by the name of the entry."""
        return "rename-from" in self.source


class Manifest(Struct, frozen=True):
    """A manifest. An address that it leaves open (`_`) is None.

    `settings` are those of `[package]` that decide how it is compiled; `published_at` is the newest
    version of the package on chain.
    """

    name: str
    settings: Mapping[str, Any]
    published_at: bytes | None
    addresses: Mapping[str, bytes | None]
    dependencies: tuple[Dependency, ...]


def parse_manifest(text: str, place: str, *, for_tests: bool) -> Manifest:
    """Read a manifest, with what it says for tests or without; `place` is what errors call it.

    Raises `ValidationError`.
    """
    try:
        document = tomllib.loads(text)
        package = document["package"]
        return Manifest(
            str(package["name"]),
            {key: package[key] for key in _SETTINGS if key in package},
            parse_address(package["published-at"]) if "published-at" in package else None,
            _addresses(document, for_tests=for_tests),
            tuple(_dependencies(document, for_tests=for_tests)),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValidationError("manifest_invalid", f"{place}: {error!r}") from None


def framework_folder(source: Mapping[str, Any]) -> str | None:
    """The folder of the framework's package that this is; None if it is another package."""
    path = str(source.get("subdir") or source.get("local") or "")
    folder = path.rstrip("/").rsplit("/", 1)[-1]
    return folder if folder in FRAMEWORK_FOLDERS else None


def framework_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """A package of the framework as every manifest names it to the compiler.

    Packages that name it by other folders or repositories would depend on two of them.
    """
    folder = framework_folder(source)
    if folder is None:  # it is a `system` package already
        return dict(source)
    return {"git": _REPOSITORY, "subdir": f"{_PACKAGES}/{folder}", "rev": "framework"}


def parse_address(text: str) -> bytes:
    """An address as manifests have it, as 32 bytes. Raises `ValueError`."""
    number = int(text, 16)
    if not 0 <= number < 1 << (8 * _ADDRESS_BYTES):
        raise ValueError(f"{text} is no address")
    return number.to_bytes(_ADDRESS_BYTES, "big")


def _addresses(document: Mapping[str, Any], *, for_tests: bool) -> Mapping[str, bytes | None]:
    """The named addresses, those that are left open with what they are in tests."""
    tables = [document.get(key, {}) for key in _tables("addresses", for_tests=for_tests)]
    found: dict[str, bytes | None] = {}
    for name, text in [pair for table in tables for pair in table.items()]:
        if found.get(name) is None:
            found[name] = None if text == _OPEN else parse_address(text)
    return found


def _dependencies(document: Mapping[str, Any], *, for_tests: bool) -> Iterator[Dependency]:
    """Those of all modes, and those of tests; those of other modes are not."""
    for table in _tables("dependencies", for_tests=for_tests):
        for alias, source in document.get(table, {}).items():
            modes = source.get("modes")
            if modes is None or (for_tests and _TEST_MODE in modes):
                yield _dependency(alias, source)


def _tables(name: str, *, for_tests: bool) -> tuple[str, ...]:
    return (name, f"dev-{name}") if for_tests else (name,)


def _dependency(alias: str, source: Mapping[str, Any]) -> Dependency:
    given = source.get("addr_subst", source.get("addr-subst", {})).items()
    assigned = {name: parse_address(value) for name, value in given if value.startswith("0x")}
    aliases = {name: value for name, value in given if name not in assigned}
    return Dependency(alias, source, assigned, aliases)
