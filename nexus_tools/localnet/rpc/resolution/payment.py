"""Payment as far as the client gave it: the rest is what the network's limits say."""

from nexus_tools.localnet.execution import MAX_TX_GAS
from nexus_tools.localnet.execution.limits import MAX_GAS_PAYMENT_OBJECTS
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.rendering.coin import coin_balance, is_gas_coin
from nexus_tools.localnet.rpc.request_fields import address
from nexus_tools.localnet.rpc.resolution.objects import (
    find_object,
    resolve_reference,
    too_large,
)
from nexus_tools.localnet.rpc.status import invalid
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object
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
    coins = [_coin(node, each) for each in message.objects]
    most = min(sum(map(coin_balance, coins)), MAX_TX_GAS) if coins else MAX_TX_GAS
    return GasData(
        tuple(map(resolve_reference, coins, message.objects)),
        address(message, "owner"),
        message.price if message.HasField("price") else reference_price,
        message.budget if message.HasField("budget") else most,
    )


def _coin(node: Node, message: Message) -> Object:
    found = find_object(node, message)
    if not is_gas_coin(found):
        raise invalid(f"object {found.id} is not a valid gas coin")
    return found
