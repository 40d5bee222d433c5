"""Abort codes that name a constant and a line of the source: Move's clever errors.

Source: `move-command-line-common/src/error_bitset.rs`. From the highest bit: version (4), reserved
(4), code (8), line (16), index of the constant's name (16), index of its value (16).
"""

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.deserializer import deserialize
from nexus_tools.localnet.bytecode.module import CompiledModule, Constant
from nexus_tools.sui.bcs import BcsError, byte_vector, string

_VERSIONS = (0b1000, 0b1100)
_WITH_CODE = 0b1100
_NONE_8, _NONE_16 = 0xFF, 0xFFFF
_NUMBERS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "u128": 16, "u256": 32}


@dataclass(frozen=True, slots=True)
class CleverError:
    """What an abort code tells; the constant's value is `rendered` as text, or `raw` as BCS."""

    line_number: int
    code: int | None
    constant_name: str | None = None
    rendered: str | None = None
    raw: bytes | None = None


def clever_error(abort_code: int, module: bytes | None) -> CleverError | None:
    """Read an abort code with the module that it comes from; None for a plain number."""
    version = abort_code >> 60
    if version not in _VERSIONS or module is None:
        return None
    code = abort_code >> 48 & _NONE_8
    line = abort_code >> 32 & _NONE_16
    name, value = abort_code >> 16 & _NONE_16, abort_code & _NONE_16
    found = None if version != _WITH_CODE or code == _NONE_8 else code
    if _NONE_16 in (name, value):
        return CleverError(line, found)
    return _with_constant(deserialize(module), CleverError(line, found), name, value)


def _with_constant(
    module: CompiledModule, error: CleverError, name: int, value: int
) -> CleverError | None:
    """The names of constants are constants themselves, of bytes."""
    if max(name, value) >= len(module.constants):
        return None
    constant = module.constants[value]
    try:
        constant_name = string.decode(module.constants[name].data)
    except BcsError:
        return None
    text = _text(constant)
    raw = constant.data if text is None else None
    return CleverError(error.line_number, error.code, constant_name, text, raw)


def _text(constant: Constant) -> str | None:
    if constant.type in _NUMBERS:
        return str(int.from_bytes(constant.data, "little"))
    if constant.type == "bool":
        return str(constant.data == b"\1").lower()
    if constant.type == "address":
        return f"0x{constant.data.hex()}"
    try:
        return byte_vector.decode(constant.data).decode()
    except (BcsError, UnicodeDecodeError):
        return None
