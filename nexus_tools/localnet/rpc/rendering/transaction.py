"""Transactions (`sui.rpc.v2.Transaction`)."""

from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.read_mask import Mask
from nexus_tools.localnet.rpc.rendering.bcs import render_bcs, render_time
from nexus_tools.localnet.rpc.rendering.command import render_command
from nexus_tools.localnet.rpc.rendering.input import render_input
from nexus_tools.localnet.rpc.rendering.object import render_reference
from nexus_tools.localnet.rpc.rendering.system_transaction import render_system_kind
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.expiration import EpochExpiration, Expiration, NoExpiration, Validity
from nexus_tools.sui.transaction import (
    GasData,
    ProgrammableSystemTransaction,
    ProgrammableTransaction,
    TransactionData,
    TransactionKind,
)

PROGRAMMABLE_TRANSACTION, PROGRAMMABLE_SYSTEM_TRANSACTION = 1, 11
NONE, EPOCH, VALID_DURING, VALIDITY = range(1, 5)
_VERSION = 1


def render_transaction(
    message: Message, data: TransactionData, encoded: bytes, digest: Digest, mask: Mask
) -> None:
    """The wanted fields; `encoded` are the BCS bytes of `data`."""
    if "bcs" in mask:
        render_bcs(message.bcs, "TransactionData", encoded)
    message.digest = str(digest)
    message.version = _VERSION
    message.sender = str(data.sender)
    if "kind" in mask:
        _render_kind(message.kind, data.kind)
    if "gas_payment" in mask:
        _render_gas_payment(message.gas_payment, data.gas)
    if "expiration" in mask:
        _render_expiration(message.expiration, data.expiration)


def _render_kind(message: Message, kind: TransactionKind) -> None:
    if isinstance(kind, ProgrammableTransaction | ProgrammableSystemTransaction):
        of_the_system = isinstance(kind, ProgrammableSystemTransaction)
        message.kind = (
            PROGRAMMABLE_SYSTEM_TRANSACTION if of_the_system else PROGRAMMABLE_TRANSACTION
        )
        message.programmable_transaction.SetInParent()
        for value in kind.inputs:
            render_input(message.programmable_transaction.inputs.add(), value)
        for command in kind.commands:
            render_command(message.programmable_transaction.commands.add(), command)
    else:
        render_system_kind(message, kind)


def _render_gas_payment(message: Message, gas: GasData) -> None:
    for reference in gas.payment:
        render_reference(message.objects.add(), reference)
    message.owner = str(gas.owner)
    message.price = gas.price
    message.budget = gas.budget


def _render_expiration(message: Message, expiration: Expiration) -> None:
    if isinstance(expiration, NoExpiration):
        message.kind = NONE
        return
    if isinstance(expiration, EpochExpiration):
        message.kind = EPOCH
        message.epoch = expiration.epoch
        return
    message.kind = VALIDITY if isinstance(expiration, Validity) else VALID_DURING
    message.chain = str(expiration.chain)
    message.nonce = expiration.nonce
    if expiration.min_epoch is not None:
        message.min_epoch = expiration.min_epoch
    if expiration.max_epoch is not None:
        message.epoch = expiration.max_epoch
    if expiration.min_timestamp is not None:
        render_time(message.min_timestamp, expiration.min_timestamp)
    if expiration.max_timestamp is not None:
        render_time(message.max_timestamp, expiration.max_timestamp)
    if isinstance(expiration, Validity) and expiration.allowed_proposers is not None:
        message.allowed_proposers.epoch, proposers = expiration.allowed_proposers
        message.allowed_proposers.proposers.extend(proposers)
