"""The gas payment of a transaction: coins and fund reservations that are *smashed* (merged)."""

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.localnet.execution.environment import Environment, Mode, ObjectStore
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.inputs import can_pay_from_balance
from nexus_tools.sui.localnet.execution.limits import MAX_TX_GAS
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import is_coin_reservation, reserved_amount
from nexus_tools.sui.types.coin import coin_balance, gas_coin, is_gas_coin
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, Object
from nexus_tools.sui.types.transaction import GasData, TransactionData

MOCK_COIN_ID = Address(b"\xff" * 32)
MOCK_COIN_BALANCE = 1_000_000_000_000_000_000
"""The balance of the mock coin in MIST (`SIMULATION_GAS_COIN_VALUE` in Sui)."""

_NO_TRANSACTION = Digest(bytes(32))


class GasPayment(Struct, frozen=True):
    """A smashed payment.

    `balance` is the total in MIST. `smashed` are the coins merged into `coin`.

    `reserved` is the part in MIST from the payer's address balance. The unspent remainder stays in
    `coin`. If `coin` is None, the remainder returns to the address balance, and commands see a
    temporary gas coin.
    """

    payer: Address
    coin: Object | None
    balance: int
    smashed: tuple[Object, ...]
    reserved: int = 0


def smash(gas: GasData, coins: tuple[Object, ...]) -> GasPayment | None:
    """Merge the whole payment into its first part. Return None for an empty payment.

    For example, coins with 3, 4 and 5 MIST become one coin with 12 MIST and the ID of the first
    coin. Smashed coins other than the first are deleted even if the transaction fails. A
    reservation counts as a coin. If the first part is a reservation, the funds stay in the address
    balance.

    Raises:
        TransactionRefused: an object is not a coin of SUI, or an address does not own it.
    """
    reservations = [reference for reference in gas.payment if is_coin_reservation(reference)]
    if not coins and not reservations:
        return None
    balance = sum(map(_spendable, coins))
    reserved = sum(map(reserved_amount, reservations))
    total = balance + reserved
    if reservations and is_coin_reservation(gas.payment[0]):
        return GasPayment(gas.owner, None, total, coins, reserved)
    return GasPayment(gas.owner, coins[0], total, coins[1:], reserved)


def _spendable(coin: Object) -> int:
    """Return the balance of a coin, or refuse an object that cannot pay for gas."""
    if not isinstance(coin.owner, AddressOwner):
        raise TransactionRefused(
            "gas_object_not_owned_object",
            f"Gas object is not an owned object with owner: {coin.owner}",
        )
    if not is_gas_coin(coin):
        raise TransactionRefused("invalid_gas_object", f"Object {coin.id} is not a gas object")
    return coin_balance(coin)


def mock_payment(owner: Address) -> tuple[Object, ...]:
    """Return a payment with one coin that exists only in a simulation."""
    data = gas_coin(MOCK_COIN_ID, MOCK_COIN_BALANCE, version=1)
    return (Object(data, AddressOwner(owner), _NO_TRANSACTION, 0),)


def with_simulated_gas(data: TransactionData, environment: Environment) -> TransactionData:
    """Return a transaction with its missing gas price or budget filled in."""
    gas = data.gas
    return replace(
        data,
        gas=replace(
            gas,
            price=gas.price or environment.reference_gas_price,
            budget=gas.budget or MAX_TX_GAS,
        ),
    )


def needs_mock_payment(data: TransactionData, mode: Mode, store: ObjectStore) -> bool:
    """Return whether a transaction without a gas payment should use a mock coin.

    A committed transaction without coins pays from the payer's address balance. A simulation also
    pays from this balance if the balance is sufficient.
    """
    gas = data.gas
    if gas.payment or mode is Mode.COMMIT:
        return False
    incomplete = not gas.price or not gas.budget
    return mode is Mode.INSPECT or incomplete or not can_pay_from_balance(data, store)
