"""The service `sui.rpc.v2.StateService`: the current objects and balances of owners."""

from collections.abc import Callable, Sequence

from nexus_tools.sui.localnet.ledger import CoinBalance, listing_sort_key, type_sort_key
from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import (
    DYNAMIC_FIELD_FIELDS,
    OWNED_OBJECT_FIELDS,
    prune,
    requested_mask,
)
from nexus_tools.sui.localnet.rpc.rendering import render_dynamic_field, render_object
from nexus_tools.sui.localnet.rpc.requests import (
    address,
    page_size,
    parsed,
    place_of,
    required,
    struct_tag_field,
    token_for,
)
from nexus_tools.sui.localnet.rpc.services.coin_info import get_coin_info
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.type_tag import TypeTag, parse_struct_tag

_MAX_U64 = 2**64 - 1


def _list_owned_objects(backend: Backend, request: Message, response: Message) -> None:
    owner = address(request, "owner")
    object_type = struct_tag_field(request, "object_type")
    mask = requested_mask(request, backend.descriptor("Object"), OWNED_OBJECT_FIELDS)
    question = ("owned", str(owner), str(object_type))
    size = page_size(request)
    after = place_of(request, question) or b""
    objects = backend.node.ledger.owned_by(owner, object_type, after=after, limit=size + 1)

    def render(value: Object) -> Message:
        message = response.objects.add()
        render_object(message, value, mask, backend.json)
        prune(message, mask)
        return message

    last = _fill_page(objects, size, render, backend.limits.page_bytes)
    if last is not None:
        assert isinstance(last.data, MoveObject)
        response.next_page_token = token_for(listing_sort_key(last.data), question)


def _list_dynamic_fields(backend: Backend, request: Message, response: Message) -> None:
    parent = address(request, "parent")
    mask = requested_mask(request, backend.descriptor("DynamicField"), DYNAMIC_FIELD_FIELDS)
    question = ("dynamic fields", str(parent))
    size = page_size(request)
    ledger, machine = backend.node.ledger, backend.node.machine
    place = place_of(request, question)
    after = None if place is None else Address(place)
    fields = ledger.children_of(parent, after=after, limit=size + 1)

    def render(field: Object) -> Message:
        message = response.dynamic_fields.add()
        render_dynamic_field(
            message, parent, field, mask, ledger=ledger, machine=machine, json=backend.json
        )
        return message

    last = _fill_page(fields, size, render, backend.limits.page_bytes)
    if last is not None:
        response.next_page_token = token_for(last.id, question)


def _fill_page(
    objects: Sequence[Object], size: int, render: Callable[[Object], Message], limit: int
) -> Object | None:
    """Render a page, which ends after `size` objects or `limit` bytes.

    `objects` contains the objects of this page and, if a next page exists, the first object of the
    next page. Return the last object of this page if a next page exists, or None otherwise.
    """
    total = 0
    for count, value in enumerate(objects[:size], 1):
        # A page has at least one object, even if the object is large, so that clients always make
        # progress.
        total += render(value).ByteSize()
        if (count == size or total >= limit) and count < len(objects):
            return value
    return None


# --- Balances


def _get_balance(backend: Backend, request: Message, response: Message) -> None:
    owner = address(request, "owner")
    coin_type = parsed("coin_type", required(request, "coin_type"), parse_struct_tag)
    balance = backend.node.ledger.balance(owner, coin_type)
    _render_balance(response.balance, coin_type, balance)


def _list_balances(backend: Backend, request: Message, response: Message) -> None:
    owner = address(request, "owner")
    question = ("balances", str(owner))
    size = page_size(request)
    after = place_of(request, question) or b""
    balances = backend.node.ledger.balances(owner)
    coin_types = sorted((tag for tag in balances if type_sort_key(tag) > after), key=type_sort_key)
    for coin_type in coin_types[:size]:
        _render_balance(response.balances.add(), coin_type, balances[coin_type])
    if len(coin_types) > size:
        response.next_page_token = token_for(type_sort_key(coin_types[size - 1]), question)


def _render_balance(message: Message, coin_type: TypeTag, balance: CoinBalance) -> None:
    """Fill the total balance, and also the coin balance and the address balance if nonzero."""
    message.coin_type = str(coin_type)
    message.balance = min(balance.amount + balance.in_address, _MAX_U64)
    if balance.amount:
        message.coin_balance = balance.amount
    if balance.in_address:
        message.address_balance = min(balance.in_address, _MAX_U64)


UNARY: dict[str, UnaryHandler] = {
    "ListOwnedObjects": _list_owned_objects,
    "ListDynamicFields": _list_dynamic_fields,
    "GetBalance": _get_balance,
    "ListBalances": _list_balances,
    "GetCoinInfo": get_coin_info,
}
