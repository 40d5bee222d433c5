"""Whether a transaction message says everything, so that nothing has to be resolved.

A complete transaction is taken as it is, with its object versions and mutabilities, even wrong
ones; of any other, all inputs are resolved. Source: `sui-rpc-api`, `simulate/mod.rs`.
"""

from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.rendering.input import (
    FUNDS_WITHDRAWAL,
    IMMUTABLE_OR_OWNED,
    PURE,
    RECEIVING,
    SHARED,
)

_PAYMENT = ("owner", "price", "budget")
_REFERENCE = ("object_id", "version", "digest")
_INPUTS = {
    PURE: ("pure",),
    IMMUTABLE_OR_OWNED: _REFERENCE,
    SHARED: ("object_id", "version"),
    RECEIVING: _REFERENCE,
    FUNDS_WITHDRAWAL: ("funds_withdrawal",),
}


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
    return message.kind != SHARED or any(map(message.HasField, ("mutable", "mutability")))


def _has(message: Message, names: tuple[str, ...]) -> bool:
    return all(map(message.HasField, names))
