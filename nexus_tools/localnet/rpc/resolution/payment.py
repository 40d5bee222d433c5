"""Payment as far as the client gave it: the rest is what the network's limits say."""

from nexus_tools.localnet.execution import MAX_TX_GAS
from nexus_tools.localnet.execution.limits import MAX_GAS_PAYMENT_OBJECTS
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.rendering.coin import coin_balance, is_gas_coin
from nexus_tools.localnet.rpc.request_fields import address, digest
from nexus_tools.localnet.rpc.resolution.objects import (
    find_object,
    resolve_reference,
    too_large,
)
from nexus_tools.localnet.rpc.status import invalid
from nexus_tools.sui.address import Address
from nexus_tools.sui.coin_reservation import is_coin_reservation, reserved_amount
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import GasData


def resolve_payment(node: Node, transaction: Message, sender: Address) -> GasData:
    """The sender's payment if there is none; the highest budget if none is given.

    With coins that is what is in them, at most. Raises `RpcError`: NOT_FOUND for a coin that does
    not exist, else INVALID_ARGUMENT.
    """
    reference_price = node.environment.reference_gas_price
    if not transaction.HasField("gas_payment"):
        return GasData((), sender, reference_price, MAX_TX_GAS)
    message = transaction.gas_payment
    if len(message.objects) > MAX_GAS_PAYMENT_OBJECTS:
        raise too_large("maximum number of gas payment objects", MAX_GAS_PAYMENT_OBJECTS)
    payment = [_payment(node, each) for each in message.objects]
    most = min(sum(amount for _, amount in payment), MAX_TX_GAS) if payment else MAX_TX_GAS
    return GasData(
        tuple(reference for reference, _ in payment),
        address(message, "owner"),
        message.price if message.HasField("price") else reference_price,
        message.budget if message.HasField("budget") else most,
    )


def _payment(node: Node, message: Message) -> tuple[ObjectReference, int]:
    """A coin, or a reservation of the payer's address balance, and what it is worth in MIST."""
    if message.HasField("digest"):
        given = ObjectReference(
            address(message, "object_id"), message.version, digest(message, "digest")
        )
        if is_coin_reservation(given):
            return given, reserved_amount(given)
    found = find_object(node, message)
    if not is_gas_coin(found):
        raise invalid(f"object {found.id} is not a valid gas coin")
    return resolve_reference(found, message), coin_balance(found)
