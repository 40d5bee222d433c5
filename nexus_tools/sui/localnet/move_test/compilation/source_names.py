"""What names in sources stand for: modules, named addresses, constants, the framework's too."""

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

# Modules that every module uses without saying so.
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
    """The names of a package under test. A module is known by how its source names it.

    `manifests` are those of the packages that it depends on, and then its own; `compiled` are the
    modules of all, whose addresses a manifest may leave open.
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
        """Take named addresses from the compiled modules of those names."""
        for module in sorted(modules):
            name, separator, own = module.partition("::")
            found = {address for address, compiled_name in compiled if compiled_name == own}
            is_named = separator and not name[:1].isdigit() and name not in _FRAMEWORK
            if is_named and len(found) == 1:
                self._addresses[name] = found.pop()

    def module_name(self, address: bytes, name: str) -> str | None:
        """How the source names a module; None if it is not of the package."""
        return self._modules.get((address, name))

    def module_id(self, module: str, path: Argument | None) -> tuple[bytes, str]:
        """Address and name of the module that a path in `module` means; None is `module`."""
        return self._parsed(module if path is None else self._resolved(module, "".join(path)))

    def constant(self, module: str, path: Argument) -> ConstantName:
        """The constant that a path in `module` means. Raises `ValidationError`."""
        if len(path) == 1:
            found = (module, path[0])
            if found not in self._constants and found in self._uses:
                owner, _, name = self._uses[found].rpartition("::")
                found = (self._resolved(module, owner), name)
        else:
            found = (self._resolved(module, "".join(path[:-2])), path[-1])
        known = {self._parsed(owner): owner for owner, _ in self._constants}
        owner = known.get(self._parsed(found[0]), found[0])
        if (owner, found[1]) not in self._constants:
            raise ValidationError(
                "constant_unknown",
                f"{module} expects {''.join(path)}, whose value is not in the package's sources",
                hint="name the number, with `location` for the module",
            )
        return owner, found[1]

    def value(self, constant: ConstantName) -> int | None:
        """The number that a constant is; None if it is something else."""
        return _number(self._constants[constant])

    def number(self, module: str, path: Argument) -> int:
        """A number, or the constant that is one. Raises `ValidationError`."""
        literal = _number(path)
        found = literal if literal is not None else self.value(self.constant(module, path))
        if found is None:
            raise ValidationError("constant_unknown", f"{module}: {''.join(path)} is no number")
        return found

    def constants_of(self, module: str, code: int) -> list[str]:
        """The names of a module's constants with this value, errors first."""
        names = [
            name
            for (owner, name), value in self._constants.items()
            if owner == module and _number(value) == code
        ]
        return sorted(names, key=lambda name: (not re.match(r"E[A-Z]", name), name))

    def lines_of(self, module: str) -> list[int]:
        """Where the functions of a module begin."""
        return [line for (owner, _), line in self.functions.items() if owner == module]

    def address(self, text: str) -> bytes:
        """An address literal or a named address, with or without `@`. Raises `ValidationError`."""
        text = text.removeprefix("@")
        if text in self._addresses:
            return self._addresses[text]
        try:
            return (int(text, 16 if text.startswith("0x") else 10)).to_bytes(32, "big")
        except ValueError:
            raise ValidationError("address_unknown", f"no address is named {text}") from None

    def _resolved(self, module: str, path: str) -> str:
        """The whole path of a module that `module` names."""
        if path == "Self":
            return module
        path = path.removeprefix("::")
        if "::" not in path:
            return self._uses.get((module, path), _ALWAYS_USED.get(path, path))
        return path

    def _parsed(self, path: str) -> tuple[bytes, str]:
        address, separator, name = path.rpartition("::")
        if not separator:
            raise ValidationError("module_unknown", f"there is no module {path}")
        return self.address(address), name


def _addresses(manifest: str) -> Iterator[tuple[str, bytes]]:
    """The named addresses; that of the package itself is 0x0."""
    parsed = tomllib.loads(manifest)
    names = {parsed.get("package", {}).get("name", ""): "0x0"}
    names |= {**parsed.get("addresses", {}), **parsed.get("dev-addresses", {})}
    for name, value in (names | _FRAMEWORK).items():
        # `_` leaves an address to whoever depends on the package.
        if value != "_":
            yield name, int(value, 16).to_bytes(32, "big")


def _number(tokens: Argument) -> int | None:
    match = _NUMBER.fullmatch("".join(tokens).replace("_", ""))
    return int(match[1], 0) if match else None


_ERROR = re.compile(rb"E[A-Z]\w*")


@lru_cache(maxsize=4)
def framework_constants(release: Release) -> MoveTestSource:
    """A source with the constants; those with messages are named in the bytecode."""
    constants: dict[tuple[str, str], Argument] = {}
    for address, package in FRAMEWORK_NAMES.items():
        for data in release.packages[address].modules:
            module = deserialize(data)
            path = f"{package}::{module.name}"
            # No number: their codes name them, see `clever_error`.
            constants |= {(path, name): () for name in _named_errors(module)}
    for path, errors in FRAMEWORK_ERRORS.items():
        constants |= {(path, name): (str(code),) for name, code in errors.items()}
    return MoveTestSource("", constants=constants)


def _named_errors(module: CompiledModule) -> set[str]:
    found = set()
    for constant in module.constants:
        if constant.type != VectorToken("u8"):
            continue
        try:
            text = byte_vector.decode(constant.data)
        except BcsError:
            continue
        if _ERROR.fullmatch(text):
            found.add(text.decode())
    return found
