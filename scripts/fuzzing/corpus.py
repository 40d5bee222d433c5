"""What is genuine: Sui's framework, our package, modules that use all of Move, real values."""

import base64
import json
from functools import cache
from pathlib import Path

from nexus_tools.localnet.bytecode import deserialize, relocate
from nexus_tools.localnet.bytecode.module import CompiledModule
from nexus_tools.localnet.framework import load_framework
from nexus_tools.registry import load_package
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Linkage, MovePackage, TypeOrigin

PACKAGE = Address.of(0xC0DE)
"""Where modules are published that are not of the framework."""

_TESTS = Path(__file__).parents[2] / "tests"
LANGUAGE = _TESTS / "conformance" / "vm" / "language" / "bytecode"
PROBE = _TESTS / "localnet" / "execution" / "probe" / "bytecode"


def vectors(kind: str, field: str = "bcs") -> list[bytes]:
    """Values of real networks: the files of `tests/vectors`."""
    found = json.loads((_TESTS / "vectors" / f"{kind}.json").read_text())
    return [base64.b64decode(vector[field]) for vector in found]


@cache
def framework_files() -> tuple[bytes, ...]:
    """The modules of 0x1, 0x2 and 0x3."""
    return tuple(file for package in load_framework().values() for file in package.modules)


@cache
def framework_modules() -> dict[tuple[bytes, str], CompiledModule]:
    """The modules of the framework by address and name."""
    modules = map(deserialize, framework_files())
    return {(module.address, module.name): module for module in modules}


@cache
def user_packages() -> tuple[dict[str, bytes], ...]:
    """Packages of users, published at `PACKAGE`: their files by the names of the modules."""
    language = [path.read_bytes() for path in sorted(LANGUAGE.glob("*.mv"))]
    sets = [*([file] for file in language), [PROBE.joinpath("probe.mv").read_bytes()]]
    sets.append(list(load_package().modules))
    return tuple(_published(files) for files in sets)


def _published(files: list[bytes]) -> dict[str, bytes]:
    return {deserialize(file).name: relocate(file, PACKAGE) for file in files}


@cache
def framework_packages() -> dict[Address, MovePackage]:
    """The framework as the machine takes it."""
    found = {}
    for address, package in load_framework().items():
        files = {deserialize(file).name: file for file in package.modules}
        found[Address(address)] = package_of(Address(address), files, package.dependencies)
    return found


def package_of(
    address: Address, files: dict[str, bytes], dependencies: tuple[bytes, ...]
) -> MovePackage:
    """A package in its first version."""
    origins = [
        TypeOrigin(name, module.datatype_id(handle)[2], address)
        for name, file in files.items()
        for module in (deserialize(file),)
        for handle in (
            *(each.handle for each in module.struct_definitions),
            *(each.handle for each in module.enum_definitions),
        )
    ]
    linkage = tuple(Linkage(Address(each), Address(each), 1) for each in dependencies)
    return MovePackage(address, 1, tuple(sorted(files.items())), tuple(origins), linkage)
