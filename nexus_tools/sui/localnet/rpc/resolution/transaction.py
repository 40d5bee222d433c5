"""A transaction message of which parts are missing, as the transaction that it means.

A complete transaction is taken as it is, with its object versions and mutabilities, even wrong
ones; of any other, all inputs are resolved. Source: `sui-rpc-api`, `simulate/{mod,resolve/mod}.rs`.
"""

from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import InputKind
from nexus_tools.sui.localnet.rpc.requests import (
    address,
    parse_commands,
    parse_expiration,
    programmable_message,
)
from nexus_tools.sui.localnet.rpc.resolution.inputs import InputResolver
from nexus_tools.sui.localnet.rpc.resolution.payment import resolve_payment
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.transaction import ProgrammableTransaction, TransactionData

_PAYMENT = ("owner", "price", "budget")
_REFERENCE = ("object_id", "version", "digest")
_INPUTS = {
    InputKind.PURE: ("pure",),
    InputKind.IMMUTABLE_OR_OWNED: _REFERENCE,
    InputKind.SHARED: ("object_id", "version"),
    InputKind.RECEIVING: _REFERENCE,
    InputKind.FUNDS_WITHDRAWAL: ("funds_withdrawal",),
}


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


# --- Completeness


def is_complete(transaction: Message) -> bool:
    """Whether the message is BCS, or has every field that BCS needs."""
    if transaction.HasField("bcs"):
        return True
    payment = transaction.gas_payment
    return (
        _has(payment, _PAYMENT)
        and transaction.HasField("expiration")
        and all(_has(each, _REFERENCE) for each in payment.objects)
        and all(map(_is_complete_input, transaction.kind.programmable_transaction.inputs))
    )


def _is_complete_input(message: Message) -> bool:
    wanted = _INPUTS.get(message.kind)
    if wanted is None or not _has(message, wanted):
        return False
    return message.kind != InputKind.SHARED or any(map(message.HasField, ("mutable", "mutability")))


def _has(message: Message, names: tuple[str, ...]) -> bool:
    return all(map(message.HasField, names))
