"""The rendering of transactions (`sui.rpc.v2.{Transaction,Input,Command}`)."""

from collections.abc import Callable
from typing import Any

from nexus_tools.sui.localnet.rpc.interface import (
    ArgumentKind,
    ExpirationKind,
    InputKind,
    Mask,
    Mutability,
)
from nexus_tools.sui.localnet.rpc.rendering.common_messages import (
    render_bcs,
    render_reference,
    render_time,
)
from nexus_tools.sui.localnet.rpc.rendering.system_transaction import render_system_kind
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import EpochExpiration, Expiration, NoExpiration, Validity
from nexus_tools.sui.types.transaction import (
    Argument,
    Command,
    GasCoin,
    GasData,
    Input,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    OwnedObject,
    ProgrammableSystemTransaction,
    ProgrammableTransaction,
    Publish,
    Pure,
    ReceivingObject,
    SharedObject,
    SplitCoins,
    TransactionData,
    TransactionKind,
    TransferObjects,
    Upgrade,
)

PROGRAMMABLE_TRANSACTION, PROGRAMMABLE_SYSTEM_TRANSACTION = 1, 11
_VERSION = 1


def render_transaction(
    message: Message, data: TransactionData, encoded: bytes, digest: Digest, mask: Mask
) -> None:
    """Fill the requested fields of a transaction. `encoded` are the BCS bytes of `data`."""
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
        is_system = isinstance(kind, ProgrammableSystemTransaction)
        message.kind = PROGRAMMABLE_SYSTEM_TRANSACTION if is_system else PROGRAMMABLE_TRANSACTION
        message.programmable_transaction.SetInParent()
        for value in kind.inputs:
            _render_input(message.programmable_transaction.inputs.add(), value)
        for command in kind.commands:
            _render_command(message.programmable_transaction.commands.add(), command)
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
        message.kind = ExpirationKind.NONE
        return
    if isinstance(expiration, EpochExpiration):
        message.kind = ExpirationKind.EPOCH
        message.epoch = expiration.epoch
        return
    message.kind = (
        ExpirationKind.VALIDITY if isinstance(expiration, Validity) else ExpirationKind.VALID_DURING
    )
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


# --- Inputs


def _render_input(message: Message, value: Input) -> None:
    """Fill a `sui.rpc.v2.Input`."""
    _INPUTS[type(value)](message, value)


def _render_pure(message: Message, value: Pure) -> None:
    message.kind = InputKind.PURE
    message.pure = value.value


def _render_owned(message: Message, value: OwnedObject) -> None:
    message.kind = InputKind.IMMUTABLE_OR_OWNED
    render_reference(message, value.reference)


def _render_shared(message: Message, value: SharedObject) -> None:
    message.kind = InputKind.SHARED
    message.object_id = str(value.object_id)
    message.version = value.initial_version
    message.mutable = value.mutable and value.exclusive
    if value.mutable:
        message.mutability = (
            Mutability.MUTABLE if value.exclusive else Mutability.NON_EXCLUSIVE_WRITE
        )
    else:
        message.mutability = Mutability.IMMUTABLE


def _render_receiving(message: Message, value: ReceivingObject) -> None:
    message.kind = InputKind.RECEIVING
    render_reference(message, value.reference)


def _render_withdrawal(message: Message, value: FundsWithdrawal) -> None:
    message.kind = InputKind.FUNDS_WITHDRAWAL
    message.funds_withdrawal.amount = value.amount
    message.funds_withdrawal.coin_type = str(value.type)
    message.funds_withdrawal.source = value.source + 1


_INPUTS: dict[type[Input], Callable[[Message, Any], None]] = {
    Pure: _render_pure,
    OwnedObject: _render_owned,
    SharedObject: _render_shared,
    ReceivingObject: _render_receiving,
    FundsWithdrawal: _render_withdrawal,
}


# --- Commands


def render_argument(message: Message, argument: Argument) -> None:
    """Fill a `sui.rpc.v2.Argument`."""
    if isinstance(argument, GasCoin):
        message.kind = ArgumentKind.GAS
    elif isinstance(argument, InputArgument):
        message.kind = ArgumentKind.INPUT
        message.input = argument.index
    else:
        message.kind = ArgumentKind.RESULT
        message.result = argument.command
        if isinstance(argument, NestedResult):
            message.subresult = argument.index


def _render_command(message: Message, command: Command) -> None:
    """Fill a `sui.rpc.v2.Command`."""
    _COMMANDS[type(command)](message, command)


def _render_arguments(messages: Message, arguments: tuple[Argument, ...]) -> None:
    for argument in arguments:
        render_argument(messages.add(), argument)


def _render_move_call(message: Message, command: MoveCall) -> None:
    call = message.move_call
    call.package = str(command.package)
    call.module = command.module
    call.function = command.function
    call.type_arguments.extend(map(str, command.type_arguments))
    _render_arguments(call.arguments, command.arguments)


def _render_transfer(message: Message, command: TransferObjects) -> None:
    _render_arguments(message.transfer_objects.objects, command.objects)
    render_argument(message.transfer_objects.address, command.address)


def _render_split(message: Message, command: SplitCoins) -> None:
    render_argument(message.split_coins.coin, command.coin)
    _render_arguments(message.split_coins.amounts, command.amounts)


def _render_merge(message: Message, command: MergeCoins) -> None:
    render_argument(message.merge_coins.coin, command.destination)
    _render_arguments(message.merge_coins.coins_to_merge, command.sources)


def _render_publish(message: Message, command: Publish) -> None:
    message.publish.modules.extend(command.modules)
    message.publish.dependencies.extend(map(str, command.dependencies))


def _render_make_vector(message: Message, command: MakeMoveVec) -> None:
    message.make_move_vector.SetInParent()  # set the message even if it has no fields
    if command.element_type is not None:
        message.make_move_vector.element_type = str(command.element_type)
    _render_arguments(message.make_move_vector.elements, command.elements)


def _render_upgrade(message: Message, command: Upgrade) -> None:
    message.upgrade.modules.extend(command.modules)
    message.upgrade.dependencies.extend(map(str, command.dependencies))
    message.upgrade.package = str(command.package)
    render_argument(message.upgrade.ticket, command.ticket)


_COMMANDS: dict[type[Command], Callable[[Message, Any], None]] = {
    MoveCall: _render_move_call,
    TransferObjects: _render_transfer,
    SplitCoins: _render_split,
    MergeCoins: _render_merge,
    Publish: _render_publish,
    MakeMoveVec: _render_make_vector,
    Upgrade: _render_upgrade,
}
