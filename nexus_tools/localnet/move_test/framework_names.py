"""The error constants of the framework, as if its sources were there."""

import re
from functools import cache

from nexus_tools.localnet.bytecode import CompiledModule, deserialize
from nexus_tools.localnet.bytecode.module import VectorToken
from nexus_tools.localnet.framework import (
    MOVE_STDLIB,
    SUI_FRAMEWORK,
    SUI_SYSTEM,
    load_framework,
)
from nexus_tools.localnet.move_test.attributes import Argument, MoveTestSource
from nexus_tools.localnet.move_test.framework_errors import FRAMEWORK_ERRORS
from nexus_tools.sui.bcs import BcsError, byte_vector

FRAMEWORK_ADDRESSES = {MOVE_STDLIB: "std", SUI_FRAMEWORK: "sui", SUI_SYSTEM: "sui_system"}

_ERROR = re.compile(rb"E[A-Z]\w*")


@cache
def framework_constants() -> MoveTestSource:
    """A source with the constants; those with messages are named in the bytecode."""
    constants: dict[tuple[str, str], Argument] = {}
    for address, package in FRAMEWORK_ADDRESSES.items():
        for data in load_framework()[address].modules:
            module = deserialize(data)
            path = f"{package}::{module.name}"
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
