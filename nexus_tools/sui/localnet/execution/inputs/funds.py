"""What a transaction may take from address balances: for its commands, and for its gas.

A transaction without gas coins is paid from the address balance of whoever pays. Nothing but its
digest then keeps it from being executed twice, so that it has to be valid for two epochs at most,
or to use an object that changes. Source: `TransactionData` in `sui-types/src/transaction.rs` and
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
"""Of one transaction, its gas included."""

_SENDER = 0

_Wanted = defaultdict[tuple[Address, TypeTag], int]


def balance_of(store: ObjectStore, owner: Address, coin_type: TypeTag) -> int:
    """What is in an address balance now, in the coin's smallest unit."""
    found = store.get(accumulator_id(owner, balance_tag(coin_type)))
    balance = address_balance(found) if found is not None else None
    return balance.amount if balance is not None else 0


def withdrawals(data: TransactionData) -> Iterator[FundsWithdrawal]:
    """The inputs of a transaction that are withdrawals."""
    kind = data.kind
    assert isinstance(kind, ProgrammableTransaction)
    return (value for value in kind.inputs if isinstance(value, FundsWithdrawal))


def uses_gas_coin(data: TransactionData) -> bool:
    """Whether a command names the coin that pays."""
    assert isinstance(data.kind, ProgrammableTransaction)
    gas = GasCoin()
    return any(gas in arguments_of(command) for command in data.kind.commands)


def available_for_gas(data: TransactionData, store: ObjectStore) -> int:
    """MIST that the payer's address balance has left for gas, besides what commands may take."""
    taken = _wanted(data).get((data.gas.owner, SUI), 0)
    return max(balance_of(store, data.gas.owner, SUI) - taken, 0)


def pays_from_balance(data: TransactionData, store: ObjectStore) -> bool:
    """Whether a transaction without gas coins could be executed as it is.

    If not, it is simulated with a coin that is made up for it.
    """
    return (
        not uses_gas_coin(data)
        and _is_replay_protected(data, store)
        and available_for_gas(data, store) >= data.gas.budget
    )


def check_withdrawals(data: TransactionData, *, gas_from_balance: bool) -> None:
    """Refuse withdrawals that no balance could make acceptable."""
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
    """Refuse a transaction that may take more than there is.

    What it may take at most counts, not what it will take: balances change only when a checkpoint
    is settled, behind its transactions.

    Two withdrawals of at most 60 from a balance of 100 are refused, even if no command redeems
    either.
    """
    wanted = _wanted(data)
    if gas_from_balance:
        wanted[data.gas.owner, SUI] += data.gas.budget
    for (owner, coin_type), amount in wanted.items():
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
    """Refuse a transaction that could be executed again when the network has forgotten it."""
    if not _is_replay_protected(data, store):
        raise TransactionRefused(
            "invalid_expiration",
            "Invalid transaction expiration: Transactions must either have address-owned inputs,"
            " or a ValidDuring expiration with at most two epochs of validity",
        )


def _is_replay_protected(data: TransactionData, store: ObjectStore) -> bool:
    # A coin that pays gets another version, so that the same transaction cannot name it again; a
    # reservation is good for two epochs by itself.
    if data.gas.payment or _is_brief(data.expiration):
        return True
    assert isinstance(data.kind, ProgrammableTransaction)
    owned = (value for value in data.kind.inputs if isinstance(value, OwnedObject))
    return any(_is_owned(store.get(value.reference.object_id)) for value in owned)


def _is_owned(value: Object | None) -> bool:
    return value is not None and isinstance(value.owner, AddressOwner)


def _is_brief(expiration: Expiration) -> bool:
    """Whether it ends at latest with the epoch after the one with which it begins.

    From 4 to 5 is brief, from 4 to 6 is not, and no end or no beginning is not either.
    """
    if not isinstance(expiration, ValidDuring | Validity):
        return False
    first, last = expiration.min_epoch, expiration.max_epoch
    return first is not None and last is not None and first <= last <= first + 1


def _wanted(data: TransactionData) -> _Wanted:
    """What commands and the gas coin may take at most, by owner and type of coin."""
    wanted: _Wanted = defaultdict(int)
    for withdrawal in withdrawals(data):
        wanted[data.sender, withdrawal.type] += withdrawal.amount
    for reference in _reservations(data):
        wanted[data.gas.owner, SUI] += reserved_amount(reference)
    return wanted


def _reservations(data: TransactionData) -> list[ObjectReference]:
    return [reference for reference in data.gas.payment if is_coin_reservation(reference)]


def _nothing_reserved() -> TransactionRefused:
    return _invalid_reservation("Balance withdraw reservation amount must be non-zero")


def _invalid_reservation(reason: str) -> TransactionRefused:
    return TransactionRefused(
        "invalid_withdraw_reservation", f"Invalid withdraw reservation: {reason}"
    )
