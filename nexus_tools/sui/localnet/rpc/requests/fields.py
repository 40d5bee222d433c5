"""Parsers for request fields. An error names the missing or invalid field.

All functions raise `RpcError` with the code INVALID_ARGUMENT.
"""

from collections.abc import Callable
from typing import TypeVar

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.rpc.interface import invalid, missing
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import StructTag, parse_struct_tag

T = TypeVar("T")


def parsed(name: str, text: str, parse: Callable[[str], T]) -> T:
    """Parse a string field.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    try:
        return parse(text)
    except ValidationError as error:
        raise invalid(f"invalid {name}: {error.message}", name) from None


def required(request: Message, name: str) -> str:
    """Return a required string field.

    Raises:
        RpcError: The field is missing.
    """
    if not request.HasField(name):
        raise missing(name)
    return str(getattr(request, name))


def address(request: Message, name: str) -> Address:
    """Return a required address, which may omit leading zeros.

    Raises:
        RpcError: The field is missing or invalid.
    """
    return parsed(name, required(request, name), Address.parse)


def digest(request: Message, name: str) -> Digest:
    """Return a required digest.

    Raises:
        RpcError: The field is missing or invalid.
    """
    return parsed(name, required(request, name), Digest.parse)


def struct_tag_field(request: Message, name: str) -> StructTag | None:
    """Return a struct type, or None if the field is not set.

    Raises:
        RpcError: The field is invalid.
    """
    return (
        parsed(name, getattr(request, name), parse_struct_tag) if request.HasField(name) else None
    )
