"""A transaction message of which parts are missing, as the transaction that it means.

Source: `sui-rpc-api`, `simulate/resolve/mod.rs`.
"""

from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.request_fields import address
from nexus_tools.localnet.rpc.resolution.inputs import InputResolver
from nexus_tools.localnet.rpc.resolution.payment import resolve_payment
from nexus_tools.localnet.rpc.transaction_request import (
    parse_commands,
    parse_expiration,
    programmable_message,
)
from nexus_tools.sui.transaction import ProgrammableTransaction, TransactionData


def resolve_transaction(node: Node, message: Message) -> TransactionData:
    """The transaction with all its inputs, and with payment and price where they are known.

    Its budget may be only an upper bound, and coins may be missing: selecting gas is another step.
    Raises `RpcError`: NOT_FOUND for objects and packages that do not exist, else INVALID_ARGUMENT.
    """
    sender = address(message, "sender")
    programmable = programmable_message(message)
    commands = parse_commands(programmable)
    resolver = InputResolver(node, commands)
    gas = resolve_payment(node, message, sender)
    expiration = parse_expiration(message.expiration)
    inputs = resolver.resolve(programmable.inputs)
    return TransactionData(ProgrammableTransaction(inputs, commands), sender, gas, expiration)
