"""Checks of a transaction without its objects: shape, sizes, gas price and expiration.

Source: `validity_check` in `sui-types/src/transaction.rs`.
"""

import re
from collections.abc import Callable
from typing import Any

from nexus_tools.sui.localnet.execution.environment import Environment
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.inputs.funds import check_withdrawals
from nexus_tools.sui.localnet.execution.limits import (
    MAX_ARGUMENTS,
    MAX_GAS_PAYMENT_OBJECTS,
    MAX_GAS_PRICE,
    MAX_INPUT_OBJECTS,
    MAX_MODULES_IN_PUBLISH,
    MAX_MOVE_IDENTIFIER_LENGTH,
    MAX_PACKAGE_DEPENDENCIES,
    MAX_PROGRAMMABLE_TX_COMMANDS,
    MAX_PUBLISH_OR_UPGRADE_PER_PTB,
    MAX_PURE_ARGUMENT_SIZE,
    MAX_TYPE_ARGUMENT_DEPTH,
    MAX_TYPE_ARGUMENTS,
)
from nexus_tools.sui.types.address import RANDOM
from nexus_tools.sui.types.address_balance import FundsWithdrawal, is_coin_reservation
from nexus_tools.sui.types.expiration import EpochExpiration, Expiration, NoExpiration, Validity
from nexus_tools.sui.types.transaction import (
    Command,
    Input,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    OwnedObject,
    ProgrammableTransaction,
    Publish,
    Pure,
    SharedObject,
    SplitCoins,
    TransactionData,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.types.type_tag import StructTag, TypeTag, VectorTag

_NO_OBJECTS = (Pure, FundsWithdrawal)
_PUBLISHING = (Publish, Upgrade)
# As in `is_valid` of `move-core-types/src/identifier.rs`, a single `_` is not a name.
_IDENTIFIER = re.compile(r"(?:[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+)\Z", re.ASCII)


def check_transaction(
    data: TransactionData, environment: Environment, *, gas_from_balance: bool = False
) -> None:
    """Refuse a transaction that is invalid in any state of the ledger."""
    assert isinstance(data.kind, ProgrammableTransaction)
    _check_expiration(data.expiration, environment)
    check_withdrawals(data, gas_from_balance=gas_from_balance)
    _check_gas(data, environment)
    check_programmable(data.kind)


def check_programmable(kind: ProgrammableTransaction) -> None:
    """Refuse inputs and commands that exceed a limit."""
    if len(kind.commands) >= MAX_PROGRAMMABLE_TX_COMMANDS:
        raise _too_large(
            "maximum commands in a programmable transaction", MAX_PROGRAMMABLE_TX_COMMANDS
        )
    objects = [value for value in kind.inputs if not isinstance(value, _NO_OBJECTS)]
    if len(objects) > MAX_INPUT_OBJECTS:
        raise _too_large("maximum input + receiving objects in a transaction", MAX_INPUT_OBJECTS)
    for value in kind.inputs:
        _check_input(value)
    for command in kind.commands:
        _CHECKS[type(command)](command)
    publishing = len([command for command in kind.commands if isinstance(command, _PUBLISHING)])
    if publishing > MAX_PUBLISH_OR_UPGRADE_PER_PTB:
        raise TransactionRefused(
            "max_publish_count_exceeded",
            f"{MAX_PUBLISH_OR_UPGRADE_PER_PTB} max publish/upgrade commands allowed, {publishing}"
            " provided",
        )
    _check_randomness(kind)


def _too_large(limit: str, value: int) -> TransactionRefused:
    return TransactionRefused("size_limit_exceeded", f"Size limit exceeded: {limit} is {value}")


def _check_expiration(expiration: Expiration, environment: Environment) -> None:
    if isinstance(expiration, NoExpiration):
        return
    if isinstance(expiration, EpochExpiration):
        _check_epochs(None, expiration.epoch, environment.epoch)
        return
    if isinstance(expiration, Validity):
        raise _unsupported("limiting the validators that may propose a transaction")
    if expiration.min_timestamp is not None or expiration.max_timestamp is not None:
        raise _unsupported("Timestamp-based transaction expiration is not yet supported")
    _check_epochs(expiration.min_epoch, expiration.max_epoch, environment.epoch)


def _check_epochs(first: int | None, last: int | None, epoch: int) -> None:
    if (last is not None and epoch > last) or (first is not None and epoch < first):
        raise TransactionRefused("transaction_expired", "Transaction Expired")


def _unsupported(feature: str) -> TransactionRefused:
    return TransactionRefused("unsupported", f"Feature is not supported: {feature}")


def _check_gas(data: TransactionData, environment: Environment) -> None:
    gas = data.gas
    if len(gas.payment) > MAX_GAS_PAYMENT_OBJECTS:
        raise _too_large("maximum number of gas payment objects", MAX_GAS_PAYMENT_OBJECTS)
    if gas.price < environment.reference_gas_price:
        raise TransactionRefused(
            "gas_price_under_rgp",
            f"Gas price {gas.price} under reference gas price (RGP)"
            f" {environment.reference_gas_price}",
        )
    if gas.price >= MAX_GAS_PRICE:
        raise TransactionRefused(
            "gas_price_too_high", f"Gas price cannot exceed {MAX_GAS_PRICE} mist"
        )


def _check_input(value: Input) -> None:
    if isinstance(value, Pure) and len(value.value) > MAX_PURE_ARGUMENT_SIZE:
        raise _too_large("maximum pure argument size", MAX_PURE_ARGUMENT_SIZE)
    if isinstance(value, OwnedObject) and is_coin_reservation(value.reference):
        raise _unsupported("coin reservation backward compatibility layer is not enabled")
    if isinstance(value, SharedObject) and not value.exclusive:
        raise _unsupported("User transactions cannot use SharedObjectMutability::NonExclusiveWrite")


def _check_move_call(command: MoveCall) -> None:
    if len(command.type_arguments) > MAX_TYPE_ARGUMENTS:
        raise _too_large("maximum type arguments in a call transaction", MAX_TYPE_ARGUMENTS)
    for tag in command.type_arguments:
        _check_type(tag)
    _check_count("maximum arguments in a move call", len(command.arguments))
    for name in (command.module, command.function):
        if len(name) > MAX_MOVE_IDENTIFIER_LENGTH or not _IDENTIFIER.match(name):
            raise TransactionRefused(
                "invalid_identifier", f"Invalid identifier found in the transaction: {name[:128]}"
            )


def _check_transfer_objects(command: TransferObjects) -> None:
    _check_not_empty(command.objects)
    _check_count("maximum arguments in a programmable transaction command", len(command.objects))


def _check_split_coins(command: SplitCoins) -> None:
    _check_not_empty(command.amounts)
    _check_count("maximum arguments in a programmable transaction command", len(command.amounts))


def _check_merge_coins(command: MergeCoins) -> None:
    _check_not_empty(command.sources)
    _check_count("maximum arguments in a programmable transaction command", len(command.sources))


def _check_make_move_vec(command: MakeMoveVec) -> None:
    if command.element_type is None:
        _check_not_empty(command.elements)
    else:
        _check_type(command.element_type)
    _check_count("maximum arguments in a programmable transaction command", len(command.elements))


def _check_publish(command: Publish | Upgrade) -> None:
    _check_not_empty(command.modules)
    if len(command.modules) > MAX_MODULES_IN_PUBLISH:
        raise _too_large(
            "maximum modules in a programmable transaction upgrade command", MAX_MODULES_IN_PUBLISH
        )
    if len(command.dependencies) > MAX_PACKAGE_DEPENDENCIES:
        raise _too_large("maximum package dependencies", MAX_PACKAGE_DEPENDENCIES)


def _check_not_empty(values: tuple[Any, ...]) -> None:
    if not values:
        raise TransactionRefused(
            "empty_command_input",
            "TransferObjects, MergeCoin, and Publish cannot have empty arguments."
            " If MakeMoveVec has empty arguments, it must have a type specified",
        )


def _check_count(limit: str, count: int) -> None:
    # As in `validity_check`, the limit itself is refused, so the maximum is 511 arguments.
    if count >= MAX_ARGUMENTS:
        raise _too_large(limit, MAX_ARGUMENTS)


def _check_type(tag: TypeTag, depth: int = 1) -> None:
    if depth > MAX_TYPE_ARGUMENT_DEPTH:
        raise _too_large("maximum type argument depth in a call transaction", depth - 1)
    if isinstance(tag, VectorTag):
        _check_type(tag.element, depth + 1)
    elif isinstance(tag, StructTag):
        for param in tag.type_params:
            _check_type(param, depth + 1)


_CHECKS: dict[type[Command], Callable[[Any], None]] = {
    MoveCall: _check_move_call,
    TransferObjects: _check_transfer_objects,
    SplitCoins: _check_split_coins,
    MergeCoins: _check_merge_coins,
    MakeMoveVec: _check_make_move_vec,
    Publish: _check_publish,
    Upgrade: _check_publish,
}


def _check_randomness(kind: ProgrammableTransaction) -> None:
    """Refuse commands after a call with `Random` that could revert an unwanted result.

    Otherwise, a later command could check the random result and abort the transaction, so that the
    sender could try again.
    """
    random = next(
        (
            InputArgument(index)
            for index, value in enumerate(kind.inputs)
            if isinstance(value, SharedObject) and value.object_id == RANDOM
        ),
        None,
    )
    is_random_used = False
    for command in kind.commands if random else ():
        if is_random_used and not isinstance(command, TransferObjects | MergeCoins):
            raise TransactionRefused(
                "post_random_command_restrictions",
                "Commands following a command with Random can only be TransferObjects or"
                " MergeCoins",
            )
        is_random_used = is_random_used or (
            isinstance(command, MoveCall) and random in command.arguments
        )
