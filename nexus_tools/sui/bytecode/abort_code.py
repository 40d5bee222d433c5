"""Clever errors: Move abort codes that refer to a constant and a line of the source.

Source: `move-command-line-common/src/error_bitset.rs`. The highest bits of an abort code are the
version (4 bits), reserved bits (4), the code (8) and the line (16). The indices of the constant's
name (16 bits) and of the constant's value (16 bits) follow.
"""

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError, byte_vector, string
from nexus_tools.sui.bytecode.format.deserializer import deserialize
from nexus_tools.sui.bytecode.module import CompiledModule, Constant
from nexus_tools.sui.bytecode.token import ADDRESS, BOOL, INTEGER_BYTES

_VERSIONS = (0b1000, 0b1100)
_WITH_CODE = 0b1100
_NONE_8, _NONE_16 = 0xFF, 0xFFFF


class CleverError(Struct, frozen=True):
    """A parsed clever error.

    `rendered` is the constant's value as text. If the value has no text form, `raw` is its BCS
    bytes.
    """

    line_number: int
    code: int | None
    constant_name: str | None = None
    rendered: str | None = None
    raw: bytes | None = None


class CleverCode(Struct, frozen=True):
    """The fields of an abort code. `name` and `value` are indices of constants."""

    line_number: int
    code: int | None
    name: int | None
    value: int | None


def split_clever_code(abort_code: int) -> CleverCode | None:
    """Split an abort code into its fields, or return None if it is not a clever error.

    For example, 0x8000_002a_0003_0004 refers to the line 42 and the constants 3 and 4. The abort
    code 0xc007_002a_0003_0004 also contains the code 7.
    """
    version = abort_code >> 60
    if version not in _VERSIONS:
        return None
    code = abort_code >> 48 & _NONE_8
    name, value = abort_code >> 16 & _NONE_16, abort_code & _NONE_16
    return CleverCode(
        abort_code >> 32 & _NONE_16,
        None if version != _WITH_CODE or code == _NONE_8 else code,
        None if name == _NONE_16 else name,
        None if value == _NONE_16 else value,
    )


def clever_error(abort_code: int, module: bytes | None) -> CleverError | None:
    """Parse an abort code of the module in `module`. Return None if it is not a clever error."""
    if split_clever_code(abort_code) is None or module is None:
        return None
    return parse_clever_error_of_module(abort_code, deserialize(module))


def parse_clever_error_of_module(abort_code: int, module: CompiledModule) -> CleverError | None:
    """Parse an abort code of a deserialized module. Return None if it is not a clever error."""
    clever = split_clever_code(abort_code)
    if clever is None:
        return None
    error = CleverError(clever.line_number, clever.code)
    if clever.name is None or clever.value is None:
        return error
    return _with_constant(module, error, clever.name, clever.value)


def _with_constant(
    module: CompiledModule, error: CleverError, name: int, value: int
) -> CleverError | None:
    """Add a constant's name and value to an error.

    `name` is the index of the constant that contains the name as bytes.
    """
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
    if constant.type in INTEGER_BYTES:
        return str(int.from_bytes(constant.data, "little"))
    if constant.type == BOOL:
        return str(constant.data == b"\1").lower()
    if constant.type == ADDRESS:
        return f"0x{constant.data.hex()}"
    try:
        return byte_vector.decode(constant.data).decode()
    except (BcsError, UnicodeDecodeError):
        return None
