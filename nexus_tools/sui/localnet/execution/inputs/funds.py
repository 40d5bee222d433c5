"""The use of address balances by a transaction, for its commands and for its gas.

A transaction without gas coins pays its gas from the payer's address balance. In this case, only
the transaction digest prevents a second execution. So the transaction must be valid for at most two
epochs, or use an owned object. Source: `TransactionData` in `sui-types/src/transaction.rs` and
`accumulators/funds_read.rs` of `sui-core`.
"""

from collections import defaultdict
from collections.abc import Iterator

from nexus_tools.sui.localnet.execution.environment import ObjectStore
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import (
    FundsWithdrawal,
    accumulator_id,
    address_balance,
    is_coin_reservation,
    reserved_amount,
)
from nexus_tools.sui.types.expiration import Expiration, ValidDuring, Validity
from nexus_tools.sui.types.object import AddressOwner, Object, ObjectReference
from nexus_tools.sui.types.transaction import (
    GasCoin,
    OwnedObject,
    ProgrammableTransaction,
    TransactionData,
    arguments_of,
)
from nexus_tools.sui.types.type_tag import SUI, TypeTag, balance_tag, short_name

MAX_WITHDRAWALS = 10
"""The maximum number of withdrawals in one transaction, including gas."""

_SENDER = 0

_Limits = defaultdict[tuple[Address, TypeTag], int]


def balance_of(store: ObjectStore, owner: Address, coin_type: TypeTag) -> int:
    """Return an owner's current address balance, in the coin's smallest unit."""
    stored = store.get(accumulator_id(owner, balance_tag(coin_type)))
    balance = address_balance(stored) if stored is not None else None
    return balance.amount if balance is not None else 0


def withdrawals(data: TransactionData) -> Iterator[FundsWithdrawal]:
    """Return the inputs of a transaction that are withdrawals."""
    kind = data.kind
    assert isinstance(kind, ProgrammableTransaction)
    return (value for value in kind.inputs if isinstance(value, FundsWithdrawal))


def uses_gas_coin(data: TransactionData) -> bool:
    """Return whether a command has the gas coin as an argument."""
    assert isinstance(data.kind, ProgrammableTransaction)
    gas = GasCoin()
    return any(gas in arguments_of(command) for command in data.kind.commands)


def available_for_gas(data: TransactionData, store: ObjectStore) -> int:
    """Return the payer's address balance in MIST minus the amounts that commands may withdraw."""
    withdrawable = _withdrawal_limits(data).get((data.gas.owner, SUI), 0)
    return max(balance_of(store, data.gas.owner, SUI) - withdrawable, 0)


def can_pay_from_balance(data: TransactionData, store: ObjectStore) -> bool:
    """Return whether a transaction can pay its gas from the payer's address balance.

    If this is impossible, a simulation uses a mock coin.
    """
    return (
        not uses_gas_coin(data)
        and _is_replay_protected(data, store)
        and available_for_gas(data, store) >= data.gas.budget
    )


def check_withdrawals(data: TransactionData, *, gas_from_balance: bool) -> None:
    """Refuse withdrawals that are invalid for any balance."""
    reservations = _reservations(data)
    count = int(gas_from_balance) + len(reservations)
    if not all(map(reserved_amount, reservations)):
        raise _nothing_reserved()
    for withdrawal in withdrawals(data):
        count += 1
        if withdrawal.source != _SENDER:
            raise _invalid_reservation("Explicit sponsor withdrawals are not yet supported")
        if withdrawal.amount == 0:
            raise _nothing_reserved()
    if count > MAX_WITHDRAWALS:
        raise _invalid_reservation(
            f"Maximum number of balance withdraw reservations is {MAX_WITHDRAWALS}"
        )
    if gas_from_balance and uses_gas_coin(data):
        raise TransactionRefused(
            "unsupported",
            "Feature is not supported: the gas coin as an argument when the gas is paid from an"
            " address balance",
        )


def check_funds(data: TransactionData, store: ObjectStore, *, gas_from_balance: bool) -> None:
    """Refuse a transaction whose withdrawal limits exceed an address balance.

    The check uses the limits of withdrawals and not the amounts that commands really withdraw,
    because balances change only when the checkpoint is settled, after its transactions.

    For example, two withdrawals with a limit of 60 each from a balance of 100 are refused, even if
    no command redeems them.
    """
    limits = _withdrawal_limits(data)
    if gas_from_balance:
        limits[data.gas.owner, SUI] += data.gas.budget
    for (owner, coin_type), amount in limits.items():
        available = balance_of(store, owner, coin_type)
        if available < amount:
            raise _invalid_reservation(
                f"Insufficient address balance of coin type {short_name(coin_type)} for address"
                f" {owner}: the transaction requires {amount} but only {available} is available."
                " Note that the address balance does not include funds held in Coin objects owned"
                " by the address; to spend those funds, use the Coin objects directly as"
                " transaction inputs."
            )


def check_replay_protection(data: TransactionData, store: ObjectStore) -> None:
    """Refuse a transaction that could be executed again after nodes have pruned its digest."""
    if not _is_replay_protected(data, store):
        raise TransactionRefused(
            "invalid_expiration",
            "Invalid transaction expiration: Transactions must either have address-owned inputs,"
            " or a ValidDuring expiration with at most two epochs of validity",
        )


def _is_replay_protected(data: TransactionData, store: ObjectStore) -> bool:
    # A gas coin gets a new version, so a second execution would refer to an old version. A
    # reservation of funds is valid for only two epochs.
    if data.gas.payment or _is_brief(data.expiration):
        return True
    assert isinstance(data.kind, ProgrammableTransaction)
    owned = (value for value in data.kind.inputs if isinstance(value, OwnedObject))
    return any(_is_owned(store.get(value.reference.object_id)) for value in owned)


def _is_owned(value: Object | None) -> bool:
    return value is not None and isinstance(value.owner, AddressOwner)


def _is_brief(expiration: Expiration) -> bool:
    """Return whether an expiration allows at most two consecutive epochs.

    For example, an expiration that allows the epochs 4 to 5 is brief, and an expiration that allows
    the epochs 4 to 6 is not brief. An expiration without a first or a last epoch is not brief.
    """
    if not isinstance(expiration, ValidDuring | Validity):
        return False
    first, last = expiration.min_epoch, expiration.max_epoch
    return first is not None and last is not None and first <= last <= first + 1


def _withdrawal_limits(data: TransactionData) -> _Limits:
    """Return the maximum withdrawals for commands and the gas coin, by owner and coin type."""
    limits: _Limits = defaultdict(int)
    for withdrawal in withdrawals(data):
        limits[data.sender, withdrawal.type] += withdrawal.amount
    for reference in _reservations(data):
        limits[data.gas.owner, SUI] += reserved_amount(reference)
    return limits


def _reservations(data: TransactionData) -> list[ObjectReference]:
    return [reference for reference in data.gas.payment if is_coin_reservation(reference)]


def _nothing_reserved() -> TransactionRefused:
    return _invalid_reservation("Balance withdraw reservation amount must be non-zero")


def _invalid_reservation(reason: str) -> TransactionRefused:
    return TransactionRefused(
        "invalid_withdraw_reservation", f"Invalid withdraw reservation: {reason}"
    )
