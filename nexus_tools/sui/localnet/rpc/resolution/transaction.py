"""The resolution of a transaction message that has missing parts.

A complete transaction is used unchanged, even if its object versions or mutabilities are wrong. In
an incomplete transaction, all inputs are resolved. Source: `sui-rpc-api`,
`simulate/{mod,resolve/mod}.rs`.
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
    """Return the transaction with all inputs resolved, and with its gas data if known.

    The budget may be only an upper bound, and coins may be missing, because gas selection is a
    later step.

    Raises:
        RpcError: NOT_FOUND if an object or a package does not exist, otherwise INVALID_ARGUMENT.
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
    """Return whether a transaction message contains BCS bytes, or all fields that BCS needs."""
    if transaction.HasField("bcs"):
        return True
    payment = transaction.gas_payment
    return (
        _has(payment, _PAYMENT)
        and transaction.HasField("expiration")
        and all(_has(reference, _REFERENCE) for reference in payment.objects)
        and all(map(_is_complete_input, transaction.kind.programmable_transaction.inputs))
    )


def _is_complete_input(message: Message) -> bool:
    names = _INPUTS.get(message.kind)
    if names is None or not _has(message, names):
        return False
    return message.kind != InputKind.SHARED or any(map(message.HasField, ("mutable", "mutability")))


def _has(message: Message, names: tuple[str, ...]) -> bool:
    return all(map(message.HasField, names))
