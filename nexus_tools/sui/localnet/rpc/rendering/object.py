"""The rendering of objects (`sui.rpc.v2.Object`)."""

from nexus_tools.sui.localnet.rpc.interface import Mask
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs, render_owner
from nexus_tools.sui.localnet.rpc.rendering.package import render_package
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.coin import coin_balance, is_coin
from nexus_tools.sui.types.digest import object_digest
from nexus_tools.sui.types.object import MoveObject, Object

PACKAGE_TYPE = "package"


def type_name(value: Object) -> str:
    """Return the name of an object's type. The type of a package is `package`."""
    return PACKAGE_TYPE if value.type is None else str(value.type)


def render_object(message: Message, value: Object, mask: Mask, json: JsonRenderer) -> None:
    """Fill the requested fields of an object."""
    if "object_id" in mask:
        message.object_id = str(value.id)
    if "version" in mask:
        message.version = value.version
    if "owner" in mask:
        render_owner(message.owner, value.owner)
    if "object_type" in mask:
        message.object_type = type_name(value)
    if "previous_transaction" in mask:
        message.previous_transaction = str(value.previous_transaction)
    if "storage_rebate" in mask:
        message.storage_rebate = value.storage_rebate
    if "digest" in mask or "bcs" in mask:
        _render_bytes(message, value, mask)
    if isinstance(value.data, MoveObject):
        _render_move_object(message, value, value.data, mask, json)
    elif (package_mask := mask.get("package")) is not None:
        render_package(message.package, value.data, package_mask)


def _render_bytes(message: Message, value: Object, mask: Mask) -> None:
    encoded = value.encode()
    if "digest" in mask:
        message.digest = str(object_digest(encoded))
    if "bcs" in mask:
        render_bcs(message.bcs, "Object", encoded)


def _render_move_object(
    message: Message, value: Object, data: MoveObject, mask: Mask, json: JsonRenderer
) -> None:
    if "has_public_transfer" in mask:
        message.has_public_transfer = data.has_public_transfer
    if "contents" in mask:
        render_bcs(message.contents, str(data.type), data.contents)
    if "balance" in mask and is_coin(data.type):
        message.balance = coin_balance(value)
    if "json" in mask:
        json.render(data.type, data.contents, lambda: message.json)
