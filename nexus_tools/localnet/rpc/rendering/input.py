"""Inputs of programmable transactions (`sui.rpc.v2.Input`)."""

from collections.abc import Callable
from typing import Any

from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.rendering.object import render_reference
from nexus_tools.sui.funds_withdrawal import FundsWithdrawal
from nexus_tools.sui.transaction import (
    Input,
    OwnedObject,
    Pure,
    ReceivingObject,
    SharedObject,
)

PURE, IMMUTABLE_OR_OWNED, SHARED, RECEIVING, FUNDS_WITHDRAWAL = range(1, 6)
IMMUTABLE, MUTABLE, NON_EXCLUSIVE_WRITE = 1, 2, 3


def render_input(message: Message, value: Input) -> None:
    """All fields."""
    _RENDERERS[type(value)](message, value)


def _render_pure(message: Message, value: Pure) -> None:
    message.kind = PURE
    message.pure = value.value


def _render_owned(message: Message, value: OwnedObject) -> None:
    message.kind = IMMUTABLE_OR_OWNED
    render_reference(message, value.reference)


def _render_shared(message: Message, value: SharedObject) -> None:
    message.kind = SHARED
    message.object_id = str(value.object_id)
    message.version = value.initial_version
    message.mutable = value.mutable and value.exclusive
    if value.mutable:
        message.mutability = MUTABLE if value.exclusive else NON_EXCLUSIVE_WRITE
    else:
        message.mutability = IMMUTABLE


def _render_receiving(message: Message, value: ReceivingObject) -> None:
    message.kind = RECEIVING
    render_reference(message, value.reference)


def _render_withdrawal(message: Message, value: FundsWithdrawal) -> None:
    message.kind = FUNDS_WITHDRAWAL
    message.funds_withdrawal.amount = value.amount
    message.funds_withdrawal.coin_type = str(value.type)
    message.funds_withdrawal.source = value.source + 1


_RENDERERS: dict[type[Input], Callable[[Message, Any], None]] = {
    Pure: _render_pure,
    OwnedObject: _render_owned,
    SharedObject: _render_shared,
    ReceivingObject: _render_receiving,
    FundsWithdrawal: _render_withdrawal,
}
