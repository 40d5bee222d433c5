"""The native functions of three modules for address balances and their settlement.

The modules are `sui::funds_accumulator`, `sui::accumulator` and `sui::accumulator_settlement`. The
functions deposit funds into address balances and withdraw funds from address balances. The funds
are a `sui::balance::Balance`, which is a struct with one `u64`.
"""

from nexus_tools.sui.localnet.natives.errors import MalformedArgument
from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import NativeTable, natives_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import coin_type_of
from nexus_tools.sui.types.effects import AccumulatorOperation
from nexus_tools.sui.types.type_tag import TypeTag

_COST = 52
_OVERFLOW = 0
_MAX_AMOUNT = 2**64 - 1

_Types = tuple[TypeTag, ...]


def add_to_accumulator_address(
    context: Context, types: _Types, accumulator: bytes, recipient: bytes, funds: Value
) -> None:
    """Deposit a `Balance<T>` to an address. Raises `MalformedArgument` for other types of funds."""
    _check_balance(types[0])
    emit_deposit_event(context, types, accumulator, recipient, funds[0])


def withdraw_from_accumulator_address(
    context: Context, types: _Types, accumulator: bytes, owner: bytes, amount: int
) -> Value:
    """Withdraw a `Balance<T>` from an address, up to the amount of a `Withdrawal`.

    Raises `MalformedArgument` for funds of another type.
    """
    _check_balance(types[0])
    if amount > _MAX_AMOUNT:
        charge(context, _COST)
        raise NativeAbort(_OVERFLOW)
    emit_withdraw_event(context, types, accumulator, owner, amount)
    return [amount]


def emit_deposit_event(
    context: Context, types: _Types, _accumulator: bytes, recipient: bytes, amount: int
) -> None:
    """Record a deposit of funds to an address. The type argument is the funds' type."""
    _record(context, AccumulatorOperation.MERGE, recipient, types[0], amount)


def emit_withdraw_event(
    context: Context, types: _Types, _accumulator: bytes, owner: bytes, amount: int
) -> None:
    """Record the withdrawal of an amount of funds from an address.

    The type argument is the funds' type.
    """
    _record(context, AccumulatorOperation.SPLIT, owner, types[0], amount)


def record_settlement_sui_conservation(
    _context: Context, _types: _Types, _input_sui: int, _output_sui: int
) -> None:
    """Do nothing. A real node uses these amounts to check that a settlement conserves SUI."""


def _check_balance(funds: TypeTag) -> None:
    # Sui's native function assumes that all funds are balances, because the framework passes
    # nothing else.
    if coin_type_of(funds) is None:
        raise MalformedArgument(f"{funds} is not a balance type")


def _record(
    context: Context, operation: AccumulatorOperation, owner: bytes, funds: TypeTag, amount: int
) -> None:
    charge(context, _COST)
    runtime_of(context).accumulators.add(operation, Address(owner), funds, amount)


NATIVES: NativeTable = {
    **natives_of(
        SUI_FRAMEWORK,
        "funds_accumulator",
        add_to_accumulator_address=add_to_accumulator_address,
        withdraw_from_accumulator_address=withdraw_from_accumulator_address,
    ),
    **natives_of(
        SUI_FRAMEWORK,
        "accumulator",
        emit_deposit_event=emit_deposit_event,
        emit_withdraw_event=emit_withdraw_event,
    ),
    **natives_of(
        SUI_FRAMEWORK,
        "accumulator_settlement",
        record_settlement_sui_conservation=record_settlement_sui_conservation,
    ),
}
