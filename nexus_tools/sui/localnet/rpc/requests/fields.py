"""Fields of requests as values: what is missing or malformed is refused with the field's name."""

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
    """A text as a value. Raises `RpcError` (INVALID_ARGUMENT)."""
    try:
        return parse(text)
    except ValidationError as error:
        raise invalid(f"invalid {name}: {error.message}", name) from None


def required(request: Message, name: str) -> str:
    """A text field that has to be there. Raises `RpcError`."""
    if not request.HasField(name):
        raise missing(name)
    return str(getattr(request, name))


def address(request: Message, name: str) -> Address:
    """An address that has to be there; it need not be padded. Raises `RpcError`."""
    return parsed(name, required(request, name), Address.parse)


def digest(request: Message, name: str) -> Digest:
    """A digest that has to be there. Raises `RpcError`."""
    return parsed(name, required(request, name), Digest.parse)


def struct_tag(request: Message, name: str) -> StructTag | None:
    """A type, if it is there. Raises `RpcError`."""
    return (
        parsed(name, getattr(request, name), parse_struct_tag) if request.HasField(name) else None
    )
