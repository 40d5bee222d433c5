"""Genuine inputs: Sui's framework, our packages, modules that use all of Move, and real values."""

import base64
import json
from functools import cache
from pathlib import Path

from nexus_tools.contracts import load_package
from nexus_tools.sui.bytecode import deserialize, relocate
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import Address

PACKAGE = Address.of(0xC0DE)
"""The address of published modules outside the framework."""

_TESTS = Path(__file__).parents[2] / "tests"
LANGUAGE = _TESTS / "conformance" / "vm" / "language" / "bytecode"
PROBE = _TESTS / "sui" / "localnet" / "execution" / "probe" / "bytecode"


def vectors(kind: str, field: str = "bcs") -> list[bytes]:
    """Return values of real networks: the files of `tests/vectors`."""
    found = json.loads((_TESTS / "vectors" / f"{kind}.json").read_text())
    return [base64.b64decode(vector[field]) for vector in found]


@cache
def framework_files() -> tuple[bytes, ...]:
    """Return the modules of 0x1, 0x2 and 0x3."""
    return tuple(file for package in load_framework().values() for file in package.modules)


@cache
def user_packages() -> tuple[dict[str, bytes], ...]:
    """Return user packages at the address `PACKAGE`. A package maps names to module files."""
    language = [path.read_bytes() for path in sorted(LANGUAGE.glob("*.mv"))]
    sets = [*([file] for file in language), [PROBE.joinpath("probe.mv").read_bytes()]]
    sets.append(list(load_package().modules))
    return tuple(_published(files) for files in sets)


def _published(files: list[bytes]) -> dict[str, bytes]:
    return {deserialize(file).name: relocate(file, PACKAGE) for file in files}
