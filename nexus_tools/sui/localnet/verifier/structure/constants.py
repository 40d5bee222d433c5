"""The check that a constant's type is allowed and its bytes are exactly one value of the type.

Source: `move-bytecode-verifier/src/constants.rs`, `SignatureToken::is_valid_for_constant`.
"""

from nexus_tools.sui.bytecode import (
    BOOL,
    CONSTANT_BYTES,
    CompiledModule,
    Constant,
    SignatureToken,
    VectorToken,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError

_ULEB_BYTES_MAX = 5
_LENGTH_MAX = 0x7FFF_FFFF


class _NoValueError(Exception):
    """An error for bytes that are not a value of the type."""


def verify_constants(module: CompiledModule) -> None:
    """Raise `VerificationError` for a constant with a forbidden type or invalid bytes."""
    for index, constant in enumerate(module.constants):
        if _innermost(constant.type) not in CONSTANT_BYTES:
            message = f"constant {index} has a type that is not allowed for constants"
            raise VerificationError("INVALID_CONSTANT_TYPE", message, module.name)
        try:
            end = _skip(constant.type, constant.data, 0)
        except _NoValueError:
            end = -1
        if end != len(constant.data):
            message = f"the bytes of constant {index} are not a value of its type"
            raise VerificationError("MALFORMED_CONSTANT_DATA", message, module.name)


def vector_length(constant: Constant) -> int | None:
    """Return the length of a constant vector, or None if its bytes are invalid."""
    if _innermost(constant.type) not in CONSTANT_BYTES:
        return None
    try:
        length, _ = _length(constant.data, 0)
        end = _skip(constant.type, constant.data, 0)
    except _NoValueError:
        return None
    return length if end == len(constant.data) else None


def _innermost(token: SignatureToken) -> SignatureToken:
    while isinstance(token, VectorToken):
        token = token.element
    return token


def _skip(token: SignatureToken, data: bytes, position: int) -> int:
    """Return the end position of the value of this type that starts at `position`."""
    if isinstance(token, VectorToken):
        return _skip_vector(token.element, data, position)
    assert isinstance(token, str)
    end = position + CONSTANT_BYTES[token]
    if end > len(data) or (token == BOOL and data[position] > 1):
        raise _NoValueError
    return end


def _skip_vector(element: SignatureToken, data: bytes, position: int) -> int:
    length, position = _length(data, position)
    if isinstance(element, str) and element != BOOL:
        end = position + length * CONSTANT_BYTES[element]
        if end > len(data):
            raise _NoValueError
        return end
    for _ in range(length):
        position = _skip(element, data, position)
    return position


def _length(data: bytes, position: int) -> tuple[int, int]:
    """Return a ULEB128 length and its end position. Only the shortest encoding is valid."""
    value = 0
    for count in range(_ULEB_BYTES_MAX):
        if position + count >= len(data):
            raise _NoValueError
        byte = data[position + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            if (byte == 0 and count) or value > _LENGTH_MAX:
                raise _NoValueError
            return value, position + count + 1
    raise _NoValueError
