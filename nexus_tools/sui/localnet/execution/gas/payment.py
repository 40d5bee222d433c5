"""What pays for a transaction: coins and reserved money, checked and smashed into the first."""

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.localnet.execution.environment import Environment, Mode, ObjectStore
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.inputs import pays_from_balance
from nexus_tools.sui.localnet.execution.limits import MAX_TX_GAS
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import is_coin_reservation, reserved_amount
from nexus_tools.sui.types.coin import coin_balance, gas_coin, is_gas_coin
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, Object
from nexus_tools.sui.types.transaction import GasData, TransactionData

MOCK_COIN_ID = Address(b"\xff" * 32)
MOCK_COIN_BALANCE = 1_000_000_000_000_000_000
"""MIST; as `SIMULATION_GAS_COIN_VALUE` of real nodes."""

_NO_TRANSACTION = Digest(bytes(32))


class GasPayment(Struct, frozen=True):
    """What pays, smashed into one: `balance` is all of it (MIST), `smashed` the coins that went in.

    `reserved` is the part that comes from the payer's address balance. What is left is in `coin`;
    without one it goes back into the address balance, and a coin is made for the commands alone.
    """

    payer: Address
    coin: Object | None
    balance: int
    smashed: tuple[Object, ...]
    reserved: int = 0


def smash(gas: GasData, coins: tuple[Object, ...]) -> GasPayment | None:
    """All that pays in the first of it; None if nothing is named that does.

    Coins of 3, 4 and 5 become one of 12 in the place of the first, and the others are gone,
    whatever becomes of the transaction. A reservation counts as a coin; where it is the first, the
    money stays in the address balance. Refuses what is no coin of SUI, or not an address's own.
    """
    reservations = [each for each in gas.payment if is_coin_reservation(each)]
    if not coins and not reservations:
        return None
    balance = sum(map(_spendable, coins))
    reserved = sum(map(reserved_amount, reservations))
    total = balance + reserved
    if reservations and is_coin_reservation(gas.payment[0]):
        return GasPayment(gas.owner, None, total, coins, reserved)
    return GasPayment(gas.owner, coins[0], total, coins[1:], reserved)


def _spendable(coin: Object) -> int:
    """What is in a coin that may pay."""
    if not isinstance(coin.owner, AddressOwner):
        raise TransactionRefused(
            "gas_object_not_owned_object",
            f"Gas object is not an owned object with owner: {coin.owner}",
        )
    if not is_gas_coin(coin):
        raise TransactionRefused("invalid_gas_object", f"Object {coin.id} is not a gas object")
    return coin_balance(coin)


def mock_payment(owner: Address) -> tuple[Object, ...]:
    """A coin that exists for a simulation alone."""
    data = gas_coin(MOCK_COIN_ID, MOCK_COIN_BALANCE, version=1)
    return (Object(data, AddressOwner(owner), _NO_TRANSACTION, 0),)


def with_simulated_gas(data: TransactionData, environment: Environment) -> TransactionData:
    """A transaction without payment, with price and budget where they are missing."""
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
    """Whether a coin is made up for a transaction without coins.

    Where it counts the payer's address balance pays; in a simulation too, if it can.
    """
    gas = data.gas
    if gas.payment or mode is Mode.COMMIT:
        return False
    incomplete = not gas.price or not gas.budget
    return mode is Mode.INSPECT or incomplete or not pays_from_balance(data, store)
