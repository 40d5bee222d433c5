"""The resolution of names in Move sources to modules, addresses and constants.

The names include the names of the framework.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from nexus_tools.sui.bcs import BcsError, byte_vector
from nexus_tools.sui.bytecode import CompiledModule, VectorToken, deserialize
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.framework import FRAMEWORK_NAMES, Release
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import (
    Argument,
    MoveTestSource,
)
from nexus_tools.sui.localnet.move_test.compilation.framework_errors import FRAMEWORK_ERRORS

ConstantName = tuple[str, str]

# Modules that every module imports implicitly.
_ALWAYS_USED = {
    "vector": "std::vector",
    "option": "std::option",
    "object": "sui::object",
    "transfer": "sui::transfer",
    "tx_context": "sui::tx_context",
}
_FRAMEWORK = {name: f"0x{address.hex()}" for address, name in FRAMEWORK_NAMES.items()}
_NUMBER = re.compile(r"(0x[0-9a-fA-F]+|\d+)(?:u\d+)?")


class Names:
    """The names in a package under test. A module has the name in its source.

    `manifests` has the manifests of the dependencies, followed by the package's own manifest.
    `compiled` has the modules of all packages. Compiled modules determine the named addresses that
    a manifest does not set.
    """

    def __init__(
        self,
        manifests: Iterable[str],
        sources: Iterable[MoveTestSource],
        compiled: Collection[tuple[bytes, str]] = (),
    ) -> None:
        self._addresses = {
            name: address for manifest in manifests for name, address in _addresses(manifest)
        }
        self._constants: dict[ConstantName, Argument] = {}
        self._uses: dict[tuple[str, str], str] = {}
        self.functions: dict[tuple[str, str], int] = {}
        for source in sources:
            self._constants |= source.constants
            self._uses |= source.uses
            self.functions |= source.functions
        modules = {module for module, _ in (*self._constants, *self.functions)}
        self._settle_addresses(modules, compiled)
        self._modules = {self._parsed(module): module for module in modules}

    def _settle_addresses(
        self, modules: Iterable[str], compiled: Collection[tuple[bytes, str]]
    ) -> None:
        """Set named addresses to the addresses of compiled modules with matching names."""
        for module in sorted(modules):
            name, separator, module_name = module.partition("::")
            addresses = {
                address for address, compiled_name in compiled if compiled_name == module_name
            }
            is_named = separator and not name[:1].isdigit() and name not in _FRAMEWORK
            if is_named and len(addresses) == 1:
                self._addresses[name] = addresses.pop()

    def module_name(self, address: bytes, name: str) -> str | None:
        """Return a module's name in the sources, or None if the module is not in the sources."""
        return self._modules.get((address, name))

    def module_id(self, module: str, path: Argument | None) -> tuple[bytes, str]:
        """Return the address and name of the module to which `path` refers in `module`.

        If `path` is None, it refers to `module` itself.
        """
        return self._parsed(module if path is None else self._resolved(module, "".join(path)))

    def constant(self, module: str, path: Argument) -> ConstantName:
        """Return the constant to which `path` refers in `module`. Raises `ValidationError`."""
        if len(path) == 1:
            name_pair = (module, path[0])
            if name_pair not in self._constants and name_pair in self._uses:
                owner, _, name = self._uses[name_pair].rpartition("::")
                name_pair = (self._resolved(module, owner), name)
        else:
            name_pair = (self._resolved(module, "".join(path[:-2])), path[-1])
        owners = {self._parsed(owner): owner for owner, _ in self._constants}
        owner = owners.get(self._parsed(name_pair[0]), name_pair[0])
        if (owner, name_pair[1]) not in self._constants:
            raise ValidationError(
                "constant_unknown",
                f"{module} expects {''.join(path)}, but its value is not in the package's sources",
                hint="Use the number instead, with `location` for the module.",
            )
        return owner, name_pair[1]

    def value(self, constant: ConstantName) -> int | None:
        """Return the value of a constant, or None if the value is not a number."""
        return _number(self._constants[constant])

    def number(self, module: str, path: Argument) -> int:
        """Return the numeric value of a literal or a constant. Raises `ValidationError`."""
        literal = _number(path)
        value = literal if literal is not None else self.value(self.constant(module, path))
        if value is None:
            raise ValidationError("constant_unknown", f"{module}: {''.join(path)} is not a number")
        return value

    def constants_of(self, module: str, code: int) -> list[str]:
        """Return the names of a module's constants with this value, with error constants first."""
        names = [
            name
            for (owner, name), value in self._constants.items()
            if owner == module and _number(value) == code
        ]
        return sorted(names, key=lambda name: (not re.match(r"E[A-Z]", name), name))

    def lines_of(self, module: str) -> list[int]:
        """Return the number of the first line of each function in a module."""
        return [line for (owner, _), line in self.functions.items() if owner == module]

    def address(self, text: str) -> bytes:
        """Return a literal or named address, with or without `@`. Raises `ValidationError`."""
        text = text.removeprefix("@")
        if text in self._addresses:
            return self._addresses[text]
        try:
            return (int(text, 16 if text.startswith("0x") else 10)).to_bytes(32, "big")
        except ValueError:
            raise ValidationError("address_unknown", f"unknown named address: {text}") from None

    def _resolved(self, module: str, path: str) -> str:
        """Return the full path of the module to which `path` refers in `module`."""
        if path == "Self":
            return module
        path = path.removeprefix("::")
        if "::" not in path:
            return self._uses.get((module, path), _ALWAYS_USED.get(path, path))
        return path

    def _parsed(self, path: str) -> tuple[bytes, str]:
        address, separator, name = path.rpartition("::")
        if not separator:
            raise ValidationError("module_unknown", f"module {path} does not exist")
        return self.address(address), name


def _addresses(manifest: str) -> Iterator[tuple[str, bytes]]:
    """Yield the named addresses of a manifest. The address of the package itself is 0x0."""
    document = tomllib.loads(manifest)
    names = {document.get("package", {}).get("name", ""): "0x0"}
    names |= {**document.get("addresses", {}), **document.get("dev-addresses", {})}
    for name, value in (names | _FRAMEWORK).items():
        # `_` means that a package that depends on this package sets the address.
        if value != "_":
            yield name, int(value, 16).to_bytes(32, "big")


def _number(tokens: Argument) -> int | None:
    match = _NUMBER.fullmatch("".join(tokens).replace("_", ""))
    return int(match[1], 0) if match else None


_ERROR = re.compile(rb"E[A-Z]\w*")


@lru_cache(maxsize=4)
def framework_constants(release: Release) -> MoveTestSource:
    """Return names that include the framework's error constants.

    For constants with messages, the bytecode contains the names.
    """
    constants: dict[tuple[str, str], Argument] = {}
    for address, package in FRAMEWORK_NAMES.items():
        for data in release.packages[address].modules:
            module = deserialize(data)
            path = f"{package}::{module.name}"
            # Constants with messages do not have a number, because their abort codes refer to their
            # names (see `clever_error`).
            constants |= {(path, name): () for name in _named_errors(module)}
    for path, errors in FRAMEWORK_ERRORS.items():
        constants |= {(path, name): (str(code),) for name, code in errors.items()}
    return MoveTestSource("", constants=constants)


def _named_errors(module: CompiledModule) -> set[str]:
    names = set()
    for constant in module.constants:
        if constant.type != VectorToken("u8"):
            continue
        try:
            text = byte_vector.decode(constant.data)
        except BcsError:
            continue
        if _ERROR.fullmatch(text):
            names.add(text.decode())
    return names
